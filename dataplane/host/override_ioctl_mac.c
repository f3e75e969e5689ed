/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net_tap sets the MAC address of a TAP also if the TAP has it already, because a cygnetd that takes over
 * opens the TAP of the one before. The kernel then removes all neighbours of the interface, permanent ones
 * included. This ioctl() leaves out a setting that changes nothing. */
#include <net/if.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAC_LEN 6

static int has_mac(int fd, const struct ifreq *wanted)
{
	struct ifreq is = {0};

	memcpy(is.ifr_name, wanted->ifr_name, IFNAMSIZ);
	return syscall(SYS_ioctl, fd, SIOCGIFHWADDR, &is) == 0 &&
	       memcmp(is.ifr_hwaddr.sa_data, wanted->ifr_hwaddr.sa_data, MAC_LEN) == 0;
}

/* Replaces the C library's function, also for shared libraries that this program loads. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == SIOCSIFHWADDR && has_mac(fd, arg))
		return 0;
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DPDK's net_af_packet has the kernel put IPv4's fragments together before it spreads frames over
 * its sockets, and then takes the first 2 KB of them: what is longer would be lost. None of its
 * arguments says otherwise, so what it asks of the kernel is changed on the way there. We put
 * together what has to be (reassemble.c), whichever worker has received the parts. */
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLAGS_SHIFT 16 /* packet(7) */

/* In place of the C library's, also for the libraries that this program loads. */
__attribute__((visibility("default")))
int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	unsigned int fanout;

	if (level == SOL_PACKET && name == PACKET_FANOUT && len == sizeof(fanout)) {
		memcpy(&fanout, value, sizeof(fanout));
		fanout &= ~((unsigned int)PACKET_FANOUT_FLAG_DEFRAG << FLAGS_SHIFT);
		return (int)syscall(SYS_setsockopt, fd, level, name, &fanout, len);
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, value, len);
}

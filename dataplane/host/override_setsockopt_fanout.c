/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DPDK's net_af_packet sets PACKET_FANOUT_FLAG_DEFRAG: the kernel reassembles IPv4 fragments before
 * it spreads packets over sockets. net_af_packet then truncates each reassembled packet to a frame
 * of 2 KB. No argument of the driver turns the flag off, so this setsockopt() clears it. Cygnet
 * reassembles fragments itself (reassemble.c), also if different workers received them. */
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLAGS_SHIFT 16 /* packet(7) */

/* Replaces the C library's function, also for shared libraries that this program loads. */
__attribute__((visibility("default"))) int setsockopt(int fd, int level, int name,
						      const void *value, socklen_t len)
{
	unsigned int fanout;

	if (level == SOL_PACKET && name == PACKET_FANOUT && len == sizeof(fanout)) {
		memcpy(&fanout, value, sizeof(fanout));
		fanout &= ~((unsigned int)PACKET_FANOUT_FLAG_DEFRAG << FLAGS_SHIFT);
		return (int)syscall(SYS_setsockopt, fd, level, name, &fanout, len);
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, value, len);
}

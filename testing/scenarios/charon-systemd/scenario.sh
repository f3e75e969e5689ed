# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon on the left is charon-systemd, which has a section of its own in
# strongswan.conf. (It does without systemd: there is nobody to notify then.)
daemon[left]=charon-systemd

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_tunnel
	expect_rekey left
	expect_pings
	expect "the connection goes down" connection_down left
	expect_empty
	expect "it ends with status 0 on SIGTERM" reap charon-left TERM 15
}

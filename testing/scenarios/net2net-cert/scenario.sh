# SPDX-License-Identifier: GPL-2.0-or-later
# Two Cygnet gateways connect their networks: IKEv2 with ECDSA certificates of one
# CA, AES-256-GCM. Left initiates.
auth=cert

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_tunnel
}

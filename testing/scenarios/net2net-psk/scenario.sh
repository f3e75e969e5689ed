# SPDX-License-Identifier: GPL-2.0-or-later
# Two Cygnet gateways connect their networks: IKEv2 with a pre-shared key,
# AES-128-CBC with HMAC-SHA2-256. Left initiates. Workers poll. cygnetctl has charon's names for the SAs, and one tunnel,
# also after a rekeying.
idle=poll

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect_tunnel
	expect "the SAs and the tunnel have charon's names" wait_for 10 named
	expect_rekey left
	expect "they have them after a rekeying" wait_for 10 named
	expect "no names without charon's socket" test "$(ctl left --vici "$work/none" --json show tunnels 2> /dev/null |
		jq -c '[length, .[0].ike, .[0].state]')" = '[1,null,"up"]'
	expect "the tunnel is found by its name" test "$(shown tunnels name net | jq length)" = 1
	expect "the doctor sees the plugin, the link and the path" diagnosed
	expect "its metrics have charon's names" exported
	expect "no other is" test "$(shown sad name other | jq length)" = 0
}

shown() { ctl left --vici "$(vici_uri left)" --json show "$@"; }

# The clock, the governor and free huge pages are the host's.
diagnosed() {
	{ ctl left --vici "$(vici_uri left)" --json doctor || true; } | jq -e '
		[.[] | select(.check == "configuration" or .check == "role" or .check == "charon" or .check == "link" or
			.check == "MTU" or .text == "it lets the ports forward") | .state] | length >= 7 and all(. == "ok")'
} > /dev/null

exported() {
	in_ns gw-left "$root/sbin/cygnet-exporter" -c "$work/left/cygnetd.conf" --vici "$(vici_uri left)" --once |
		grep -q '^cygnet_tunnel_up{connection="gw-gw",child="net",reqid="1",local="192.168.0.1",peer="192.168.0.2"} 1$'
}

named() {
	shown sad | jq -e 'length >= 2 and all(.[]; .ike == "gw-gw" and .child == "net" and
		.remote_id == "right.cygnet.test" and .peer == "192.168.0.2" and .age < 600 and .rekey_in > 0)' &&
		shown tunnels | jq -e 'length == 1 and (.[0] | .ike == "gw-gw" and .child == "net" and .state == "up" and
			.selectors == ["10.1.0.0/24 === 10.2.0.0/24"])'
} > /dev/null

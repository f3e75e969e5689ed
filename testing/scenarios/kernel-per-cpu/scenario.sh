# SPDX-License-Identifier: GPL-2.0-or-later
# SAs for one CPU (RFC 9611) with Debian's kernel on the right: the first ping brings up an SA for all. Each of the
# left's two workers asks for an SA of its own, and sends with it from then on; so does the kernel's CPU. All are rekeyed
# under traffic from both sides, and no packet is lost. Skipped with a strongSwan that has no per_cpu_sas (before
# 6.0.2, so in Debian 12 and 13).
right=kernel
workers=([left]=2)
version=$(dpkg-query -W -f '${Version}' libstrongswan)
if dpkg --compare-versions "$version" lt 6.0.2; then
	echo "strongSwan $version has no per_cpu_sas"
	exit 77
fi

steps() {
	local side
	expect "the first ping is answered" first_ping_from left
	expect_output "SAs for all CPUs" 2 sad left 'map(select(.state == "live" and .cpu == null)) | length'
	start_pings all left 100000 0.01
	expect_own
	expect "charon was asked for worker 0" asked_for_cpu 0
	expect "charon was asked for worker 1" asked_for_cpu 1
	expect "the kernel's CPU has one, too" wait_for 30 kernel_sends
	for side in left right; do
		expect_all_rekeyed "$side"
		expect_own
	done
	expect_none_lost all
	expect_pings
	expect "TCP flows" tcp_flows
	expect "the connection goes down" connection_down left
}

# Each worker sends with an SA of its own, and no packet goes by the SA for all any more.
expect_own() {
	local before
	expect "each worker sends with an SA of its own" wait_for 60 workers_send
	before=$(sent_for_all)
	expect "and again" workers_send
	expect_output "packets of the SA for all since then" "$before" sent_for_all
}

# Send packets of 16 flows, which the port's hash gives to both workers; whether SAs of both have carried some.
workers_send() {
	local port
	for port in {40001..40016}; do udp_from left "$port" 9; done
	[ "$(sad left 'map(select(.dir == "out" and .cpu != null and .packets > 0).cpu) | unique | join(",")')" = 0,1 ]
}

sent_for_all() { sad left 'map(select(.dir == "out" and .cpu == null).packets) | add'; }
asked_for_cpu() { grep -q "acquire job for policy .*cpu {$1}" "$work/left/charon.log"; }
kernel_sends() { prints 'pcpu-num 0' guest_xfrm right state; }

# expect_all_rekeyed SIDE: from SIDE, one after the other.
expect_all_rekeyed() {
	local id ids newest
	ids=$(children "$1")
	newest=$(children left | sort -n | tail -n 1)
	for id in $ids; do
		expect "CHILD_SA $id is rekeyed from $1" \
			quiet "$work/$1/rekey.out" swanctl_on "$1" --rekey --child-id "$id"
	done
	expect "there are as many newer ones" wait_for 60 all_newer "$newest" "$(wc -w <<< "$ids")"
}

all_newer() {
	local ids
	ids=$(children left | sort -n)
	[ "$(wc -w <<< "$ids")" -eq "$2" ] && [ "$(head -n 1 <<< "$ids")" -gt "$1" ]
}

children() { swanctl_on "$1" --list-sas | sed -n 's/^ *net: #\([0-9]*\),.*INSTALLED.*/\1/p'; }

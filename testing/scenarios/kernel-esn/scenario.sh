# SPDX-License-Identifier: GPL-2.0-or-later
# Extended sequence numbers, against the ESP of Debian's kernel, with AES-GCM and
# with AES-CBC and HMAC, initiated from either side: the number's upper half is in the ICV
# either way. Then with four algorithms more, in turn. Both sides have a replay window of 4,096.
right=kernel

steps() {
	local child side=left
	for child in aes128gcm16-esn aes256-sha256-esn; do
		one_esn left "$child"
		one_esn right "$child"
	done
	for child in chacha20poly1305-esn aes256ccm16-esn aes128ctr-sha384-esn 3des-aesxcbc-esn; do
		one_esn "$side" "$child"
		side=$(other "$side")
	done
}

# one_esn SIDE CHILD
one_esn() {
	expect "$2 comes up from $1" tunnel_up "$1" "$2"
	expect_output "SAs with ESN in the kernel" 2 kernel_esn
	expect_output "SAs with ESN in cygnetd" 2 sad left 'map(select(.esn)) | length'
	expect_output "windows of what comes in" "4096 4096" windows
	expect_pings
	expect "$2 goes down" tunnel_down "$1" "$2"
	expect_empty
}

kernel_esn() { guest_xfrm right state | grep -c 'flag.* esn'; }

# cygnetd's and the kernel's
windows() {
	echo "$(sad left '.[] | select(.dir == "in").window')" \
		"$(guest_xfrm right state | sed -n 's/.*replay_window \([0-9]*\),.*/\1/p' | sort -n | tail -n 1)"
}

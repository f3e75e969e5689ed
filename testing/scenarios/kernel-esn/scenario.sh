# SPDX-License-Identifier: GPL-2.0-or-later
# Extended sequence numbers, against the ESP of Debian's kernel, with AES-GCM and
# with AES-CBC and HMAC: the number's upper half is in the ICV either way. Both sides
# have a replay window of 4,096. Initiated from either side.
right=kernel

steps() {
	local child side
	start_capture wire wire br0
	for child in aes128gcm16-esn aes256-sha256-esn; do
		for side in left right; do
			expect "$child comes up from $side" tunnel_up "$side" "$child"
			expect_output "SAs with ESN in the kernel" 2 kernel_esn
			expect_output "SAs with ESN in cygnetd" 2 sad left 'map(select(.esn)) | length'
			expect_output "windows of what comes in" "4096 4096" windows
			expect_pings
			expect "$child goes down" tunnel_down "$side" "$child"
			expect_empty
		done
	done
	expect_ciphertext
}

kernel_esn() { guest_xfrm right state | grep -c 'flag.* esn'; }

# cygnetd's and the kernel's
windows() {
	echo "$(sad left '.[] | select(.dir == "in").window')" \
		"$(guest_xfrm right state | sed -n 's/.*replay_window \([0-9]*\),.*/\1/p' | sort -n | tail -n 1)"
}

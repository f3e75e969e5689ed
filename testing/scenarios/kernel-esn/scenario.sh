# SPDX-License-Identifier: GPL-2.0-or-later
# Extended sequence numbers, against the ESP of Debian's kernel, with AES-GCM and
# with AES-CBC and HMAC: the number's upper half is in the ICV either way.
# Initiated from either side.
right=kernel

steps() {
	local child side
	start_capture wire wire br0
	for child in aes128gcm16-esn aes256-sha256-esn; do
		for side in left right; do
			expect "$child comes up from $side" tunnel_up "$side" "$child"
			expect_output "SAs with ESN in the kernel" 2 kernel_esn
			expect_output "SAs with ESN in cygnetd" 2 sad left 'map(select(.esn)) | length'
			expect_pings
			expect "$child goes down" tunnel_down "$side" "$child"
			expect_empty
		done
	done
	expect_ciphertext
}

kernel_esn() { guest_xfrm right state | grep -c 'flag.* esn'; }

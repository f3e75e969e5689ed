# SPDX-License-Identifier: GPL-2.0-or-later
# The most used ESP algorithms against the ESP of Debian's kernel, initiated from either
# side. Both SADs show the cipher, the length of its key, and the ICV's. Down
# again, neither has an SA or policy left.
right=kernel

# What charon calls it, then in the kernel's words, then in ours.
algorithms="
aes128-sha1: auth-trunc hmac(sha1) 160 96 enc cbc(aes) 128: aes-cbc 128 hmac-sha1 12
aes256-sha1: auth-trunc hmac(sha1) 160 96 enc cbc(aes) 256: aes-cbc 256 hmac-sha1 12
aes128-sha256: auth-trunc hmac(sha256) 256 128 enc cbc(aes) 128: aes-cbc 128 hmac-sha256 16
aes192-sha256: auth-trunc hmac(sha256) 256 128 enc cbc(aes) 192: aes-cbc 192 hmac-sha256 16
aes256-sha384: auth-trunc hmac(sha384) 384 192 enc cbc(aes) 256: aes-cbc 256 hmac-sha384 24
aes256-sha512: auth-trunc hmac(sha512) 512 256 enc cbc(aes) 256: aes-cbc 256 hmac-sha512 32
aes128gcm16: aead rfc4106(gcm(aes)) 160 128: aes-gcm 128 none 16
aes256gcm16: aead rfc4106(gcm(aes)) 288 128: aes-gcm 256 none 16"

steps() {
	local how=both_ways
	[ "$engine" = cpu ] || how=in_turn # the engine is the same
	each_algorithm "$how" "$algorithms"
}

# each_algorithm CMD LIST: CMD CHILD KERNEL CYGNET for every line.
each_algorithm() {
	local child in_kernel in_cygnet
	while IFS=: read -r child in_kernel in_cygnet; do
		[ -z "$child" ] || "$1" "$child" "${in_kernel# }" "${in_cygnet# }"
	done <<< "$2"
}

both_ways() {
	one_algorithm left "$@"
	one_algorithm right "$@"
}

in_turn() {
	turn=$(other "${turn:-right}")
	one_algorithm "$turn" "$@"
}

# one_algorithm SIDE CHILD KERNEL CYGNET
one_algorithm() {
	expect "$2 comes up from $1" tunnel_up "$1" "$2"
	expect_output "the kernel has" "$3" kernel_algorithms right
	expect_output "cygnetd has" "$4" cygnet_algorithms left
	expect_pings
	expect "$2 goes down from $1" tunnel_down "$1" "$2"
	expect_empty
}

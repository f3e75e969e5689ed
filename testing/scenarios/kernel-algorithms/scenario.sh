# SPDX-License-Identifier: GPL-2.0-or-later
# Algorithms of ESP and AH against Debian's kernel, initiated from either side: the usual ones; AES-CTR,
# AES-CCM, shorter and longer ICVs, ChaCha20-Poly1305, DES, 3DES, HMAC-MD5, AES-XCBC, AES-CMAC; with ESN,
# whose upper half each kind of algorithm authenticates in its own way; and those without encryption: NULL,
# AES-GMAC and AH. Each has a CHILD_SA between two hosts, and all are up at the same time. Both SADs show
# the cipher and the lengths of its key and ICV. Afterwards no SA and no policy is left on either side.
right=kernel shapes="esp ah" allowed_on_wire+=" or ah" readable_on_wire=ah
# HMAC-SHA2-256-96 has an identifier for private use, which charon accepts only from a peer with its vendor ID.
charon_options="send_vendor_id = yes"

# Each line: name of the proposal in charon, algorithms as shown by the kernel, algorithms as shown by cygnetctl.
algorithms="
aes128-sha1: auth-trunc hmac(sha1) 160 96 enc cbc(aes) 128: aes-cbc 128 hmac-sha1 12
aes256-sha1: auth-trunc hmac(sha1) 160 96 enc cbc(aes) 256: aes-cbc 256 hmac-sha1 12
aes128-sha256: auth-trunc hmac(sha256) 256 128 enc cbc(aes) 128: aes-cbc 128 hmac-sha256 16
aes192-sha256: auth-trunc hmac(sha256) 256 128 enc cbc(aes) 192: aes-cbc 192 hmac-sha256 16
aes256-sha384: auth-trunc hmac(sha384) 384 192 enc cbc(aes) 256: aes-cbc 256 hmac-sha384 24
aes256-sha512: auth-trunc hmac(sha512) 512 256 enc cbc(aes) 256: aes-cbc 256 hmac-sha512 32
aes128gcm16: aead rfc4106(gcm(aes)) 160 128: aes-gcm 128 none 16
aes256gcm16: aead rfc4106(gcm(aes)) 288 128: aes-gcm 256 none 16
aes128ctr-sha256: auth-trunc hmac(sha256) 256 128 enc rfc3686(ctr(aes)) 160: aes-ctr 128 hmac-sha256 16
aes192ctr-sha1: auth-trunc hmac(sha1) 160 96 enc rfc3686(ctr(aes)) 224: aes-ctr 192 hmac-sha1 12
aes256ctr-aesxcbc: auth-trunc xcbc(aes) 128 96 enc rfc3686(ctr(aes)) 288: aes-ctr 256 aes-xcbc 12
aes128gcm8: aead rfc4106(gcm(aes)) 160 64: aes-gcm 128 none 8
aes256gcm12: aead rfc4106(gcm(aes)) 288 96: aes-gcm 256 none 12
aes192gcm16: aead rfc4106(gcm(aes)) 224 128: aes-gcm 192 none 16
aes128ccm8: aead rfc4309(ccm(aes)) 152 64: aes-ccm 128 none 8
aes192ccm12: aead rfc4309(ccm(aes)) 216 96: aes-ccm 192 none 12
aes256ccm16: aead rfc4309(ccm(aes)) 280 128: aes-ccm 256 none 16
chacha20poly1305: aead rfc7539esp(chacha20,poly1305) 288 128: chacha20-poly1305 256 none 16
3des-md5: auth-trunc hmac(md5) 128 96 enc cbc(des3_ede) 192: 3des-cbc 192 hmac-md5 12
3des-sha256: auth-trunc hmac(sha256) 256 128 enc cbc(des3_ede) 192: 3des-cbc 192 hmac-sha256 16
aes256-aesxcbc: auth-trunc xcbc(aes) 128 96 enc cbc(aes) 256: aes-cbc 256 aes-xcbc 12
aes128-aescmac: auth-trunc cmac(aes) 128 96 enc cbc(aes) 128: aes-cbc 128 aes-cmac 12
aes256-sha1_160: auth-trunc hmac(sha1) 160 160 enc cbc(aes) 256: aes-cbc 256 hmac-sha1 20
3des-md5_128: auth-trunc hmac(md5) 128 128 enc cbc(des3_ede) 192: 3des-cbc 192 hmac-md5 16
aes128-sha256_96: auth-trunc hmac(sha256) 256 96 enc cbc(aes) 128: aes-cbc 128 hmac-sha256 12
aes128gcm16-esn: aead rfc4106(gcm(aes)) 160 128: aes-gcm 128 none 16
aes256-sha256-esn: auth-trunc hmac(sha256) 256 128 enc cbc(aes) 256: aes-cbc 256 hmac-sha256 16
chacha20poly1305-esn: aead rfc7539esp(chacha20,poly1305) 288 128: chacha20-poly1305 256 none 16
aes256ccm16-esn: aead rfc4309(ccm(aes)) 280 128: aes-ccm 256 none 16
aes128ctr-sha384-esn: auth-trunc hmac(sha384) 384 192 enc rfc3686(ctr(aes)) 160: aes-ctr 128 hmac-sha384 24
des-sha1: auth-trunc hmac(sha1) 160 96 enc cbc(des) 64: des-cbc 64 hmac-sha1 12
aes128gmac: aead rfc4543(gcm(aes)) 160 128: aes-gmac 128 none 16
aes192gmac-esn: aead rfc4543(gcm(aes)) 224 128: aes-gmac 192 none 16
aes256gmac: aead rfc4543(gcm(aes)) 288 128: aes-gmac 256 none 16
null-sha1: auth-trunc hmac(sha1) 160 96 enc ecb(cipher_null) 0: null 0 hmac-sha1 12
null-sha256: auth-trunc hmac(sha256) 256 128 enc ecb(cipher_null) 0: null 0 hmac-sha256 16
ah-sha1: auth-trunc hmac(sha1) 160 96: null 0 hmac-sha1 12
ah-sha256: auth-trunc hmac(sha256) 256 128: null 0 hmac-sha256 16
ah-sha384: auth-trunc hmac(sha384) 384 192: null 0 hmac-sha384 24
ah-sha512: auth-trunc hmac(sha512) 512 256: null 0 hmac-sha512 32
ah-md5: auth-trunc hmac(md5) 128 96: null 0 hmac-md5 12
ah-aesxcbc: auth-trunc xcbc(aes) 128 96: null 0 aes-xcbc 12
ah-aescmac: auth-trunc cmac(aes) 128 96: null 0 aes-cmac 12
ah-sha1_160: auth-trunc hmac(sha1) 160 160: null 0 hmac-sha1 20
ah-md5_128: auth-trunc hmac(md5) 128 128: null 0 hmac-md5 16
ah-sha256_96: auth-trunc hmac(sha256) 256 96: null 0 hmac-sha256 12
3des-aesxcbc-esn: auth-trunc xcbc(aes) 128 96 enc cbc(des3_ede) 192: 3des-cbc 192 aes-xcbc 12"

# With these releases of DPDK no CPU device supports 3DES with AES-XCBC (mixes_packets() in sessions.c). It is the
# last line because the addresses of hosts must have no gap.
if dpkg --compare-versions "$(dpkg-query -W -f '${Version}' libdpdk-dev)" ge 23.11 && [ "$engine" = cpu ]; then
	algorithms=$(sed '/^3des-aesxcbc-esn:/d' <<< "$algorithms")
fi

children=$(sed -n 's/:.*//p' <<< "$algorithms")
number=$(wc -w <<< "$children")

steps() {
	local side
	add_hosts
	for side in left right; do all_at_once "$side"; done
	[ "$engine" != opencl ] || expect_output "packets by OpenCL, which has neither DES nor AES-CMAC" \
		$((2 * 20 * $(grep -vc ': des-cbc \| aes-cmac ' <<< "${algorithms#?}"))) engine_packets left opencl
}

# Add one more host for each child, and routes, which charon does not add for them.
add_hosts() {
	local side to i
	for side in left right; do
		to=$(other "$side")
		add_route "$side"
		for ((i = 21; i < 21 + number; i++)); do
			echo "address add ${lan_net[$side]}.$i/24 dev eth0"
			echo "route add ${lan_net[$to]}.$i via ${lan_net[$side]}.1 src ${lan_net[$side]}.$i"
		done > "$work/addresses"
		ip -n "$net_prefix-$side" -batch "$work/addresses"
	done
}

# hosts SIDE: print their addresses, separated by commas.
hosts() { seq -f "${lan_net[$1]}.%g" -s , 21 $((20 + number)); }

# all_at_once SIDE: SIDE initiates all children, and all are tested at the same time.
all_at_once() {
	local side
	expect "$1 is told to initiate them" initiate_all "$1"
	expect "all come up" wait_for 60 all_up
	expect_sas
	expect_algorithms
	expect_output "SAs with ESN in the kernel" $((2 * $(grep -c esn: <<< "$algorithms"))) kernel_esn
	note_readable
	for side in left right; do
		start_pings "$side" "$side" $((5 * number)) 0.02 "$(hosts "$(other "$side")")"
	done
	for side in left right; do
		expect_output "pings from $side lost" 0 end_pings "$side"
	done
	expect_counted $((10 * number)) $((10 * number * ping_bytes))
	expect_output "packets by each SA" 10 sad left 'map(.packets) | unique | join(" ")'
	expect "the connection goes down from $1" connection_down "$1"
	expect_empty
}

# Initiate all without waiting for the results.
initiate_all() {
	local child
	for child in $children; do
		quiet "$work/$1/initiate.out" swanctl_on "$1" --initiate --child "$child" --timeout -1 || return
	done
}

all_up() { [ "$(for side in left right; do charon_sas "$side"; done | wc -l)" -eq $((4 * number)) ]; }

# Compare the algorithms of each child, found by its SPIs in charon. If the two directions differ, no line matches.
expect_algorithms() {
	local line installed
	installed=$({ child_spis; kernel_algorithms right; cygnet_algorithms left; } | awk '
		$1 == "child" { spis[$2] = $3 " " $4 }
		$1 != "child" { where = $1; spi = $2; sub(/[^ ]* [^ ]* /, ""); found[where, spi] = $0 }
		END { for (child in spis) print child ": " both("kernel", spis[child]) ": " both("cygnet", spis[child]) }
		function both(where, spis, spi) {
			split(spis, spi)
			return found[where, spi[1]] == found[where, spi[2]] ? found[where, spi[1]] : "different"
		}')
	while read -r line; do
		[ -z "$line" ] || expect "$line" grep -qFx "$line" <<< "$installed"
	done <<< "$algorithms"
}

kernel_esn() { guest_xfrm right state | grep -c 'flag.* esn'; }

child_spis() {
	swanctl_on left --list-sas --raw | grep -o '{name=[^{}]*}' |
		sed -n 's/{name=\([^ ]*\) .* spi-in=\([^ ]*\) .*spi-out=\([^ ]*\) .*/child \1 \2 \3/p'
}

# Allow plaintext in ESP of the children that do not encrypt.
note_readable() {
	local spi
	for spi in $(child_spis | sed -n 's/^child \(null\|[^ ]*gmac\)[^ ]* //p'); do
		readable_on_wire+=" or (esp and ip[20:4] = 0x$spi)"
	done
}

watched() {
	quiet "$work/tcpdump.out" tcpdump -r "$work/watch-wire.pcap" -w "$work/readable.pcap" "$readable_on_wire"
	expect "the pattern is in plaintext on the wire where nothing encrypts it" has_pattern readable
}

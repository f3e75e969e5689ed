# SPDX-License-Identifier: GPL-2.0-or-later
# As kernel-algorithms, with the algorithms that few ask for: AES-CTR, AES-CCM, shorter
# ICVs and longer ones, ChaCha20-Poly1305, 3DES, HMAC-MD5, AES-XCBC, AES-CMAC; and those that
# encrypt nothing, NULL and AES-GMAC, which has ESN, too. Left and right initiate in turn.
. "$top/testing/scenarios/kernel-algorithms/scenario.sh"
# HMAC-SHA2-256-96 has a number for private use: only between who knows the other one.
charon_options="send_vendor_id = yes"

algorithms="
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
aes128-sha256_96: auth-trunc hmac(sha256) 256 96 enc cbc(aes) 128: aes-cbc 128 hmac-sha256 12"

unencrypted="
aes128gmac: aead rfc4543(gcm(aes)) 160 128: aes-gmac 128 none 16
aes192gmac-esn: aead rfc4543(gcm(aes)) 224 128: aes-gmac 192 none 16
aes256gmac: aead rfc4543(gcm(aes)) 288 128: aes-gmac 256 none 16
null-sha1: auth-trunc hmac(sha1) 160 96 enc ecb(cipher_null) 0: null 0 hmac-sha1 12
null-sha256: auth-trunc hmac(sha256) 256 128 enc ecb(cipher_null) 0: null 0 hmac-sha256 16"

steps() {
	start_capture wire wire br0
	each_algorithm in_turn "$algorithms"
	expect_ciphertext
	readable_on_wire=esp # from here on
	start_capture wire wire br0
	each_algorithm in_turn "$unencrypted"
	stop_capture wire
	expect "the pattern is in plaintext on the wire" has_pattern wire
}

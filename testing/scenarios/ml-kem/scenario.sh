# SPDX-License-Identifier: GPL-2.0-or-later
# IKE_SA and CHILD_SA with ML-KEM-768 in addition to ECDH (RFC 9370), also when rekeyed. Skipped with a
# strongSwan whose openssl plugin has no ML-KEM (before 6.0.2, so in Debian 12 and 13).
auth=cert
version=$(dpkg-query -W -f '${Version}' libstrongswan)
if dpkg --compare-versions "$version" lt 6.0.2; then
	echo "strongSwan $version has no ML-KEM"
	exit 77
fi

steps() {
	expect "the tunnel comes up" tunnel_up left
	expect "the IKE_SA has ML-KEM" exchanged 'AES_CBC-256/.*/KE1_ML_KEM_768'
	expect_tunnel
	expect_rekey left
	expect "the CHILD_SA was rekeyed with ML-KEM" exchanged 'ESP:AES_GCM_16-256/.*KE1_ML_KEM_768'
	expect_rekey right rekey_ike
	expect "the IKE_SA was rekeyed with ML-KEM" exchanged 'AES_CBC-256/.*/KE1_ML_KEM_768'
	expect_tunnel
}

exchanged() { prints "$1" swanctl_on left --list-sas; }

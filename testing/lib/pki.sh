# SPDX-License-Identifier: GPL-2.0-or-later
# A certification authority for one run, and gateway certificates. Sourced.

# Run pki with the plugins that it needs: with all of Debian's it prints warnings about the TPM.
quiet_pki() { STRONGSWAN_CONF=$work/ca/strongswan.conf pki "$@"; }

make_ca() {
	[ ! -f "$work/ca/cert.pem" ] || return 0
	mkdir -p "$work/ca"
	echo "pki { load = random openssl pem x509 pubkey pkcs1 pkcs8 }" > "$work/ca/strongswan.conf"
	quiet_pki --gen --type ecdsa --size 256 --outform pem > "$work/ca/key.pem"
	quiet_pki --self --ca --type ecdsa --in "$work/ca/key.pem" --dn "O=Cygnet test, CN=CA" \
		--lifetime 2 --outform pem > "$work/ca/cert.pem"
}

# issue_certificate SIDE SWANCTL-FOLDER: issue a certificate for SIDE.cygnet.test
issue_certificate() {
	local dir=$2
	make_ca
	mkdir -p "$dir/x509" "$dir/x509ca" "$dir/private"
	cp "$work/ca/cert.pem" "$dir/x509ca/ca.pem"
	quiet_pki --gen --type ecdsa --size 256 --outform pem > "$dir/private/$1.pem"
	quiet_pki --pub --type ecdsa --in "$dir/private/$1.pem" | quiet_pki --issue --lifetime 1 \
		--cacert "$work/ca/cert.pem" --cakey "$work/ca/key.pem" \
		--dn "O=Cygnet test, CN=$1.cygnet.test" --san "$1.cygnet.test" \
		--outform pem > "$dir/x509/$1.pem"
}

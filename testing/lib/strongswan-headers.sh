# SPDX-License-Identifier: GPL-2.0-or-later
# The headers that the plugin is compiled with, out of strongSwan's source. Sourced.

# Of Debian's options of configure only --enable-mediation (ME) changes the layout of charon's structs; the
# other lines define what the headers test for.
# strongswan_config VERSION: print config.h for that version.
strongswan_config() {
	local name
	echo "/* For strongSwan as Debian builds it: testing/lib/strongswan-headers.sh. */"
	echo "#define VERSION \"$1\""
	echo '#define CONFIG_H_INCLUDED'
	for name in ME USE_IKEV1 USE_IKEV2 HAVE_STDBOOL_H HAVE_ALLOCA_H HAVE_SYS_PARAM_H \
		HAVE_SIGWAITINFO HAVE_CLOSEFROM HAVE_EXPLICIT_BZERO HAVE_MEMRCHR HAVE_FMEMOPEN \
		HAVE_CLOCK_GETTIME HAVE_CONDATTR_CLOCK_MONOTONIC HAVE_INT128 \
		HAVE_GCC_SYNC_OPERATIONS HAVE_PRINTF_SPECIFIER HAVE_DLADDR; do
		echo "#define $name 1"
	done
}

# copy_strongswan_headers SOURCE VERSION TO: copy the headers, except those of strongSwan's own plugins.
copy_strongswan_headers() {
	mkdir -p "$3"
	(cd "$1" && find src/libstrongswan src/libcharon -name '*.h' ! -path '*/plugins/*/*' \
		-exec cp -p --parents {} "$3/" \;)
	strongswan_config "$2" > "$3/config.h"
}

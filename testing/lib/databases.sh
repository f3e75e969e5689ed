# SPDX-License-Identifier: GPL-2.0-or-later
# The contents of a gateway's SAD and SPD. Sourced.

# sad SIDE FILTER, spd SIDE FILTER: print entries of a Cygnet gateway, as an array, through a filter of jq.
sad() { ctl "$1" --json show sad | jq -r "$2"; }
spd() { ctl "$1" --json show spd | jq -r "$2"; }

# databases_empty SIDE: no SA and no policy, except the socket policies of charon in a kernel.
databases_empty() {
	case ${!1} in
	cygnet) [ "$(sad "$1" length) $(spd "$1" length)" = "0 0" ] ;;
	kernel) prints_nothing guest_xfrm "$1" state && prints_no 'dir (in|out|fwd)' guest_xfrm "$1" policy ;;
	esac
}

both_empty() { databases_empty left && databases_empty right; }

expect_empty() { expect "no SA and no policy is left" wait_for 30 both_empty; }

# kernel_algorithms SIDE: for each SA in the kernel of the virtual machine print "kernel SPI" and its algorithms, with
# the lengths in bits of keys (for GCM including the salt) and of truncated ICVs.
kernel_algorithms() {
	guest_xfrm "$1" state | awk '
		$1 == "proto" { printf "%skernel %s", end, substr($4, 3); end = "\n" }
		$1 == "auth-trunc" || $1 == "auth" || $1 == "enc" || $1 == "aead" {
			printf " %s %s %s", $1, $2, ($3 ? length($3) - 2 : 0) * 4 ($4 ? " " $4 : "")
		}
		END { printf "%s", end }'
}

# cygnet_algorithms SIDE: the same from cygnetctl: bits of the key, bytes of the ICV.
cygnet_algorithms() {
	sad "$1" '.[] | select(.state == "live") |
		"cygnet \(.spi[2:]) \(.cipher) \(.key_bits) \(.auth) \(.icv)"'
}

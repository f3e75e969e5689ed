# SPDX-License-Identifier: GPL-2.0-or-later
# As libipsec-responder, but initiated by the right. Its dead peer detection restarts the tunnel, that of the
# left removes it. The left is configured for TFC padding, but the right does not support it: nothing is padded.
. "$top/testing/scenarios/libipsec-responder/scenario.sh"
initiator=right
preload=([right]=$build/testing/lib/.libs/no-tfc.so)

more_steps() {
	expect "the left was told not to pad" \
		grep -q 'received ESP_TFC_PADDING_NOT_SUPPORTED' "$work/left/charon.log"
}

# SPDX-License-Identifier: GPL-2.0-or-later
# As libipsec-responder, initiated by the right, whose dead peer detection restarts it;
# that of the left takes it away. The left asks for TFC padding, but the right says that it
# does not take any: nothing is padded.
. "$top/testing/scenarios/libipsec-responder/scenario.sh"
initiator=right
preload=([right]=$build/testing/lib/.libs/no-tfc.so)

more_steps() {
	expect "the left was told not to pad" \
		grep -q 'received ESP_TFC_PADDING_NOT_SUPPORTED' "$work/left/charon.log"
}

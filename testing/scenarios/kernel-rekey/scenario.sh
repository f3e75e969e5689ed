# SPDX-License-Identifier: GPL-2.0-or-later
# As rekey, with the ESP of Debian's kernel on the right: CHILD_SAs and the
# IKE_SA are rekeyed from both sides under traffic, and no packet is lost.
. "$top/testing/scenarios/rekey/scenario.sh"
right=kernel

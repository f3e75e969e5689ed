# SPDX-License-Identifier: GPL-2.0-or-later
# As reauth, with Debian's kernel on the right.
. "$top/testing/scenarios/reauth/scenario.sh"
right=kernel
may_drop[right]="XfrmInNoStates XfrmInStateInvalid XfrmAcquireError"

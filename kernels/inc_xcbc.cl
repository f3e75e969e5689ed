/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AES-XCBC-MAC (RFC 3566). */
#ifndef INC_XCBC_CL
#define INC_XCBC_CL

#include "inc_aes.cl"

DECLSPEC void xcbc(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
		   GLOBAL_AS const u8 *p, u32 len, u32 mac[16])
{
	GLOBAL_AS const u32 *k1 = s->mac.xcbc, *k2 = k1 + 44, *k3 = k1 + 48;
	const struct aes aes = aes_use(t, AES_ENCRYPT, k1, 10);
	u32 e[4] = {0, 0, 0, 0};
	u32 off = 0, i;

	do {
		u32 n = len - off;
		u32 x[4];

		if (n >= 16) {
			load_block(p + off, x);
		} else {
			for (i = 0; i < 4; i++)
				x[i] = load_tail32(p, len, off + 4 * i, 0x80);
		}
		for (i = 0; i < 4; i++)
			e[i] ^= x[i] ^ (n > 16 ? 0 : n == 16 ? k2[i] : k3[i]);
		aes_encrypt(&aes, e);
		off += 16;
	} while (off < len);
	for (i = 0; i < 4; i++)
		mac[i] = e[i];
}

#endif

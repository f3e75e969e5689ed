/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AES-CTR (NIST SP 800-38A; RFC 3686's counter block is the IV) in place. */
#ifndef INC_CTR_CL
#define INC_CTR_CL

#include "inc_aes.cl"

/* Apply the key stream to n bytes, 16 at most; x is what was there, y what is, zeros behind. */
DECLSPEC void xor_block(const u32 stream[4], GLOBAL_AS u8 *p, u32 n, u32 x[4], u32 y[4])
{
	u32 i;

	if (n >= 16)
		load_block(p, x);
	else
		load_partial(p, n, x);
	for (i = 0; i < 4; i++)
		y[i] = x[i] ^ stream[i];
	if (n >= 16)
		store_block(p, y);
	else
		store_partial(p, n, y);
}

/* The counter is the whole block. */
DECLSPEC void ctr_next(u32 counter[4])
{
	counter[3]++;
	counter[2] += counter[3] == 0;
	counter[1] += (counter[3] | counter[2]) == 0;
	counter[0] += (counter[3] | counter[2] | counter[1]) == 0;
}

DECLSPEC void ctr(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
		  GLOBAL_AS u8 *p, u32 len, u32 counter[4])
{
	const struct aes aes = aes_use(t, AES_ENCRYPT, s->round_key, s->rounds);
	u32 off, i;

	for (off = 0; off < len; off += 16) {
		u32 stream[4], x[4], y[4];

		for (i = 0; i < 4; i++)
			stream[i] = counter[i];
		aes_encrypt(&aes, stream);
		xor_block(stream, p + off, len - off, x, y);
		ctr_next(counter);
	}
}

#endif

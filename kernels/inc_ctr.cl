/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AES-CTR (NIST SP 800-38A; RFC 3686's counter block is the IV) in place. */
#ifndef INC_CTR_CL
#define INC_CTR_CL

#include "inc_aes.cl"

/* Apply the key stream to n bytes, 16 at most; x gets the input, y the output, zero-padded. */
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
DECLSPEC void ctr_add(u32 counter[4], u32 n)
{
	u32 carry;

	counter[3] += n;
	carry = counter[3] < n;
	counter[2] += carry;
	carry = carry && counter[2] == 0;
	counter[1] += carry;
	counter[0] += carry && counter[1] == 0;
}

/* One lane's blocks: their numbers are lane modulo lanes. */
DECLSPEC void ctr(LOCAL_AS struct aes_tables *t, GLOBAL_AS const struct ocl_session *s,
		  GLOBAL_AS u8 *p, u32 len, const u32 iv[4], u32 lane, u32 lanes)
{
	const struct aes aes = aes_use(t, AES_ENCRYPT, s->round_key, s->rounds);
	u32 counter[4] = {iv[0], iv[1], iv[2], iv[3]};
	u32 off, i;

	ctr_add(counter, lane);
	for (off = 16 * lane; off < len; off += 16 * lanes) {
		u32 stream[4], x[4], y[4];

		for (i = 0; i < 4; i++)
			stream[i] = counter[i];
		aes_encrypt(&aes, stream);
		xor_block(stream, p + off, len - off, x, y);
		ctr_add(counter, lanes);
	}
}

#endif

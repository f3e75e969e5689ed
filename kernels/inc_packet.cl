/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One packet: runs what its session's label says on its record, in place. */
#ifndef INC_PACKET_CL
#define INC_PACKET_CL

#include "inc_cbc.cl"
#include "inc_ctr.cl"
#include "inc_gcm.cl"
#include "inc_hmac.cl"

/* Write the digest, or compare it in constant time. Returns the status. */
DECLSPEC u32 packet_digest(GLOBAL_AS const struct ocl_session *s, GLOBAL_AS u8 *digest,
			   const u32 mac[16])
{
	u32 diff = 0;
	u32 i, j;

	for (i = 0; i < 16; i++) {
		for (j = 0; j < 4 && 4 * i + j < s->digest_len; j++) {
			u8 byte = (u8)(mac[i] >> (24 - 8 * j));

			if (s->verify)
				diff |= (u32)(byte ^ digest[4 * i + j]);
			else
				digest[4 * i + j] = byte;
		}
	}
	return diff ? OCL_STATUS_AUTH_FAILED : OCL_STATUS_DONE;
}

DECLSPEC void packet_cipher(LOCAL_AS const struct aes_tables *t,
			    GLOBAL_AS const struct ocl_session *s, GLOBAL_AS u8 *p, u32 len,
			    u32 iv[4])
{
	switch (OCL_LABEL_CIPHER(s->label)) {
	case OCL_CIPHER_AES_CBC:
		if (OCL_LABEL_DECRYPT(s->label))
			cbc_decrypt(t, s, p, len, iv);
		else
			cbc_encrypt(t, s, p, len, iv);
		break;
	case OCL_CIPHER_AES_CTR:
		ctr(t, s, p, len, iv);
		break;
	}
}

/* Authenticate what auth_off and auth_len name. Returns the status. */
DECLSPEC u32 packet_auth(GLOBAL_AS const struct ocl_session *s, GLOBAL_AS u8 *rec,
			 GLOBAL_AS const struct ocl_record *r)
{
	GLOBAL_AS const u8 *p = rec + r->auth_off;
	u32 auth = OCL_LABEL_AUTH(s->label);
	u32 mac[16];

	switch (auth) {
	case OCL_AUTH_HMAC_MD5:
	case OCL_AUTH_HMAC_SHA1:
	case OCL_AUTH_HMAC_SHA256:
		hmac32(auth, s, p, r->auth_len, mac);
		break;
	case OCL_AUTH_HMAC_SHA384:
	case OCL_AUTH_HMAC_SHA512:
		hmac64(auth, s, p, r->auth_len, mac);
		break;
	default:
		return OCL_STATUS_DONE;
	}
	return packet_digest(s, rec + r->digest_off, mac);
}

/* Both in the label's order; what was authenticated in vain is not decrypted. One loop, so
 * that each appears once in the program. */
DECLSPEC u32 packet_chain(LOCAL_AS const struct aes_tables *t,
			  GLOBAL_AS const struct ocl_session *s, GLOBAL_AS u8 *rec,
			  GLOBAL_AS const struct ocl_record *r, u32 iv[4])
{
	u32 cipher_step = OCL_LABEL_AUTH_FIRST(s->label);
	u32 status = OCL_STATUS_DONE;
	u32 step;

	for (step = 0; step < 2 && status == OCL_STATUS_DONE; step++) {
		if (step == cipher_step)
			packet_cipher(t, s, rec + r->cipher_off, r->cipher_len, iv);
		else
			status = packet_auth(s, rec, r);
	}
	return status;
}

DECLSPEC u32 packet_aead(LOCAL_AS const struct aes_tables *t,
			 GLOBAL_AS const struct ocl_session *s, GLOBAL_AS u8 *rec,
			 GLOBAL_AS const struct ocl_record *r, const u32 iv[4])
{
	u32 mac[16];

	gcm(t, s, rec, r, iv, mac);
	return packet_digest(s, rec + r->digest_off, mac);
}

DECLSPEC void packet(LOCAL_AS const struct aes_tables *t,
		     GLOBAL_AS const struct ocl_session *sessions, GLOBAL_AS u8 *rec)
{
	GLOBAL_AS struct ocl_record *r = (GLOBAL_AS struct ocl_record *)rec;
	GLOBAL_AS const struct ocl_session *s = sessions + r->session;
	u32 iv[4];
	u32 i;

	for (i = 0; i < 4; i++)
		iv[i] = swap32(r->iv[i]);
	if (OCL_LABEL_CIPHER(s->label) >= OCL_CIPHER_AES_GCM)
		r->status = packet_aead(t, s, rec, r, iv);
	else
		r->status = packet_chain(t, s, rec, r, iv);
}

#endif

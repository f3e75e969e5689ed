/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One packet: runs what its session's label says on what its record names, in place. */
#ifndef INC_PACKET_CL
#define INC_PACKET_CL

#include "inc_cbc.cl"
#include "inc_ccm.cl"
#include "inc_chacha.cl"
#include "inc_ctr.cl"
#include "inc_des.cl"
#include "inc_gcm.cl"
#include "inc_hmac.cl"
#include "inc_xcbc.cl"

/* What a work-group keeps in local memory. */
struct tables {
	struct aes_tables aes;
	struct des_tables des;
};

#define NEEDS_AES (AES_ENCRYPT | AES_DECRYPT)
#define NEEDS_DES 4

/* Which tables a session's packets look up. */
DECLSPEC u32 tables_needed(u32 label)
{
	u32 needs = OCL_LABEL_AUTH(label) >= OCL_AUTH_AES_XCBC ? AES_ENCRYPT : 0;

	switch (OCL_LABEL_CIPHER(label)) {
	case OCL_CIPHER_AES_CBC:
		return needs | (OCL_LABEL_DECRYPT(label) ? AES_DECRYPT : AES_ENCRYPT);
	case OCL_CIPHER_AES_CTR:
	case OCL_CIPHER_AES_GCM:
	case OCL_CIPHER_AES_CCM:
		return needs | AES_ENCRYPT;
	case OCL_CIPHER_3DES_CBC:
		return needs | NEEDS_DES;
	}
	return needs;
}

DECLSPEC void tables_fill(LOCAL_AS struct tables *t, u32 needs, u32 first, u32 step)
{
	if (needs & NEEDS_AES)
		aes_tables_fill(&t->aes, needs & NEEDS_AES, first, step);
	if (needs & NEEDS_DES)
		des_tables_fill(&t->des, first, step);
}

/* What a record refers to. */
struct packet {
	GLOBAL_AS const struct ocl_record *r;
	GLOBAL_AS const struct ocl_session *s;
	GLOBAL_AS u8 *cipher;
	GLOBAL_AS const u8 *auth; /* AEAD: the AAD */
	GLOBAL_AS u8 *digest;
};

DECLSPEC void packet_find(struct packet *p, GLOBAL_AS const struct ocl_session *sessions,
			  GLOBAL_AS u8 *const areas[OCL_AREAS], u32 record)
{
	GLOBAL_AS u8 *chunk = areas[OCL_AREA_CHUNK];
	GLOBAL_AS u8 *area;

	p->r = (GLOBAL_AS const struct ocl_record *)(chunk + record);
	p->s = sessions + p->r->session;
	area = areas[p->r->area];
	/* The sums are u32: a packet may begin in front of what lies in its area. */
	p->cipher = area + (u32)(p->r->base + p->r->cipher_off);
	if (ocl_is_aead(OCL_LABEL_CIPHER(p->s->label)))
		p->auth = chunk + p->r->auth_off;
	else
		p->auth = area + (u32)(p->r->base + p->r->auth_off);
	p->digest = areas[p->r->digest_area] + p->r->digest_off;
}

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

DECLSPEC void packet_cipher(LOCAL_AS struct tables *t, const struct packet *p, u32 iv[4])
{
	u32 len = p->r->cipher_len;

	switch (OCL_LABEL_CIPHER(p->s->label)) {
	case OCL_CIPHER_AES_CBC:
		if (OCL_LABEL_DECRYPT(p->s->label))
			cbc_decrypt(&t->aes, p->s, p->cipher, len, iv);
		else
			cbc_encrypt(&t->aes, p->s, p->cipher, len, iv);
		break;
	case OCL_CIPHER_AES_CTR:
		ctr(&t->aes, p->s, p->cipher, len, iv);
		break;
	case OCL_CIPHER_3DES_CBC:
		des3_cbc(&t->des, p->s, p->cipher, len, iv);
		break;
	}
}

/* Authenticate what auth and auth_len name. Returns the status. */
DECLSPEC u32 packet_auth(LOCAL_AS struct tables *t, const struct packet *p)
{
	u32 auth = OCL_LABEL_AUTH(p->s->label);
	u32 mac[16];

	switch (auth) {
	case OCL_AUTH_HMAC_MD5:
	case OCL_AUTH_HMAC_SHA1:
	case OCL_AUTH_HMAC_SHA256:
		hmac32(auth, p->s, p->auth, p->r->auth_len, mac);
		break;
	case OCL_AUTH_HMAC_SHA384:
	case OCL_AUTH_HMAC_SHA512:
		hmac64(auth, p->s, p->auth, p->r->auth_len, mac);
		break;
	case OCL_AUTH_AES_XCBC:
		xcbc(&t->aes, p->s, p->auth, p->r->auth_len, mac);
		break;
	default:
		return OCL_STATUS_DONE;
	}
	return packet_digest(p->s, p->digest, mac);
}

/* Both in the label's order; what was authenticated in vain is not decrypted. One loop, so
 * that each appears once in the program. */
DECLSPEC u32 packet_chain(LOCAL_AS struct tables *t, const struct packet *p, u32 iv[4])
{
	u32 cipher_step = OCL_LABEL_AUTH_FIRST(p->s->label);
	u32 status = OCL_STATUS_DONE;
	u32 step;

	for (step = 0; step < 2 && status == OCL_STATUS_DONE; step++) {
		if (step == cipher_step)
			packet_cipher(t, p, iv);
		else
			status = packet_auth(t, p);
	}
	return status;
}

DECLSPEC u32 packet_aead(LOCAL_AS struct tables *t, const struct packet *p, const u32 iv[4])
{
	u32 len = p->r->cipher_len, aad_len = p->r->auth_len;
	u32 mac[16];

	if (OCL_LABEL_CIPHER(p->s->label) == OCL_CIPHER_CHACHA20_POLY1305)
		chacha20_poly1305(p->s, p->cipher, len, p->auth, aad_len, iv, mac);
	else
		ccm(&t->aes, p->s, p->cipher, len, p->auth, aad_len, iv, mac);
	return packet_digest(p->s, p->digest, mac);
}

DECLSPEC void packet_iv(const struct packet *p, u32 iv[4])
{
	u32 i;

	for (i = 0; i < 4; i++)
		iv[i] = swap32(p->r->iv[i]);
}

/* GMAC is GCM of nothing, with what it authenticates as AAD. */
DECLSPEC u32 packet_gcm_len(const struct packet *p)
{
	return OCL_LABEL_CIPHER(p->s->label) == OCL_CIPHER_NONE ? 0 : p->r->cipher_len;
}

/* What a lane does on its own. Returns the status, PENDING if that takes packet_finish(), after
 * all lanes have left their parts. */
DECLSPEC u32 packet_start(LOCAL_AS struct tables *t, const struct packet *p, u32 lane,
			  u32 lanes, LOCAL_AS u64 part[2])
{
	u32 iv[4];
	u64 y[2];

	packet_iv(p, iv);
	if (ocl_is_parallel(p->s->label)) {
		gcm_lane(&t->aes, p->s, p->cipher, packet_gcm_len(p), p->auth, p->r->auth_len, iv,
			 lane, lanes, y);
		part[0] = y[0];
		part[1] = y[1];
		return OCL_STATUS_PENDING;
	}
	if (ocl_is_aead(OCL_LABEL_CIPHER(p->s->label)))
		return packet_aead(t, p, iv);
	return packet_chain(t, p, iv);
}

/* The first lane puts the parts together. Returns the status. */
DECLSPEC u32 packet_finish(LOCAL_AS struct tables *t, const struct packet *p, u32 lanes,
			   LOCAL_AS u64 (*part)[2])
{
	u64 y[2] = {0, 0};
	u32 iv[4], mac[16];
	u32 i;

	packet_iv(p, iv);
	for (i = 0; i < lanes; i++) {
		y[0] ^= part[i][0];
		y[1] ^= part[i][1];
	}
	gcm_tag(&t->aes, p->s, packet_gcm_len(p), p->r->auth_len, iv, y, mac);
	return packet_digest(p->s, p->digest, mac);
}

/* The record at that offset of the chunk, without help. Returns the status. */
DECLSPEC u32 packet(LOCAL_AS struct tables *t, GLOBAL_AS const struct ocl_session *sessions,
		    GLOBAL_AS u8 *const areas[OCL_AREAS], u32 record, LOCAL_AS u64 (*part)[2])
{
	struct packet p;
	u32 status;

	packet_find(&p, sessions, areas, record);
	status = packet_start(t, &p, 0, 1, part[0]);
	return status == OCL_STATUS_PENDING ? packet_finish(t, &p, 1, part) : status;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One packet: runs the algorithms of its session's label on the ranges of its record, in place. */
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

/* The tables of a work-group in local memory. */
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

/* The packet of a record or a head, and the lane of this work-item. */
struct packet {
	GLOBAL_AS const struct ocl_session *s;
	GLOBAL_AS u8 *cipher;
	GLOBAL_AS const u8 *auth; /* AEAD: the AAD */
	GLOBAL_AS u8 *digest;
	u32 cipher_len, auth_len;
	u32 lane, lanes;
	u32 iv[4];
};

/* A lane's intermediate result in local memory, for the first lane; an odd number of words, so that those
 * of a group begin in different banks. */
struct part {
	u32 w[9];
};

DECLSPEC void packet_iv(struct packet *p, GLOBAL_AS const u32 iv[4])
{
	u32 i;

	for (i = 0; i < 4; i++)
		p->iv[i] = swap32(iv[i]);
	if (OCL_LABEL_CIPHER(p->s->label) == OCL_CIPHER_AES_CBC)
		cbc_chain(p->cipher, p->cipher_len, p->lane, p->lanes, p->iv);
}

DECLSPEC GLOBAL_AS const struct ocl_record *record_at(GLOBAL_AS const u8 *chunk, u32 entry)
{
	return (GLOBAL_AS const struct ocl_record *)(chunk + OCL_ENTRY_RECORD(entry));
}

/* The packet and lane of an entry of the order table. Before the first step of any of the packet's lanes. */
DECLSPEC void packet_find(struct packet *p, GLOBAL_AS const struct ocl_session *sessions,
			  GLOBAL_AS u8 *const areas[OCL_AREAS], u32 entry)
{
	GLOBAL_AS u8 *chunk = areas[OCL_AREA_CHUNK];
	GLOBAL_AS const struct ocl_record *r = record_at(chunk, entry);
	GLOBAL_AS u8 *area = areas[r->area];

	p->s = sessions + r->session;
	p->lane = OCL_ENTRY_LANE(entry);
	p->lanes = OCL_ENTRY_LANES(entry);
	/* The sums wrap as u32: base may be in front of the area. */
	p->cipher = area + (u32)(r->base + r->cipher_off);
	p->cipher_len = r->cipher_len;
	if (ocl_is_aead(OCL_LABEL_CIPHER(p->s->label)))
		p->auth = chunk + r->auth_off;
	else
		p->auth = area + (u32)(r->base + r->auth_off);
	p->auth_len = r->auth_len;
	p->digest = areas[r->digest_area] + r->digest_off;
	packet_iv(p, r->iv);
}

/* The same for a packet with a head. */
DECLSPEC void packet_find_head(struct packet *p, GLOBAL_AS const struct ocl_session *sessions,
			       GLOBAL_AS struct ocl_head *head, u32 lane, u32 lanes)
{
	GLOBAL_AS u8 *bytes = (GLOBAL_AS u8 *)head;

	p->s = sessions + head->session;
	p->lane = lane;
	p->lanes = lanes;
	p->cipher = bytes + head->cipher_off;
	p->cipher_len = head->cipher_len;
	p->auth_len = head->auth_len;
	if (ocl_is_aead(OCL_LABEL_CIPHER(p->s->label)))
		p->auth = bytes - OCL_HEAD_AAD(p->auth_len);
	else
		p->auth = bytes + head->auth_off;
	p->digest = bytes + head->digest_off;
	packet_iv(p, head->iv);
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

/* A lane's share of encryption or decryption. */
DECLSPEC void packet_cipher(LOCAL_AS struct tables *t, struct packet *p)
{
	u32 len = p->cipher_len;

	switch (OCL_LABEL_CIPHER(p->s->label)) {
	case OCL_CIPHER_AES_CBC:
		if (OCL_LABEL_DECRYPT(p->s->label))
			cbc_decrypt(&t->aes, p->s, p->cipher, len, p->iv, p->lane, p->lanes);
		else
			cbc_encrypt(&t->aes, p->s, p->cipher, len, p->iv);
		break;
	case OCL_CIPHER_AES_CTR:
		ctr(&t->aes, p->s, p->cipher, len, p->iv, p->lane, p->lanes);
		break;
	case OCL_CIPHER_3DES_CBC:
		des3_cbc(&t->des, p->s, p->cipher, len, p->iv);
		break;
	}
}

/* Authenticate the range auth, auth_len. Returns the status. */
DECLSPEC u32 packet_auth(LOCAL_AS struct tables *t, const struct packet *p)
{
	u32 auth = OCL_LABEL_AUTH(p->s->label);
	u32 mac[16];

	switch (auth) {
	case OCL_AUTH_HMAC_MD5:
	case OCL_AUTH_HMAC_SHA1:
	case OCL_AUTH_HMAC_SHA256:
		hmac32(auth, p->s, p->auth, p->auth_len, mac);
		break;
	case OCL_AUTH_HMAC_SHA384:
	case OCL_AUTH_HMAC_SHA512:
		hmac64(auth, p->s, p->auth, p->auth_len, mac);
		break;
	case OCL_AUTH_AES_XCBC:
		xcbc(&t->aes, p->s, p->auth, p->auth_len, mac);
		break;
	default:
		return OCL_STATUS_DONE;
	}
	return packet_digest(p->s, p->digest, mac);
}

/* Cipher and authentication, a step each, in the label's order: one lane authenticates, all encrypt or decrypt.
 * A packet whose digest did not verify first is not decrypted. */
DECLSPEC void packet_chain(LOCAL_AS struct tables *t, struct packet *p, u32 step,
			   LOCAL_AS struct part *parts)
{
	if (step != OCL_LABEL_AUTH_FIRST(p->s->label)) {
		if (p->lane == 0)
			parts->w[0] = packet_auth(t, p);
	} else if (step == 0 || parts->w[0] == OCL_STATUS_DONE) {
		packet_cipher(t, p);
	}
}

/* One lane authenticates the plaintext, in the step before encryption or after decryption by all. */
DECLSPEC void packet_ccm(LOCAL_AS struct tables *t, const struct packet *p, u32 step,
			 LOCAL_AS struct part *parts)
{
	u32 mac[16];

	if (step != OCL_LABEL_DECRYPT(p->s->label)) {
		ccm_cipher(&t->aes, p->s, p->cipher, p->cipher_len, p->iv, p->lane, p->lanes);
	} else if (p->lane == 0) {
		ccm_mac(&t->aes, p->s, p->cipher, p->cipher_len, p->auth, p->auth_len, p->iv, mac);
		parts->w[0] = packet_digest(p->s, p->digest, mac);
	}
}

/* Each lane processes its share; then the first one adds up the intermediate results of all. */
DECLSPEC void packet_chacha(const struct packet *p, u32 step, LOCAL_AS struct part *parts)
{
	struct poly1305 poly;
	u64 sum[5] = {0, 0, 0, 0, 0};
	u32 mac[16];
	u32 i, lane;

	if (step == 0) {
		chacha20_lane(p->s, p->cipher, p->cipher_len, p->auth, p->auth_len, p->iv, p->lane,
			      p->lanes, &poly);
		for (i = 0; i < 5; i++)
			parts[p->lane].w[i] = poly.h[i];
		for (i = 0; i < 4; i++)
			parts[p->lane].w[5 + i] = poly.s[i];
	} else if (p->lane == 0) {
		for (lane = 0; lane < p->lanes; lane++) {
			for (i = 0; i < 5; i++)
				sum[i] += parts[lane].w[i];
		}
		poly1305_carry(poly.h, sum);
		for (i = 0; i < 4; i++)
			poly.s[i] = parts->w[5 + i];
		poly1305_final(&poly, mac);
		parts->w[0] = packet_digest(p->s, p->digest, mac);
	}
}

/* The same for GCM. GMAC is GCM without plaintext, and all it authenticates is AAD. */
DECLSPEC void packet_gcm(LOCAL_AS struct tables *t, const struct packet *p, u32 step,
			 LOCAL_AS struct part *parts)
{
	const u32 gmac = OCL_LABEL_CIPHER(p->s->label) == OCL_CIPHER_NONE;
	const u32 len = gmac ? 0 : p->cipher_len, aad_len = p->auth_len;
	u64 y[2] = {0, 0};
	u32 mac[16];
	u32 i, lane;

	if (step == 0) {
		gcm_lane(&t->aes, p->s, p->cipher, len, p->auth, aad_len, p->iv, p->lane, p->lanes,
			 y);
		for (i = 0; i < 4; i++)
			parts[p->lane].w[i] = (u32)(y[i / 2] >> 32 * (i & 1));
	} else if (p->lane == 0) {
		for (lane = 0; lane < p->lanes; lane++) {
			for (i = 0; i < 4; i++)
				y[i / 2] ^= (u64)parts[lane].w[i] << 32 * (i & 1);
		}
		gcm_tag(&t->aes, p->s, len, aad_len, p->iv, y, mac);
		parts->w[0] = packet_digest(p->s, p->digest, mac);
	}
}

#define PACKET_STEPS 2

/*
 * A lane's share of a step. All lanes of a packet have to have finished the step before;
 * after the last one the packet's status is in w[0] of the first lane's part, for that lane.
 */
DECLSPEC void packet_step(LOCAL_AS struct tables *t, struct packet *p, u32 step,
			  LOCAL_AS struct part *parts)
{
	switch (OCL_LABEL_CIPHER(p->s->label)) {
	case OCL_CIPHER_AES_CCM:
		packet_ccm(t, p, step, parts);
		return;
	case OCL_CIPHER_CHACHA20_POLY1305:
		packet_chacha(p, step, parts);
		return;
	}
	if (OCL_LABEL_CIPHER(p->s->label) == OCL_CIPHER_AES_GCM ||
	    OCL_LABEL_AUTH(p->s->label) == OCL_AUTH_AES_GMAC)
		packet_gcm(t, p, step, parts);
	else
		packet_chain(t, p, step, parts);
}

/* Overwrite the intermediate result: another program's work-group may read local memory. */
DECLSPEC void packet_forget(LOCAL_AS struct part *part)
{
	LOCAL_AS volatile u32 *w = part->w;
	u32 i;

	for (i = 0; i < sizeof(part->w) / sizeof(part->w[0]); i++)
		w[i] = 0;
}

/* Process the record at that offset of the chunk in one work-item. Returns the status. */
DECLSPEC u32 packet(LOCAL_AS struct tables *t, GLOBAL_AS const struct ocl_session *sessions,
		    GLOBAL_AS u8 *const areas[OCL_AREAS], u32 record, LOCAL_AS struct part *part)
{
	struct packet p;
	u32 step;

	packet_find(&p, sessions, areas, OCL_ENTRY(record, 0, 1));
	for (step = 0; step < PACKET_STEPS; step++)
		packet_step(t, &p, step, part);
	return part->w[0];
}

#endif

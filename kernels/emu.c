/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inc_packet.cl"
#include "emu.h"

static struct tables tables;

__attribute__((constructor)) static void emu_init(void)
{
	tables_fill(&tables, NEEDS_AES | NEEDS_DES, 0, 1);
}

static u32 run_lanes(struct packet p[OCL_MAX_LANES], u32 lanes)
{
	struct part parts[OCL_MAX_LANES];
	u32 status;

	for (u32 step = 0; step < PACKET_STEPS; step++) {
		for (u32 lane = 0; lane < lanes; lane++)
			packet_step(&tables, &p[lane], step, parts);
	}
	status = parts[0].w[0];
	explicit_bzero(parts, sizeof(parts));
	return status;
}

u32 emu_packet(const struct ocl_session *sessions, u8 *const areas[OCL_AREAS], u32 record,
	       u32 lanes)
{
	struct packet p[OCL_MAX_LANES];

	packet_find(&p[0], sessions, areas, record);
	if (!ocl_is_parallel(p[0].s->label))
		lanes = 1;
	for (u32 lane = 0; lane < lanes; lane++)
		packet_find(&p[lane], sessions, areas, OCL_ENTRY(record, lane, lanes));
	return run_lanes(p, lanes);
}

void emu_head(const struct ocl_session *sessions, struct ocl_head *head, u32 lanes)
{
	struct packet p[OCL_MAX_LANES];

	if (!ocl_is_parallel(sessions[head->session].label))
		lanes = 1;
	for (u32 lane = 0; lane < lanes; lane++)
		packet_find_head(&p[lane], sessions, head, lane, lanes);
	head->status = run_lanes(p, lanes);
}

void emu_ghash_times(const u64 factor[2], u64 y[2])
{
	struct ghash_key k;
	u64 swapped[2] = {y[1], y[0]};

	ghash_key(&k, factor[0], factor[1]);
	ghash_times(&k, swapped);
	y[0] = swapped[1];
	y[1] = swapped[0];
	explicit_bzero(&k, sizeof(k));
	explicit_bzero(swapped, sizeof(swapped));
}

void emu_aes_encrypt(const u32 *round_key, u32 rounds, u32 block[4])
{
	const struct aes aes = aes_use(&tables.aes, AES_ENCRYPT, round_key, rounds);

	aes_encrypt(&aes, block);
}

u32 emu_aes_sub_word(u32 x)
{
	return (u32)aes_sbox[x >> 24] << 24 | (u32)aes_sbox[x >> 16 & 0xff] << 16 |
	       (u32)aes_sbox[x >> 8 & 0xff] << 8 | aes_sbox[x & 0xff];
}

u32 emu_aes_inv_mix_columns(u32 x)
{
	return aes_inv_mix_column(x >> 24) ^ rotl32(aes_inv_mix_column(x >> 16 & 0xff), 24) ^
	       rotl32(aes_inv_mix_column(x >> 8 & 0xff), 16) ^
	       rotl32(aes_inv_mix_column(x & 0xff), 8);
}

static void compress32(enum ocl_auth auth, u64 state[8], const u64 block[16])
{
	u32 s[8], w[16];
	int i;

	for (i = 0; i < 8; i++)
		s[i] = (u32)state[i];
	for (i = 0; i < 16; i++)
		w[i] = (u32)block[i];
	hmac32_compress(auth, s, w);
	for (i = 0; i < 8; i++)
		state[i] = s[i];
	explicit_bzero(s, sizeof(s));
	explicit_bzero(w, sizeof(w));
}

void emu_compress(enum ocl_auth auth, u64 state[8], const u64 block[16])
{
	u64 w[16];

	if (auth <= OCL_AUTH_HMAC_SHA256) {
		compress32(auth, state, block);
		return;
	}
	memcpy(w, block, sizeof(w));
	sha512_compress(state, w);
	explicit_bzero(w, sizeof(w));
}

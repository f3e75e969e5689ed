/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file emu.h
 * The kernels as plain C: the reference of the self-test, the code that tests run
 * under sanitizers, and the primitives for key set-up.
 */
#ifndef EMU_H
#define EMU_H

#include "inc_types.h"

/**
 * Process one record, as work-items would.
 * @param areas   the chunk and the pools, 4-byte aligned
 * @param record  offset in the chunk, bytes
 * @param lanes   work-items that share it, if it is of that kind: 1, 2, 4 or 8
 * @return its enum ocl_status
 */
u32 emu_packet(const struct ocl_session *sessions, u8 *const areas[OCL_AREAS], u32 record,
	       u32 lanes);

/** The same for a packet with a head, which gets the status. Both are 4-byte aligned. */
void emu_head(const struct ocl_session *sessions, struct ocl_head *head, u32 lanes);

/** Encrypt one block with an expanded key. */
void emu_aes_encrypt(const u32 *round_key, u32 rounds, u32 block[4]);
u32 emu_aes_sub_word(u32 x);
u32 emu_aes_inv_mix_columns(u32 x);

/** Multiply in GHASH's field; high halves first. */
void emu_ghash_times(const u64 factor[2], u64 y[2]);

/** One step of a hash; for 32-bit hashes the words' low halves count. */
void emu_compress(enum ocl_auth auth, u64 state[8], const u64 block[16]);

#endif

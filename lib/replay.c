/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The replay window is a ring of 64-bit words with one spare word (RFC 6479).
 * Advancing the window clears words instead of shifting bits. */
#include "layout.h"

struct window {
	uint64_t *word;
	uint64_t words;
};

/* @return false if the file is damaged: the SA has no block for its window */
static bool find_window(struct cygnet_db *db, const struct cygnet_sa *sa, struct window *w)
{
	if (sa->replay_window <= REPLAY_INLINE_MAX) {
		*w = (struct window){(uint64_t *)sa->replay, REPLAY_INLINE_WORDS};
		return true;
	}
	if (sa->replay_block >= db->replay_blocks)
		return false;
	*w = (struct window){db->replay[sa->replay_block].word, REPLAY_BLOCK_WORDS};
	return true;
}

EXPORT uint64_t cygnet_replay_seq(const struct cygnet_sa *sa, uint32_t seq_lo)
{
	uint64_t top = load_relaxed(&sa->seq);
	uint32_t top_lo = (uint32_t)top, high = (uint32_t)(top >> 32);
	/* Without a window, choose the nearest number with these low bits. */
	uint32_t window = sa->replay_window ? sa->replay_window : 1u << 31;
	uint32_t bottom = top_lo - window + 1;

	if (!(sa->flags & CYGNET_SA_ESN))
		return seq_lo;
	if (top_lo >= window - 1) {
		/* Case A of RFC 4303, A2.2: the window is in one subspace of 2^32 numbers. */
		if (seq_lo < bottom)
			high++;
	} else if (seq_lo >= bottom && high) {
		/* Case B: the window begins in the previous subspace. */
		high--;
	}
	return (uint64_t)high << 32 | seq_lo;
}

EXPORT bool cygnet_replay_check(struct cygnet_db *db, const struct cygnet_sa *sa, uint64_t seq)
{
	struct window w;

	if (!sa->replay_window)
		return true;
	/* The first packet has number 1 (RFC 4303, 3.3.3), modulo 2^32 with ESN. */
	if (!seq || !find_window(db, sa, &w))
		return false;
	if (seq > sa->seq)
		return true;
	if (sa->seq - seq >= sa->replay_window)
		return false;
	return !(w.word[(seq >> 6) % w.words] >> (seq & 63) & 1);
}

/* Store the top before clearing words: if the process dies between, new packets
 * may be refused, but no replay is accepted. */
static void advance(struct cygnet_sa *sa, struct window *w, uint64_t seq)
{
	uint64_t from = sa->seq >> 6, n = (seq >> 6) - from;

	store_release(&sa->seq, seq);
	write_barrier();
	if (n > w->words)
		n = w->words;
	for (uint64_t i = 1; i <= n; i++)
		w->word[(from + i) % w->words] = 0;
}

EXPORT bool cygnet_replay_update(struct cygnet_db *db, struct cygnet_sa *sa, uint64_t seq)
{
	struct window w;

	if (!sa->replay_window) {
		if (seq > sa->seq)
			store_relaxed(&sa->seq, seq);
		return true;
	}
	if (!cygnet_replay_check(db, sa, seq) || !find_window(db, sa, &w))
		return false;
	if (seq > sa->seq)
		advance(sa, &w, seq);
	w.word[(seq >> 6) % w.words] |= 1ull << (seq & 63);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file entry.h
 * Entries of the SPD: all policies with one direction and selector. The policy that applies, by cygnet_policy_wins(), is in the
 * chain of its place. The others are in its list of users, best first, where lookups do not come. If the policy that
 * applies is removed, its first user takes its place. So children, peers and rekeyings with equal selectors make
 * no chain longer. cygnet_policy_sa_for() alone goes on to the users that are per CPU.
 *
 * An entry whose policy changes may move in its chain. Between the addition and the removal the change is counted, as
 * lookups expect (spd.c).
 *
 * The caller of any function holds the mutex.
 */
#ifndef CYGNET_ENTRY_H
#define CYGNET_ENTRY_H

#include "chain.h"
#include "place.h"

struct entry {
	struct place place;
	struct cygnet_policy *
		first; /* the policy that applies; NULL: no policy has this direction and selector */
	uint32_t *link; /* the reference in the chain that leads to it */
};

/** The entry of a valid selector. A change of policies with its place makes it invalid. */
struct entry entry_of(struct cygnet_db *db, enum cygnet_dir dir, const struct cygnet_selector *sel);
/** The policy behind another one in the list of users. @return NULL: there is none */
static inline struct cygnet_policy *entry_next(struct cygnet_db *db,
					       const struct cygnet_policy *policy)
{
	return chain_follow(db, &policy->user);
}
/** Put a policy into its entry_of(), and count the changes. */
void entry_add(struct cygnet_db *db, const struct entry *entry, struct cygnet_policy *policy);
/** Take a policy out of its entry_of(), and count the changes. @return whether lookups have
 * found it: it applied, or is per CPU */
bool entry_remove(struct cygnet_db *db, const struct entry *entry, struct cygnet_policy *policy);
/** Mend the entries after a writer died. A policy that is in a chain and in a list of users leaves the chain: the other
 * policy of its entry is still there.
 * @param[in,out] mark  a byte for each policy, 0 before; not 0 afterwards for each policy that is in an entry */
void entry_repair(struct cygnet_db *db, uint8_t *mark);

#endif

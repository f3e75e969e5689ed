/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tuple_list.h
 * Choose the tuple of its list that a policy is put into (tuple.h). The caller of any function holds the mutex.
 */
#ifndef CYGNET_TUPLE_LIST_H
#define CYGNET_TUPLE_LIST_H

#include "tuple.h"

/** The next tuple that may hold policies with a selector.
 * @param own    key of the selector
 * @param after  NULL: the first one
 * @return NULL: there is none */
struct tuple *tuple_list_next(struct tuple_list *list, struct tuple_key own, struct tuple *after);
/** The tuple for a new policy, see tuple.h. @return NULL if too many policies overlap */
struct tuple *tuple_list_choose(struct cygnet_db *db, const struct cygnet_policy_params *p);
/** Count a policy in its tuple. Called before the policy is in its chain: a lookup may probe a tuple without a
 * match, but must not skip one with a match. */
void tuple_list_enter(struct tuple *tuple, uint32_t priority);
/** Count a policy no longer in its tuple. Lookups need not visit emptied tuples at the end of a list. */
void tuple_list_leave(struct cygnet_db *db, const struct cygnet_policy *policy);
/** Empty the tuples of a list, and then set its count to 0: a tuple beyond the count has no policies. */
void tuple_list_forget(struct tuple_list *list);

#endif

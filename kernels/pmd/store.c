/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "store.h"
#include "table.h"

static struct ocl_store *the_store; /* NULL: no device is open */
static rte_spinlock_t the_store_lock = RTE_SPINLOCK_INITIALIZER;

static void destroy(struct ocl_store *store)
{
	if (store->read_on)
		explicit_bzero(store->entry, store->top * sizeof(*store->entry));
	else
		ocl_table_unmap(store->entry, store->bytes);
	free(store->free);
	free(store);
}

static struct ocl_store *create(uint32_t size)
{
	struct ocl_store *store = calloc(1, sizeof(*store));

	if (store == NULL)
		return NULL;
	rte_spinlock_init(&store->lock);
	store->size = store->nfree = size;
	store->bytes = size * sizeof(*store->entry);
	store->entry = ocl_table_map(store->bytes);
	store->free = calloc(size, sizeof(*store->free));
	if (store->entry == NULL || store->free == NULL) {
		destroy(store);
		return NULL;
	}
	/* Low slots first: they lie close together. */
	for (uint32_t i = 0; i < size; i++)
		store->free[i] = size - 1 - i;
	return store;
}

int ocl_store_get(struct ocl_store **store, uint32_t size)
{
	int err = 0;

	rte_spinlock_lock(&the_store_lock);
	if (the_store == NULL)
		the_store = create(size);
	if (the_store == NULL) {
		OCL_LOG(ERR, "max_sessions=%u: no %zu MiB of memory", size,
			size * sizeof(struct ocl_session) >> 20);
		err = -ENOMEM;
	} else if (the_store->size != size) {
		OCL_LOG(ERR,
			"max_sessions=%u: the devices of this driver share their sessions, and another one has max_sessions=%u",
			size, the_store->size);
		err = -EINVAL;
	} else {
		the_store->references++;
		*store = the_store;
	}
	rte_spinlock_unlock(&the_store_lock);
	return err;
}

void ocl_store_put(struct ocl_store *store)
{
	if (store == NULL)
		return;
	rte_spinlock_lock(&the_store_lock);
	if (--store->references == 0) {
		the_store = NULL;
		destroy(store);
	}
	rte_spinlock_unlock(&the_store_lock);
}

int ocl_store_join(struct ocl_store *store, struct ocl_table *table)
{
	int err = 0;

	rte_spinlock_lock(&store->lock);
	if (store->top)
		err = ocl_table_write(table, 0, store->entry, store->top, store->issued);
	if (!err) {
		table->next = store->tables;
		store->tables = table;
	}
	rte_spinlock_unlock(&store->lock);
	return err;
}

void ocl_store_leave(struct ocl_store *store, struct ocl_table *table)
{
	struct ocl_table **link = &store->tables;

	rte_spinlock_lock(&store->lock);
	while (*link && *link != table)
		link = &(*link)->next;
	if (*link)
		*link = table->next;
	store->read_on |= ocl_device_lost(table->dev);
	rte_spinlock_unlock(&store->lock);
}

/* Under the lock. */
static void write_to_all(struct ocl_store *store, uint32_t slot)
{
	store->issued++;
	for (struct ocl_table *table = store->tables; table; table = table->next)
		ocl_table_write(table, slot, &store->entry[slot], 1, store->issued);
}

int ocl_store_add(struct ocl_store *store, const struct ocl_table *table,
		  const struct ocl_session *entry, uint32_t *slot, uint64_t *upload)
{
	int err = 0;

	rte_spinlock_lock(&store->lock);
	if (store->nfree == 0) {
		err = -ENOSPC;
	} else {
		*slot = store->free[store->nfree - 1];
		store->top = RTE_MAX(store->top, *slot + 1);
		store->entry[*slot] = *entry;
		write_to_all(store, *slot);
		*upload = store->issued;
		if (ocl_device_lost(table->dev)) {
			explicit_bzero(&store->entry[*slot], sizeof(*entry));
			write_to_all(store, *slot);
			err = -EIO;
		} else {
			store->nfree--;
		}
	}
	rte_spinlock_unlock(&store->lock);
	return err;
}

void ocl_store_remove(struct ocl_store *store, uint32_t slot)
{
	rte_spinlock_lock(&store->lock);
	/* A pending upload of this entry then writes zeros: the session is not in use any more. */
	explicit_bzero(&store->entry[slot], sizeof(store->entry[slot]));
	write_to_all(store, slot);
	store->free[store->nfree++] = slot;
	rte_spinlock_unlock(&store->lock);
}

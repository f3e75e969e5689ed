/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_heap.h"

/** Initial capacity of a heap */
#define CAPACITY 64

typedef struct private_kernel_cygnet_heap_t private_kernel_cygnet_heap_t;

typedef struct {
	/** when the item is due */
	time_t due;
	/** the item */
	void *item;
} entry_t;

struct private_kernel_cygnet_heap_t {

	/**
	 * Public interface
	 */
	kernel_cygnet_heap_t public;

	/**
	 * Binary heap: no entry is due before its parent; the parent of entry i is
	 * entry (i - 1) / 2
	 */
	entry_t *entries;

	/**
	 * Number of entries
	 */
	u_int count;

	/**
	 * Number of entries allocated
	 */
	u_int capacity;
};

METHOD(kernel_cygnet_heap_t, put, void,
	private_kernel_cygnet_heap_t *this, time_t due, void *item)
{
	u_int i, parent;

	if (this->count == this->capacity)
	{
		this->capacity *= 2;
		this->entries = realloc(this->entries,
								this->capacity * sizeof(this->entries[0]));
	}
	for (i = this->count++; i; i = parent)
	{
		parent = (i - 1) / 2;
		if (this->entries[parent].due <= due)
		{
			break;
		}
		this->entries[i] = this->entries[parent];
	}
	this->entries[i] = (entry_t){ due, item };
}

METHOD(kernel_cygnet_heap_t, next, bool,
	private_kernel_cygnet_heap_t *this, time_t *due)
{
	if (!this->count)
	{
		return FALSE;
	}
	*due = this->entries[0].due;
	return TRUE;
}

METHOD(kernel_cygnet_heap_t, take, void*,
	private_kernel_cygnet_heap_t *this)
{
	u_int i, child;
	entry_t last;
	void *item;

	if (!this->count)
	{
		return NULL;
	}
	item = this->entries[0].item;
	last = this->entries[--this->count];
	for (i = 0; (child = 2 * i + 1) < this->count; i = child)
	{
		if (child + 1 < this->count &&
			this->entries[child + 1].due < this->entries[child].due)
		{
			child++;
		}
		if (last.due <= this->entries[child].due)
		{
			break;
		}
		this->entries[i] = this->entries[child];
	}
	this->entries[i] = last;
	return item;
}

METHOD(kernel_cygnet_heap_t, destroy, void,
	private_kernel_cygnet_heap_t *this)
{
	free(this->entries);
	free(this);
}

/*
 * Described in header.
 */
kernel_cygnet_heap_t *kernel_cygnet_heap_create(void)
{
	private_kernel_cygnet_heap_t *this;

	INIT(this,
		.public = {
			.put = _put,
			.next = _next,
			.take = _take,
			.destroy = _destroy,
		},
		.entries = malloc(CAPACITY * sizeof(entry_t)),
		.capacity = CAPACITY,
	);
	return &this->public;
}

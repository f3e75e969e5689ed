/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file inc_types.h
 * Shared by host and device: the session table and the packet records.
 *
 * A chunk is one buffer: records one after another, each 16-byte aligned and
 * followed by the packet's data that are not in a pool; behind the last one the
 * order table, one u32 a work-item: where its record starts, or OCL_NO_RECORD;
 * and behind that the results, one u32 a record. The host's scheduler decides the
 * order.
 */
#ifndef INC_TYPES_H
#define INC_TYPES_H

#include "inc_vendor.h"

#ifdef __OPENCL_VERSION__
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
#else
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

/* A session's label: its algorithms. Equal labels run the same instructions. */
#define OCL_LABEL(cipher, auth, flags) ((u32)(cipher) | (u32)(auth) << 8 | (u32)(flags) << 16)
#define OCL_LABEL_CIPHER(label)	       ((label)&0xff)
#define OCL_LABEL_AUTH(label)	       ((label) >> 8 & 0xff)
#define OCL_LABEL_FLAGS(label)	       ((label) >> 16 & (OCL_FLAGS - 1))
#define OCL_LABEL_DECRYPT(label)       ((label) >> 16 & OCL_DECRYPT)
#define OCL_LABEL_AUTH_FIRST(label)    ((label) >> 17 & 1)

/* Flags of a label. ESP encryption sets none of them, ESP decryption both. */
#define OCL_DECRYPT    1
#define OCL_AUTH_FIRST 2 /* cipher and auth: authenticate the cipher's input, not its output */
#define OCL_FLAGS      4

enum ocl_cipher {
	OCL_CIPHER_NONE,
	OCL_CIPHER_AES_CBC,
	OCL_CIPHER_AES_CTR,
	OCL_CIPHER_3DES_CBC,
	OCL_CIPHER_AES_GCM, /* from here on AEADs, without an enum ocl_auth */
	OCL_CIPHER_AES_CCM,
	OCL_CIPHER_CHACHA20_POLY1305,
	OCL_CIPHERS
};

/* AEADs encrypt and authenticate in one pass, with AAD. */
DECLSPEC bool ocl_is_aead(u32 cipher)
{
	return cipher >= OCL_CIPHER_AES_GCM;
}

enum ocl_auth {
	OCL_AUTH_NONE,
	OCL_AUTH_HMAC_MD5,
	OCL_AUTH_HMAC_SHA1,
	OCL_AUTH_HMAC_SHA256,
	OCL_AUTH_HMAC_SHA384,
	OCL_AUTH_HMAC_SHA512,
	OCL_AUTH_AES_XCBC,
	OCL_AUTH_AES_GMAC, /* with no cipher */
	OCL_AUTHS
};

/* Whether several work-items can share a packet's work; of a chain and of CCM, only the cipher. */
DECLSPEC bool ocl_is_parallel(u32 label)
{
	switch (OCL_LABEL_CIPHER(label)) {
	case OCL_CIPHER_AES_CBC:
		return OCL_LABEL_DECRYPT(label);
	case OCL_CIPHER_AES_CTR:
	case OCL_CIPHER_AES_GCM:
	case OCL_CIPHER_AES_CCM:
	case OCL_CIPHER_CHACHA20_POLY1305:
		return true;
	}
	return OCL_LABEL_AUTH(label) == OCL_AUTH_AES_GMAC;
}

enum ocl_status {
	OCL_STATUS_DONE,
	OCL_STATUS_AUTH_FAILED,
	OCL_STATUS_PENDING /* written by the host before the launch */
};

/*
 * An entry of the order table: a record's offset, a multiple of 16, and in its low
 * bits the number of lanes and the work-item's lane. The lanes of a packet are
 * a power of two of consecutive work-items of one work-group; more than one only if ocl_is_parallel().
 */
#define OCL_NO_RECORD		       0xffffffff /* this work-item has no packet */
#define OCL_MAX_LANES		       8
#define OCL_ENTRY(record, lane, lanes) ((record) | ((lanes)-1 + (lane)))
#define OCL_ENTRY_RECORD(entry)	       ((entry) & ~15u)
#define OCL_ENTRY_LANES(entry) \
	(((entry)&15) >= 7 ? 8u : ((entry)&15) >= 3 ? 4u : ((entry)&15) >= 1 ? 2u : 1u)
#define OCL_ENTRY_LANE(entry) (((entry)&15) + 1 - OCL_ENTRY_LANES(entry))

/* Areas that packets lie in: the chunk or one of the pools. */
#define OCL_POOLS      16
#define OCL_AREA_CHUNK 0
#define OCL_AREA_POOL  1 /* the first of OCL_POOLS */
#define OCL_AREAS      (OCL_AREA_POOL + OCL_POOLS)

#define OCL_ROUND_KEYS 96 /* 3DES: 48 round keys of 2 words; AES-256: 15 of 4 */
#define OCL_MAX_DIGEST 64

union ocl_mac_key {
	/* HMAC: states after the inner and the outer padded key, a word each,
	 * inner in [0..7], outer in [8..15]. */
	u64 state[16];
	/* GCM's and GMAC's hash key, high half first, then its square, and so on. */
	u64 h[2 * OCL_MAX_LANES];
	u32 xcbc[52]; /* the round keys of K1, then K2 and K3 */
};

/* One entry of the table in device memory, addressed by index. All zero: free. */
struct ocl_session {
	u32 label;
	u32 digest_len; /* bytes */
	u32 verify;	/* compare the digest, do not write it */
	u32 rounds;	/* of AES */
	u32 nonce_len;	/* of CCM, bytes */
	u32 reserved[3];
	union ocl_mac_key mac;
	u32 round_key[OCL_ROUND_KEYS]; /* of the direction for AES-CBC and 3DES-CBC */
	u32 reserved2[4];
};

/* One packet. */
struct ocl_record {
	u32 session;	/* index into the table */
	u32 result;	/* index into the results */
	u32 area;	/* where the packet lies */
	u32 base;	/* there, bytes */
	u32 cipher_off; /* bytes from base */
	u32 cipher_len;
	u32 auth_off; /* bytes from base; AEAD: the AAD's, from the chunk's start */
	u32 auth_len;
	u32 digest_area; /* OCL_AREA_CHUNK or the packet's own */
	u32 digest_off;	 /* there, bytes */
	u32 reserved[2];
	u32 iv[4]; /* bytes of the IV or nonce; the algorithm determines their number */
};

/*
 * A packet's IV, offsets, lengths and status, in the headroom of the packet's own buffer. If all packets of
 * a launch have a head and lie in consecutive rows of a pool (heads.h), only these rows are transferred: the
 * launch needs no chunk, no order table and no results. The AAD of an AEAD, OCL_HEAD_AAD() bytes, precedes the head.
 */
struct ocl_head {
	u32 iv[4];	/* bytes of the IV or nonce; the algorithm determines their number */
	u32 session;	/* from here on the head is transferred back */
	u16 cipher_off; /* bytes from the head */
	u16 cipher_len;
	u16 auth_off; /* bytes from the head; unused with an AEAD */
	u16 auth_len;
	u16 digest_off;
	u8 status; /* enum ocl_status; a byte, because heads are not aligned in the host's memory */
	u8 reserved;
};

#define OCL_HEAD_BACK	  16 /* bytes of a head that are not transferred back */
#define OCL_HEAD_AAD(len) (((u32)(len) + 3) & ~3u)
#define OCL_HEAD_RUNS	  2 /* two where the pool wraps around */

/* The kernel's argument for a launch with heads, as a uint8 in the kernel. Without rows it has records. */
struct ocl_head_rows {
	u32 first[OCL_HEAD_RUNS]; /* offset of a run's first head, bytes */
	u32 rows[OCL_HEAD_RUNS];
	u32 pitch; /* bytes from one head to the next */
	u32 lanes; /* work-items for each packet */
	u32 reserved[2];
};

/* Messages of the host to the persistent kernel. Volatile fields are atomic. */
#define OCL_LETTERS 1024 /* chunks that can be with the device; a power of two */

struct ocl_letter {
	u64 areas[OCL_AREAS]; /* addresses, the same on host and device */
	u32 order;	      /* offset in the chunk */
	u32 results;	      /* offset in the chunk */
	u32 items;	      /* entries of the order table */
	volatile u32 next;    /* the next entry to take */
	volatile u32 done;    /* entries finished */
	volatile u32 left;    /* work-groups that have finished reading the letter */
};

struct ocl_mailbox {
	volatile u32 posted; /* letters, ever */
	volatile u32 stop;
	u32 reserved[30]; /* so that the polled fields have a cache line of their own */
	struct ocl_letter letter[OCL_LETTERS];
};

#ifndef __OPENCL_VERSION__
_Static_assert(sizeof(struct ocl_letter) == 160, "the device's compiler must lay it out alike");
_Static_assert(sizeof(struct ocl_session) == 640, "the device's compiler must lay it out alike");
_Static_assert(sizeof(struct ocl_record) == 64, "the device's compiler must lay it out alike");
_Static_assert(sizeof(struct ocl_head) == 32, "the device's compiler must lay it out alike");
_Static_assert(sizeof(struct ocl_head_rows) == 32, "it is a uint8 to the device");
#endif

#endif

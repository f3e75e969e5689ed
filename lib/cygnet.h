/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file cygnet.h
 * The SAD, the SPD and the event ring in one shared-memory file.
 *
 * Two processes share the file. The *writer* is charon's plugin: it installs
 * SAs and policies, under a robust mutex in the file. The *dataplane* is
 * cygnetd: its lcores look up without locks, own the sequence and replay state
 * of the SAs they serve, and post events. Either process may be killed at any
 * instruction: the other continues, and a restarted one resumes from the file.
 *
 * Positions in the file are indices, never pointers. A slot that a writer has
 * deleted is reused only after every registered reader has reported a quiescent
 * state. Section numbers without an RFC number are those of RFC 4301.
 *
 * Unless said otherwise:
 * - a function returns 0 or a negative errno;
 * - an IPv4 address takes the first four bytes of struct cygnet_addr, the other
 *   twelve are zero;
 * - addresses, SPIs and UDP encapsulation ports are in network byte order;
 * - ports of selectors and flows are in host byte order.
 */
#ifndef CYGNET_H
#define CYGNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CYGNET_SADB_PATH "/run/cygnet/sadb"
/** Changes whenever the layout of the file changes. A file of another version is refused. */
#define CYGNET_ABI_VERSION 6

#define CYGNET_DEFAULT_SAS	65536u
#define CYGNET_DEFAULT_POLICIES 65536u
#define CYGNET_MAX_ENTRIES	(1u << 21)
/** Maximum number of registered readers: the lcores of one dataplane and its control thread. */
#define CYGNET_MAX_READERS 128
/** Maximum number of UDP ports that charon can register for IKE. */
#define CYGNET_IKE_PORTS 16
/** "No index": the end of a chain, or a policy without an SA. */
#define CYGNET_NONE UINT32_MAX

#define CYGNET_CACHE_LINE 64
#define CYGNET_ALIGNED	  __attribute__((aligned(CYGNET_CACHE_LINE)))

/* ---------------------------------------------------------------- types -- */

struct cygnet_db; /* an open file; one per process */

struct cygnet_addr {
	union {
		uint8_t bytes[16];
		uint32_t v4; /* network byte order */
		uint64_t words[2];
	};
};

/**
 * Make an IPv4 address with the unused bytes zero. An initializer of .v4 alone would leave
 * them undefined.
 * @param v4  network byte order
 */
static inline struct cygnet_addr cygnet_addr4(uint32_t v4)
{
	struct cygnet_addr addr = {.words = {0, 0}};

	addr.v4 = v4;
	return addr;
}

static inline bool cygnet_addr_is_zero(const struct cygnet_addr *addr)
{
	return !addr->words[0] && !addr->words[1];
}

/**
 * Compare two addresses as prefixes.
 * @param af  AF_INET or AF_INET6
 * @return    number of leading bits that a and b share, 0 to 32 or 128
 */
static inline unsigned int cygnet_addr_common(uint8_t af, const struct cygnet_addr *a,
					      const struct cygnet_addr *b)
{
	unsigned int bytes = af == AF_INET6 ? 16 : 4;

	for (unsigned int i = 0; i < bytes; i++) {
		unsigned int diff = a->bytes[i] ^ b->bytes[i];

		if (diff)
			return i * 8 + (unsigned int)__builtin_clz(diff) - 24;
	}
	return bytes * 8;
}

enum cygnet_dir { CYGNET_IN, CYGNET_OUT, CYGNET_FWD, CYGNET_DIRS };
enum cygnet_mode { CYGNET_TUNNEL, CYGNET_TRANSPORT };

enum cygnet_cipher {
	CYGNET_CIPHER_NULL,
	CYGNET_CIPHER_AES_CBC,
	CYGNET_CIPHER_AES_CTR,
	CYGNET_CIPHER_AES_GCM,
	CYGNET_CIPHER_AES_GMAC,
	CYGNET_CIPHER_AES_CCM,
	CYGNET_CIPHER_CHACHA20_POLY1305,
	CYGNET_CIPHER_3DES_CBC,
	CYGNET_CIPHER_DES_CBC, /* broken: MUST NOT be used (RFC 8221, 5) */
	CYGNET_CIPHERS
};

enum cygnet_auth {
	CYGNET_AUTH_NONE, /* an AEAD cipher, or ESP without integrity */
	CYGNET_AUTH_HMAC_SHA1,
	CYGNET_AUTH_HMAC_SHA256,
	CYGNET_AUTH_HMAC_SHA384,
	CYGNET_AUTH_HMAC_SHA512,
	CYGNET_AUTH_HMAC_MD5,
	CYGNET_AUTH_AES_XCBC,
	CYGNET_AUTH_AES_CMAC,
	CYGNET_AUTHS
};

/** Whether the DSCP is copied between inner and outer header (5.1.2); flags. */
enum cygnet_dscp { CYGNET_DSCP_COPY_OUT = 1, CYGNET_DSCP_COPY_IN = 2 };

enum cygnet_sa_flag {
	CYGNET_SA_INBOUND = 1u << 0,
	CYGNET_SA_ESN = 1u << 1,      /* 64-bit sequence numbers (RFC 4303, 2.2.1) */
	CYGNET_SA_COPY_DF = 1u << 2,  /* copy the inner DF bit to the outer header */
	CYGNET_SA_COPY_ECN = 1u << 3, /* copy ECN outwards, combine it inwards (RFC 6040) */
};

/** No CPU: an SA for packets of all of them. */
#define CYGNET_CPU_ANY (-1)
/** The highest number of a CPU that an SA can be for. */
#define CYGNET_CPU_MAX 65534u
/** The bits of cygnet_sa.flags above this one are the number of the SA's CPU + 1; 0: it is for all. */
#define CYGNET_SA_CPU_SHIFT 16

/** The bits of cygnet_sa_params.flags for an SA for one CPU (RFC 9611). @param cpu  CYGNET_CPU_MAX at the most */
static inline uint32_t cygnet_sa_cpu_flags(uint32_t cpu)
{
	return (cpu + 1) << CYGNET_SA_CPU_SHIFT;
}

#define CYGNET_KEY_MAX		 64
#define CYGNET_REPLAY_WINDOW_MAX 4096
/** Default range of cygnet_spi_reserve(); the same as charon's. Host byte order. */
#define CYGNET_SPI_MIN 0xc0000000u
#define CYGNET_SPI_MAX 0xcfffffffu

/** Identifies an SA (4.1). */
struct cygnet_sa_id {
	uint32_t spi;		/* network byte order */
	uint8_t proto;		/* IPPROTO_ESP or IPPROTO_AH */
	uint8_t af;		/* of the outer header: AF_INET or AF_INET6 */
	struct cygnet_addr dst; /* of the outer header */
};

/** Addresses and UDP encapsulation of an SA's outer header. MOBIKE and NAT change them. */
struct cygnet_path {
	struct cygnet_addr src, dst;
	uint16_t sport, dport; /* of UDP encapsulation, network byte order */
	uint8_t encap;	       /* 1: ESP in UDP (RFC 3948) */
	uint8_t af;	       /* AF_INET or AF_INET6 */
	uint8_t reserved[2];
};

/** Lifetime limits of an SA; 0 means no limit. The packet that reaches a hard limit is still
 * processed, as in Linux; all later ones are dropped. */
struct cygnet_lifetime {
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_packets, hard_packets;
	uint64_t soft_seconds, hard_seconds; /* after installation */
};

/** Parameters to install an SA. */
struct cygnet_sa_params {
	struct cygnet_sa_id id; /* id.dst and id.af must equal path.dst and path.af */
	struct cygnet_path path;
	uint32_t flags; /* enum cygnet_sa_flag, cygnet_sa_cpu_flags() */
	uint32_t reqid;
	uint8_t mode;		/* enum cygnet_mode */
	uint8_t cipher;		/* enum cygnet_cipher */
	uint8_t auth;		/* enum cygnet_auth */
	uint8_t dscp;		/* enum cygnet_dscp, ORed */
	uint8_t icv_len;	/* bytes, as sent */
	uint8_t cipher_key_len; /* bytes, without the salt */
	uint8_t salt_len;	/* bytes that follow the key in cipher_key */
	uint8_t auth_key_len;	/* bytes */
	uint32_t replay_window; /* packets; 0 switches replay protection off */
	uint16_t tfc;		/* pad inner packets to this many bytes; 0: no TFC padding */
	/* The interface that packets of the SA come in or leave by (if_id_in, if_id_out); 0: none. Tunnel mode only. */
	uint32_t if_id;
	struct cygnet_lifetime lifetime;
	uint8_t cipher_key[CYGNET_KEY_MAX];
	uint8_t auth_key[CYGNET_KEY_MAX];
};

/** Counters of an SA since its installation. */
struct cygnet_sa_usage {
	/* Length of the inner packets, as Linux counts it: in transport mode without the headers
	 * in front of ESP or AH. */
	uint64_t bytes;
	uint64_t packets;
	uint64_t use_time; /* last use, seconds of CLOCK_MONOTONIC; 0: never */
	uint64_t seq;	   /* last sequence number sent, or highest received */
	uint64_t replay_drops, auth_drops;
};

/** State of an SA slot or policy slot. */
enum cygnet_slot_state {
	CYGNET_SLOT_FREE,
	CYGNET_SLOT_LARVAL, /* SA slots only: the SPI is reserved, there are no keys yet */
	CYGNET_SLOT_LIVE,
	CYGNET_SLOT_RETIRED, /* deleted, but readers may still have pointers to it */
};

/**
 * An SA slot of the file (4.4.2). Public because the lcores read it in place.
 * A writer fills it before it publishes it. After that only fields marked
 * atomic or with an owner change. Fields marked "library" are not for users.
 */
struct cygnet_sa {
	/* Read by every lookup. */
	uint32_t state;	     /* enum cygnet_slot_state; atomic */
	uint32_t generation; /* increases whenever the slot is given to another SA */
	uint32_t next;	     /* next in the hash chain; atomic; library */
	uint32_t spi;	     /* network byte order */
	uint32_t reqid;
	uint32_t flags;		/* enum cygnet_sa_flag; cygnet_sa_cpu() */
	uint32_t path_index;	/* path[path_index & 1] is in force; atomic */
	uint32_t replay_window; /* packets; 0: no replay protection */
	uint32_t replay_block;	/* index in the pool of large windows, or CYGNET_NONE; library */
	uint16_t tfc;		/* bytes; 0: no TFC padding */
	uint8_t proto, mode, cipher, auth, dscp;
	uint8_t icv_len, cipher_key_len, salt_len, auth_key_len;
	uint8_t reserved0;
	uint32_t if_id; /* as cygnet_sa_params.if_id */
	/* Outbound: path MTU in bytes << 48 | second at which a router reported it; 0: the link's
	 * MTU applies; atomic, written by any lcore. */
	uint64_t path_mtu;

	struct cygnet_path path[2] CYGNET_ALIGNED;
	uint32_t link; /* next in the free list or in the queue of retired slots; library */
	uint32_t reserved1;
	uint64_t epoch; /* of retirement, or of the last path change; library */
	uint8_t reserved5[32];

	uint8_t cipher_key[CYGNET_KEY_MAX] CYGNET_ALIGNED;
	uint8_t auth_key[CYGNET_KEY_MAX];

	/* Written only by the lcore that owns the SA or, by atomic operations, by those that share an outbound
	 * one. This cache line has all that each packet changes. */
	uint64_t seq CYGNET_ALIGNED; /* last number reserved (out), top of the window (in) */
	uint64_t replay[4];	     /* ring of 64-bit words for windows of up to 192 packets */
	uint64_t bytes, packets;     /* as in struct cygnet_sa_usage */
	uint64_t use_time;	     /* last use, seconds of CLOCK_MONOTONIC; 0: never */

	/* Written only by the lcore that owns the SA. */
	uint64_t replay_drops CYGNET_ALIGNED;
	uint64_t auth_drops;
	uint32_t expired; /* enum cygnet_expire bits raised; atomic; also by the control thread */
	uint8_t reserved2[44];

	struct cygnet_lifetime lifetime CYGNET_ALIGNED;
	uint64_t install_time; /* seconds of CLOCK_MONOTONIC */
	uint8_t reserved4[8];
} CYGNET_ALIGNED;
_Static_assert(sizeof(struct cygnet_sa) == 512, "an SA takes eight cache lines");

/** The number of the CPU that an SA is for (RFC 9611), or CYGNET_CPU_ANY. Also of a copy. */
static inline int cygnet_sa_cpu(const struct cygnet_sa *sa)
{
	return (int)(sa->flags >> CYGNET_SA_CPU_SHIFT) - 1;
}

/** Limits that an SA has reached; flags. */
enum cygnet_expire { CYGNET_EXPIRE_SOFT = 1, CYGNET_EXPIRE_HARD = 2 };

/** The selector of a policy (4.4.1.1). Ranges are inclusive. */
struct cygnet_selector {
	struct cygnet_addr src_lo, src_hi, dst_lo, dst_hi;
	uint16_t sport_lo, sport_hi; /* ICMP and ICMPv6: type */
	uint16_t dport_lo, dport_hi; /* ICMP and ICMPv6: code */
	uint32_t interface;	     /* cygnet_interface(); 0: any; or an interface ID */
	uint8_t af;		     /* AF_INET or AF_INET6 */
	uint8_t proto;		     /* 0: any */
	/* 1: interface is an interface ID (if_id_in, if_id_out), not 0. Flows of the interface with that ID match only policies
	 * with it, and others do not match these. */
	uint8_t by_if_id;
	uint8_t reserved;
};

enum cygnet_action { CYGNET_PROTECT, CYGNET_BYPASS, CYGNET_DISCARD };

/** Parameters to install or remove a policy. All fields but per_cpu identify it. */
struct cygnet_policy_params {
	struct cygnet_selector sel;
	uint32_t priority; /* the policy with the lowest value applies */
	/* Of policies with equal priority the one with the lowest rank applies; of policies with
	 * equal rank the newest. */
	uint32_t rank;
	uint32_t reqid;
	uint32_t spi;	/* of the policy's SA, network byte order; 0: none (a trap) */
	uint8_t dir;	/* enum cygnet_dir */
	uint8_t action; /* enum cygnet_action */
	uint8_t proto;	/* with CYGNET_PROTECT: IPPROTO_ESP or IPPROTO_AH */
	uint8_t mode;	/* enum cygnet_mode */
	/* Outer addresses of the policy's SA; zero: any. If no policy has these addresses, cygnet_policy_delete()
	 * removes one with other addresses: MOBIKE can change them between installation and removal. */
	uint8_t af;
	/* 1: outbound, and of one of several SAs with the same selector and reqid, each for one CPU, or the one for all
	 * (RFC 9611). See cygnet_policy_sa_for(). */
	uint8_t per_cpu;
	struct cygnet_addr src, dst;
};

/** A policy slot of the file. A writer fills it before it publishes it. After that only fields
 * marked atomic or with an owner change. Fields marked "library" are not for users. */
struct cygnet_policy {
	struct cygnet_selector sel;
	uint32_t priority;
	uint32_t reqid;	     /* 0 once the policy is held; atomic */
	uint32_t spi;	     /* 0 once the policy is held; atomic */
	uint32_t next;	     /* next in the hash chain; atomic; library */
	uint32_t generation; /* increases whenever the slot is given to another policy */
	uint32_t state;	     /* enum cygnet_slot_state; atomic */
	uint32_t user;	     /* next policy with the same direction and selector; library */
	uint32_t refs;	     /* number of installs; written by the writer */
	uint8_t dir, action, proto, mode;
	uint32_t link;	/* next in the free list or in the queue of retired slots; library */
	uint64_t epoch; /* of retirement; library */

	uint64_t use_time CYGNET_ALIGNED; /* seconds of CLOCK_MONOTONIC; atomic, any lcore */
	/* Outbound: generation << 32 | index of its SA; all: CYGNET_POLICY_HELD; atomic. */
	uint64_t sa;
	uint64_t order; /* install counter: between equal ranks the highest applies */
	uint32_t rank;
	uint8_t af; /* of src and dst, the outer addresses of its SA */
	uint8_t reserved1;
	uint16_t per_cpu; /* see cygnet_policy_per_cpu(); library */
	struct cygnet_addr src, dst;
} CYGNET_ALIGNED;
_Static_assert(sizeof(struct cygnet_policy) == 192, "a policy takes three cache lines");

/** cygnet_policy.sa of a held policy: no SA has this index. */
#define CYGNET_POLICY_HELD (1ull << 32 | CYGNET_NONE)

/**
 * Whether a policy is held: a policy of a charon that died or stopped, or of the last boot, that has not been replaced yet.
 * Packets that match it are dropped, whatever its action, and raise no acquire.
 */
static inline bool cygnet_policy_held(const struct cygnet_policy *policy)
{
	return __atomic_load_n(&policy->sa, __ATOMIC_ACQUIRE) == CYGNET_POLICY_HELD;
}

/** Whether a policy can be held: a bypass protects nothing, and an interface with an ID passes nothing without a policy. */
static inline bool cygnet_policy_may_be_held(uint8_t action, const struct cygnet_selector *sel)
{
	return action != CYGNET_BYPASS && !sel->by_if_id;
}

/** Set in cygnet_policy.per_cpu, beside the other bits of the policy's generation. */
#define CYGNET_POLICY_PER_CPU 0x8000u

/**
 * Whether a policy was installed with cygnet_policy_params.per_cpu. Also of a copy. Without the generation the mark would be
 * that of an earlier policy where an older library has installed the policy.
 */
static inline bool cygnet_policy_per_cpu(const struct cygnet_policy *policy)
{
	return policy->per_cpu &&
	       policy->per_cpu == (uint16_t)(policy->generation | CYGNET_POLICY_PER_CPU);
}

/**
 * Identifier of an interface in selectors and flows: a hash of its name. The index is not used because a TAP that
 * is created again has another index, but policies bound to its name must apply.
 * @param name  the kernel's name of the interface
 * @return      FNV-1a of the name, never 0; the SPD cannot tell apart names with the same hash
 */
static inline uint32_t cygnet_interface(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return hash ? hash : 1;
}

/** Whether a range of ports is not that of all. */
static inline bool cygnet_restricts(uint16_t lo, uint16_t hi)
{
	return lo != 0 || hi != UINT16_MAX;
}

/** Whether a selector restricts ports; with ICMP type or code. */
static inline bool cygnet_restricts_ports(const struct cygnet_selector *sel)
{
	return cygnet_restricts(sel->sport_lo, sel->sport_hi) ||
	       cygnet_restricts(sel->dport_lo, sel->dport_hi);
}

/** The selectors of one packet. */
struct cygnet_flow {
	struct cygnet_addr src, dst;
	uint16_t sport, dport; /* host byte order; ICMP: type and code; 0 without ports */
	uint32_t interface;    /* cygnet_interface() of the input (CYGNET_OUT: output); 0: none */
	uint8_t af, proto;
	uint8_t has_ports; /* 0: a non-initial fragment, matches only policies for any port */
	uint8_t fragment;  /* 1: a fragment, initial or not; not used by policy lookups */
	/* 1: interface is the interface ID of an interface that SAs have. A packet of such a flow that no policy protects is not
	 * to pass: policies with an ID are not held (cygnet_db_hold()). */
	uint8_t by_if_id;
	uint8_t reserved[3];
};

/* ------------------------------------------------------------- the file -- */

/** How to open the file; flags. */
enum cygnet_open {
	CYGNET_OPEN_ON_DISK = 1u << 0, /* also on a file system that is not in memory */
};

struct cygnet_geometry {
	uint32_t sas;	   /* slots; 1 to CYGNET_MAX_ENTRIES */
	uint32_t policies; /* slots; 1 to CYGNET_MAX_ENTRIES */
};

/**
 * Open the file. If it is missing, create it, and its folder with mode 0700.
 *
 * A folder of mode 2750 (set-group-ID) that belongs to root or the caller's user
 * shares the file with its group: a new file there has that group and mode 0660.
 * In any other folder a new file has mode 0600.
 *
 * An existing file keeps its geometry. It must be a regular file of the caller's
 * user with mode 0600, or one of root or the caller's user that such a folder shares.
 * A file is refused if it is on a file system that is not in memory, or is damaged. A file of
 * an earlier boot may have older sequence numbers than those sent, and one of another version
 * (CYGNET_ABI_VERSION, older or newer) cannot be read: it is replaced by a new file, or
 * refused if a process uses it or create is NULL. The
 * mapping is excluded from core dumps and from forked children; a child must not use
 * the handle. Any thread.
 *
 * @param path    NULL: CYGNET_SADB_PATH
 * @param create  geometry for a new file; NULL: do not create
 * @param flags   enum cygnet_open, ORed
 * @param db      set on success, otherwise NULL; close with cygnet_db_close()
 * @param error   receives a message that names the file and the reason; on success, what an
 *                administrator should know, such as that the file was replaced, or "".
 *                May be NULL
 * @param size    of error, bytes
 * @return        0; -ENOENT, -EPERM, -EPROTO (another ABI version), -EBADMSG
 *                (damaged), -EINVAL (geometry), -EMEDIUMTYPE (not in memory), -ESTALE (of
 *                another boot), -EBUSY (of another boot or version, but a process holds a
 *                role), or another -errno
 */
int cygnet_db_open_flags(const char *path, const struct cygnet_geometry *create, unsigned int flags,
			 struct cygnet_db **db, char *error, size_t size);
/** cygnet_db_open_flags() without flags. */
int cygnet_db_open(const char *path, const struct cygnet_geometry *create, struct cygnet_db **db,
		   char *error, size_t size);
/** Close the file and give up all roles. No other thread may be using db. @param db may be NULL */
void cygnet_db_close(struct cygnet_db *db);
/**
 * Whether cygnet_db_open_flags() with a geometry would find a file of another version that a
 * process uses. Nothing is changed. Any thread.
 * @param path,error,size  as of cygnet_db_open_flags()
 * @return                 0; -EBUSY: it would; or another -errno
 */
int cygnet_db_check_version(const char *path, char *error, size_t size);
/**
 * Remove a damaged file, so that a new one can be created. Files that are not
 * Cygnet SAD/SPD files are not removed. Any thread.
 * @param path    NULL: CYGNET_SADB_PATH
 * @param error   receives a message that names the file and the reason; may be NULL
 * @param size    of error, bytes
 * @return        0; -EBUSY (a process holds a role), -EBADMSG (not a Cygnet
 *                SAD/SPD file), -ESTALE (replaced meanwhile), -ENOENT, -EPERM, or
 *                another -errno
 */
int cygnet_db_remove(const char *path, char *error, size_t size);

/** State of the whole file. */
struct cygnet_db_info {
	const char *path;
	uint64_t size; /* bytes of file */
	struct cygnet_geometry geometry;
	uint32_t sas, policies;			    /* slots in use: larval and live */
	uint32_t sas_waiting, policies_waiting;	    /* slots deleted, but not yet wiped and free */
	uint32_t replay_blocks, replay_blocks_free; /* replay windows larger than 192 packets */
	int charon_pid, dataplane_pid;		    /* holders of the roles; 0: not held */
	uint64_t recoveries; /* repairs after the death of a writer, since creation */
};
/** Read the state of the file. Any thread. @param[out] info path is valid until db is closed */
void cygnet_db_info(struct cygnet_db *db, struct cygnet_db_info *info);

/** A role is exclusive. A process holds it until it closes the file or dies. */
enum cygnet_role { CYGNET_ROLE_CHARON, CYGNET_ROLE_DATAPLANE, CYGNET_ROLES };

/**
 * Take a role. Taking a role that the caller holds already changes nothing.
 *
 * Taking CYGNET_ROLE_CHARON unregisters all IKE ports. Taking CYGNET_ROLE_DATAPLANE puts all
 * readers offline and clears cygnet_sa.expired, because expiries raised by the previous
 * dataplane may never have been posted. One thread at a time.
 *
 * @return 0, -EBUSY if another process holds the role (see cygnet_db_info()), -ESTALE if the
 *         file has been removed or replaced since it was opened, -EINVAL, or another -errno
 */
int cygnet_role_take(struct cygnet_db *db, enum cygnet_role role);
/** Map all pages of the file into this process. cygnet_role_take() does this, too; a call before it saves that time. */
void cygnet_db_populate(struct cygnet_db *db);
/** Keep the SAs, and with them all keys, out of swap as long as this process has the file open.
 * @return 0 or -errno: CAP_IPC_LOCK or a larger RLIMIT_MEMLOCK is needed */
int cygnet_db_lock(struct cygnet_db *db);
/** Release a role, so that another process can take it; without effect if the caller does not hold it. The
 * readers of CYGNET_ROLE_DATAPLANE are offline. One thread at a time. */
void cygnet_role_release(struct cygnet_db *db, enum cygnet_role role);
/** Whether this or another process holds a role. Any thread; costs a system call if it is not
 * this process. */
bool cygnet_role_held(struct cygnet_db *db, enum cygnet_role role);

/** What one side says so that the other can rely on it, until it takes it back or dies. */
enum cygnet_mark {
	CYGNET_MARK_SERVING, /* dataplane: the kernel does not take packets of its ports past the policies */
	CYGNET_MARK_CLOSED, /* charon: the kernel drops what policies protect, or is not to */
	CYGNET_MARKS
};

/** Make or take back a mark. Several processes may have made it, as in a takeover. One thread at a time.
 * @return 0, -EINVAL, or another -errno */
int cygnet_mark_set(struct cygnet_db *db, enum cygnet_mark mark, bool made);
/** Whether another process has made a mark. Any thread; costs a system call. */
bool cygnet_mark_made(struct cygnet_db *db, enum cygnet_mark mark);

/* ----------------------------------------------- writer API: charon's plugin -- */
/* Thread-safe. Each call takes the robust mutex of the file. If the owner of the mutex died,
 * the call repairs the databases first. */

/**
 * Reserve a random SPI that no SA of the file uses, whatever its destination. The reservation
 * is a larval inbound SA.
 * @param proto    IPPROTO_ESP or IPPROTO_AH
 * @param af       AF_INET or AF_INET6
 * @param dst      destination of the SA's outer header, of family af
 * @param min,max  host byte order, inclusive, at least 256; 0: CYGNET_SPI_MIN, CYGNET_SPI_MAX
 * @param[out] spi network byte order
 * @return         0, -ENOSPC (no free slot), -ENOENT (all SPIs of the range are in use), -EINVAL,
 *                 or -EIO (no random numbers from the kernel)
 */
int cygnet_spi_reserve(struct cygnet_db *db, uint8_t proto, uint8_t af,
		       const struct cygnet_addr *dst, uint32_t min, uint32_t max, uint32_t *spi);

/**
 * Install an SA; readers find it when the call returns. If cygnet_spi_reserve() has reserved
 * the id, the larval SA becomes live.
 * @return 0, -EEXIST (a live SA has the id, or the id is reserved and this SA is outbound),
 *         -ENOSPC (no free slot or replay window), -EOPNOTSUPP (an interface ID, in a file of a version that had none), or
 *         -EINVAL (a length or enum out of range)
 */
int cygnet_sa_add(struct cygnet_db *db, const struct cygnet_sa_params *params);

/**
 * Change the outer addresses, of either family, ports or encapsulation of an SA (RFC 4555,
 * RFC 3947). The dst and af of its id change with the path. Sequence number, replay state,
 * counters, lifetimes and keys stay.
 * @param path   the new path
 * @param reqid  the new reqid; 0: unchanged
 * @return 0, -ENOENT (no live SA has the id), -EEXIST (another SA has the new id), -EINVAL
 *         (family or addresses of the path), or -EAGAIN (readers may still use the path before
 *         the last update; try again in a millisecond)
 */
int cygnet_sa_update(struct cygnet_db *db, const struct cygnet_sa_id *id,
		     const struct cygnet_path *path, uint32_t reqid);

/** Delete an SA or a reserved SPI. Its keys are wiped as soon as no reader can have a pointer to
 * it. @return 0 or -ENOENT */
int cygnet_sa_delete(struct cygnet_db *db, const struct cygnet_sa_id *id);

/** Release an SPI that cygnet_spi_reserve() has reserved. A live SA is not deleted.
 * @return 0 or -ENOENT (no larval SA has the id) */
int cygnet_spi_release(struct cygnet_db *db, const struct cygnet_sa_id *id);
/** Whether an SPI is reserved: cygnet_spi_reserve() has reserved it, and it has got no SA. */
bool cygnet_spi_reserved(struct cygnet_db *db, const struct cygnet_sa_id *id);
/** Read the counters of an SA. @return 0 or -ENOENT (no live SA has the id) */
int cygnet_sa_query(struct cygnet_db *db, const struct cygnet_sa_id *id,
		    struct cygnet_sa_usage *usage);

/**
 * Install a policy. If the same policy is installed already, count one more install. An
 * outbound policy with an SPI uses the SA with that SPI, proto, af and dst.
 *
 * Any number of policies can have the same direction and selector; the best of them applies: that with the lowest
 * priority value, then the lowest rank, then the newest. When it is deleted, the next one applies at once. Lookups visit only
 * the policies that apply and whose prefixes cover the flow's addresses, see lib/place.h.
 *
 * @return 0, -EINVAL, -EOPNOTSUPP (an interface ID, in a file of a version that had none), or -ENOSPC (no free slot)
 */
int cygnet_policy_add(struct cygnet_db *db, const struct cygnet_policy_params *params);
/** Undo one cygnet_policy_add(). @return 0, -ENOENT, or -EINVAL */
int cygnet_policy_delete(struct cygnet_db *db, const struct cygnet_policy_params *params);
/**
 * Read when a selector was last used.
 * @param[out] use_time  seconds of CLOCK_MONOTONIC, the latest of all policies with this
 *                       direction and selector; 0: never
 * @return               0, -ENOENT, or -EINVAL
 */
int cygnet_policy_query(struct cygnet_db *db, enum cygnet_dir dir,
			const struct cygnet_selector *sel, uint64_t *use_time);

/** The policies with one direction and selector. Held ones do not count. */
struct cygnet_policy_entry {
	uint32_t installs;		   /* calls of cygnet_policy_add() that are not undone */
	struct cygnet_policy_params first; /* the policy that applies */
};
/** Read the policies of a selector. Any thread may call this. @return 0, -ENOENT, or -EINVAL */
int cygnet_policy_entry(struct cygnet_db *db, enum cygnet_dir dir,
			const struct cygnet_selector *sel, struct cygnet_policy_entry *entry);

/**
 * Register a local UDP port for IKE: IKE packets to and from it bypass the SPD (4.4.1). While no port is
 * registered, 500 and 4500 are IKE ports. cygnet_db_flush() and taking CYGNET_ROLE_CHARON unregister all ports.
 * @param af    of the socket, AF_INET or AF_INET6
 * @param port  host byte order
 * @param natt  ESP in UDP is received there as well, and IKE packets start with the non-ESP
 *              marker (RFC 3948, 2). Registering the port again without natt does not undo it.
 * @return      0, -EINVAL (family; port 0; natt with port 500, where IKE has no marker), or
 *              -ENOSPC (CYGNET_IKE_PORTS other ports are registered)
 */
int cygnet_ike_open(struct cygnet_db *db, uint8_t af, uint16_t port, bool natt);

/** Seconds for which an address stays noted: for longer than a packet waits between charon and the dataplane. */
#define CYGNET_IKE_SENT_S 10u
/** From now on this process notes each address that it sends IKE to before it sends: then IKE to other addresses does
 * not bypass the SPD. CYGNET_ROLE_CHARON is held. */
void cygnet_ike_notes(struct cygnet_db *db);
/**
 * Note that charon sends IKE to an address. If there is no room, the address that was noted longest ago makes it. There
 * is room for a quarter as many as for SAs, and at least for 1024. Without effect in a file of a version that had no such room.
 * CYGNET_ROLE_CHARON is held. One thread at a time.
 * @param af   AF_INET or AF_INET6
 * @param now  seconds of CLOCK_MONOTONIC
 */
void cygnet_ike_note(struct cygnet_db *db, uint8_t af, const struct cygnet_addr *dst, uint32_t now);

/** Remove all SAs, policies, IKE ports and pending events of a charon that died. @return 0 */
int cygnet_db_flush(struct cygnet_db *db);
/**
 * As cygnet_db_flush(), but policies of which cygnet_policy_may_be_held() says so are held: they stay with their priority, without
 * SA and reqid, until cygnet_policy_add() installs a policy with their direction and selector, or
 * cygnet_hold_end() is called. cygnet_policy_delete() does not find them. @return 0
 */
int cygnet_db_hold(struct cygnet_db *db);
/** Priority of the held policies for all packets, whose priority no policy of charon has: what protects which packets is not
 * known. */
#define CYGNET_PRIORITY_LAST UINT32_MAX
/**
 * Install a held policy before charon runs, or as charon. Its reqid and SPI are ignored. The dataplane may call this, too.
 * @param params  as cygnet_policy_may_be_held() allows
 * @return        0, -EEXIST (there is a policy with this direction and selector), -EBUSY
 *                (another process holds CYGNET_ROLE_CHARON), -ENOSPC (no free slot), or -EINVAL
 */
int cygnet_policy_hold(struct cygnet_db *db, const struct cygnet_policy_params *params);
/** Remove the held policies with a direction and selector. Any thread. @return number of policies removed */
unsigned int cygnet_policy_release(struct cygnet_db *db, enum cygnet_dir dir,
				   const struct cygnet_selector *sel);
/** Remove all held policies. @return number of policies removed */
unsigned int cygnet_hold_end(struct cygnet_db *db);
/**
 * Wipe and free retired slots that no reader can have a pointer to. Other writer calls do this as well, so call
 * this function if no other writer call may follow soon. The dataplane calls it while CYGNET_ROLE_CHARON is not
 * held.
 * @return number of slots that are still retired
 */
unsigned int cygnet_db_reclaim(struct cygnet_db *db);

/* ------------------------------------------------ reader API: the dataplane -- */
/* The caller is a registered reader. Calls take no lock and make no system call. Their time is
 * bounded by the length of a hash chain; a policy lookup is repeated if the SPD changes while it
 * runs. Returned pointers are valid until the reader's next quiescent state; keep index and
 * generation beyond that. */

/**
 * Register a reader. From now on it must report quiescent states, or go offline.
 * @param id  0 to CYGNET_MAX_READERS - 1, one for each thread
 * @return    0, -EINVAL, or -EPERM (the process does not hold CYGNET_ROLE_DATAPLANE)
 */
int cygnet_reader_online(struct cygnet_db *db, unsigned int id);
/** Unregister a reader. It holds no pointer into the databases. */
void cygnet_reader_offline(struct cygnet_db *db, unsigned int id);
/** Report a quiescent state: the reader holds no pointer into the databases. */
void cygnet_reader_quiescent(struct cygnet_db *db, unsigned int id);

/**
 * Find the SA of a received packet (4.4.2.1).
 * @param spi  network byte order
 * @param dst  destination of the outer header, of family af
 * @return     the live inbound SA, or NULL
 */
struct cygnet_sa *cygnet_sad_lookup(struct cygnet_db *db, uint32_t spi, uint8_t proto, uint8_t af,
				    const struct cygnet_addr *dst);
/**
 * Whether received packets with an SPI have an SA, or are to get one: the SPI is reserved, and the peer may use it before the
 * SA is installed.
 * @param spi,dst  as for cygnet_sad_lookup()
 */
bool cygnet_sad_expects(struct cygnet_db *db, uint32_t spi, uint8_t proto, uint8_t af,
			const struct cygnet_addr *dst);
/**
 * Find the SA of a packet that has been sent, such as one quoted in an ICMP error. It may miss an SA
 * that is being moved to another address, or one beside it.
 * @return  the live outbound SA, or NULL
 */
struct cygnet_sa *cygnet_sad_lookup_out(struct cygnet_db *db, uint32_t spi, uint8_t proto,
					uint8_t af, const struct cygnet_addr *dst);
/**
 * Find the policy that applies to a packet: of all policies that match, the first by priority, rank and age. A
 * lookup sees one consistent state of the SPD, or, if policies change faster than it can look at them, returns a
 * held policy of no slot.
 * @return  NULL if no policy matches
 */
struct cygnet_policy *cygnet_spd_lookup(struct cygnet_db *db, enum cygnet_dir dir,
					const struct cygnet_flow *flow);
/** Whether any policy selects by ports. If so, no policy can be found for a non-initial fragment,
 * which has no ports (7). */
bool cygnet_spd_uses_ports(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af);
/** Whether any policy selects by protocol or ports. If so, no policy can be found for a
 * non-initial IPv6 fragment, whose protocol is unknown. */
bool cygnet_spd_uses_protocols(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af);
/** Whether any policy ever was bound to an interface. If not, cygnet_flow.interface may be 0 of flows without by_if_id. */
bool cygnet_spd_binds(struct cygnet_db *db);
/**
 * Counter that increases with each change of the SPD, also when a policy gets another SA. As long
 * as it has the value read before a lookup, a lookup finds the same policy, and the policy refers
 * to the same SA. The SA may have been deleted.
 */
uint64_t cygnet_spd_changes(struct cygnet_db *db);
/**
 * Counter that changes when a policy is added, deleted or gets another SA, and when an SA is
 * deleted or moved. A reader may cache the result of a lookup, pointers included, beyond quiescent
 * states as long as the counter has the value read before the lookup. It must read the counter
 * after each quiescent state.
 */
uint64_t cygnet_db_changes(struct cygnet_db *db);
/** Number of changes whose scopes the file remembers. */
#define CYGNET_SCOPES 90u
/** The scope of a change that may concern any SA and any flow. */
#define CYGNET_SCOPE_ALL 0
/** Number of scopes of a flow. */
#define CYGNET_FLOW_SCOPES 8u
/**
 * The scopes of the changes between two values of cygnet_db_changes(). The result of a lookup is unchanged unless
 * one of them is CYGNET_SCOPE_ALL or a scope of the result: cygnet_flow_scopes() for SPD lookups, cygnet_sa_scope()
 * for an SA.
 * @param from   the value when the result was looked up, or later
 * @param to     a value read after it
 * @param scope  receives one for each change that lookups can see, or CYGNET_SCOPE_ALL if that is not known
 * @return       number of scopes
 */
unsigned int cygnet_db_changed(struct cygnet_db *db, uint64_t from, uint64_t to,
			       uint16_t scope[CYGNET_SCOPES]);
/** The scopes of all changes of policies that can match packets with these addresses, in any direction, with any
 * other selectors. Different prefixes may have the same scope. @param af  of src and dst */
void cygnet_flow_scopes(const struct cygnet_db *db, uint8_t af, const struct cygnet_addr *src,
			const struct cygnet_addr *dst, uint16_t scope[CYGNET_FLOW_SCOPES]);
/** The scope of deleting or moving the SA in a slot. Different slots may have the same scope. */
uint16_t cygnet_sa_scope(uint32_t index);
/** The index of a policy's slot, or CYGNET_NONE if it has none. */
uint32_t cygnet_policy_index(const struct cygnet_db *db, const struct cygnet_policy *policy);
/** The live outbound SA of a policy. @return NULL if there is none yet or it has been deleted */
struct cygnet_sa *cygnet_policy_sa(struct cygnet_db *db, const struct cygnet_policy *policy);
/** cygnet_policy_sa_for() has found the SA that the worker should have. */
#define CYGNET_WANTS_NOTHING (-2)
/**
 * The live outbound SA of a policy for one of several workers. CPU c stands for worker c % workers. For a policy that is not
 * per CPU the SA is that of cygnet_policy_sa(). Otherwise it is the first that there is of: an SA for the worker; the SA for
 * all CPUs; an SA for another worker. Of several it is the newest. At most 256 SAs are looked at.
 * @param policy      of cygnet_spd_lookup()
 * @param worker      0 to workers - 1; CYGNET_NONE: none of them, which wants nothing
 * @param workers     1 or more
 * @param[out] wants  the CPU of an SA that is missing: worker, or CYGNET_CPU_ANY, for which another one is returned;
 *                    otherwise CYGNET_WANTS_NOTHING
 * @return            NULL if there is none yet or all have been deleted
 */
struct cygnet_sa *cygnet_policy_sa_for(struct cygnet_db *db, const struct cygnet_policy *policy,
				       uint32_t worker, uint32_t workers, int *wants);

/** What a UDP port is used for. */
enum cygnet_ike {
	CYGNET_IKE_NONE,  /* not for IKE */
	CYGNET_IKE_PLAIN, /* for IKE only, without non-ESP marker */
	CYGNET_IKE_ENCAP, /* for ESP in UDP, keepalives, and IKE with the marker (RFC 3948, 2) */
};
/**
 * What a local UDP port is used for, by the ports registered with cygnet_ike_open(). Any thread.
 * @param af    AF_INET or AF_INET6
 * @param port  host byte order
 */
enum cygnet_ike cygnet_ike_port(const struct cygnet_db *db, uint8_t af, uint16_t port);
/**
 * Whether IKE packets of a local UDP port bypass the SPD. While charon runs, its registered ports
 * do. Otherwise only 500 and 4500 do: other programs may use the ports of a charon that died. Any
 * thread.
 * @param af      AF_INET or AF_INET6
 * @param port    host byte order
 * @param charon  whether CYGNET_ROLE_CHARON is held
 */
bool cygnet_ike_exempt(const struct cygnet_db *db, uint8_t af, uint16_t port, bool charon);
/**
 * Whether IKE from a registered port to an address is charon's by that address: cygnet_ike_note() was called for it within
 * CYGNET_IKE_SENT_S, or the charon that has, or last had, the role notes none, or the file has no room for it, as before
 * there was this table. Any thread, without a lock.
 * @param now  seconds of CLOCK_MONOTONIC; it may be late
 */
bool cygnet_ike_noted(const struct cygnet_db *db, uint8_t af, const struct cygnet_addr *dst,
		      uint32_t now);
/**
 * List the ports that cygnet_ike_port() or cygnet_ike_exempt() can report as IKE: 500, 4500 and the registered
 * ports. Any thread.
 * @param[out] ports  host byte order, ascending, no duplicates
 * @return            number of ports
 */
unsigned int cygnet_ike_ports(const struct cygnet_db *db, uint16_t ports[CYGNET_IKE_PORTS + 2]);

/** The index of an SA's slot. */
uint32_t cygnet_sa_index(const struct cygnet_db *db, const struct cygnet_sa *sa);
/** The SA slot with an index, in any state. @return NULL if index is out of range */
struct cygnet_sa *cygnet_sa_at(struct cygnet_db *db, uint32_t index);
/** The live SA with an index and generation.
 * @return NULL if the SA has been deleted or index is out of range */
struct cygnet_sa *cygnet_sa_get(struct cygnet_db *db, uint32_t index, uint32_t generation);
/** The path of an SA that is in force. */
static inline const struct cygnet_path *cygnet_sa_path(const struct cygnet_sa *sa)
{
	/* Pairs with the release store of cygnet_sa_update(). */
	return &sa->path[__atomic_load_n(&sa->path_index, __ATOMIC_ACQUIRE) & 1];
}

/**
 * Reserve sequence numbers for packets that are about to be sent. No number is ever reserved
 * twice, even if the process is killed (RFC 4303, 3.3.3). Only the lcore that owns the SA may
 * call it.
 * @param n           number of sequence numbers wanted
 * @param[out] first  the first of them
 * @return            number of sequence numbers reserved, up to n; 0: the counter is exhausted
 */
static inline uint32_t cygnet_sa_reserve_seq(struct cygnet_sa *sa, uint32_t n, uint64_t *first)
{
	uint64_t last = sa->seq, limit = UINT32_MAX;

	/* Read the flags, which are in another cache line, only close to the end of 32 bits. */
	if (last > UINT32_MAX - (uint64_t)n && (sa->flags & CYGNET_SA_ESN))
		limit = UINT64_MAX;
	*first = last + 1;
	if (last >= limit)
		return 0;
	if (n > limit - last)
		n = (uint32_t)(limit - last);
	/* Must be in the file before any packet with these numbers is sent. */
	__atomic_store_n(&sa->seq, last + n, __ATOMIC_RELEASE);
	return n;
}

/**
 * cygnet_sa_reserve_seq(), for an SA whose numbers several threads take at the same time, all of them by this
 * function.
 */
static inline uint32_t cygnet_sa_reserve_seq_shared(struct cygnet_sa *sa, uint32_t n,
						    uint64_t *first)
{
	uint64_t last = __atomic_load_n(&sa->seq, __ATOMIC_RELAXED), limit = UINT32_MAX;
	uint32_t some;

	do {
		if (last > UINT32_MAX - (uint64_t)n && (sa->flags & CYGNET_SA_ESN))
			limit = UINT64_MAX;
		*first = last + 1;
		if (last >= limit)
			return 0;
		some = n > limit - last ? (uint32_t)(limit - last) : n;
	} while (!__atomic_compare_exchange_n(&sa->seq, &last, last + some, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return some;
}

/**
 * Infer the sequence number of a received packet (RFC 4303, A2.2).
 * @param seq_lo  the 32 bits in the packet, host byte order
 * @return        64 bits with ESN, otherwise seq_lo
 */
uint64_t cygnet_replay_seq(const struct cygnet_sa *sa, uint32_t seq_lo);
/** Check the replay window, before authentication (RFC 4303, 3.4.3). Only the lcore that owns the
 * SA may call it. @return false: a replay */
bool cygnet_replay_check(struct cygnet_db *db, const struct cygnet_sa *sa, uint64_t seq);
/** Check the replay window again and mark seq as received, after authentication. Only the lcore
 * that owns the SA may call it. @return false: a replay; nothing is marked */
bool cygnet_replay_update(struct cygnet_db *db, struct cygnet_sa *sa, uint64_t seq);

/* ------------------------------------------------ diagnostics: any process -- */
/* The caller need not be a registered reader. Any thread. */

/**
 * Take a consistent copy of an SA, with zeros in place of the keys.
 * @param[out] copy  undefined if false is returned
 * @return           false: the slot is free or retired, or changed during the copy
 */
bool cygnet_sa_snapshot(struct cygnet_db *db, uint32_t index, struct cygnet_sa *copy);
/**
 * Take a consistent copy of a policy.
 * @param[out] copy  undefined if false is returned
 * @return           false: the slot is free or retired, or changed during the copy
 */
bool cygnet_policy_snapshot(struct cygnet_db *db, uint32_t index, struct cygnet_policy *copy);
/**
 * Whether one policy applies instead of another if both match: by lower priority value, then lower rank, then later
 * installation. Also of copies.
 * @param other  NULL: policy applies
 */
bool cygnet_policy_wins(const struct cygnet_policy *policy, const struct cygnet_policy *other);
/** The number of SA slots in use, larval and live. Any thread; costs a load. */
uint32_t cygnet_sas_used(struct cygnet_db *db);
/** The number of held policies. Reads all slots in use. */
unsigned int cygnet_policies_held(struct cygnet_db *db);
/** Whether a held policy has CYGNET_PRIORITY_LAST: all packets are held, because it is not known what is wanted.
 * Reads all slots in use. */
bool cygnet_everything_held(struct cygnet_db *db);
/** Whether no policy was ever installed in this file. */
bool cygnet_spd_unused(const struct cygnet_db *db);
/**
 * Check all invariants of both databases. Takes the mutex, so that writers wait meanwhile.
 * @param error  receives the first violation; may be NULL
 * @param size   of error, bytes
 * @return       0, or -EBADMSG if an invariant is violated or memory ran out
 */
int cygnet_db_check(struct cygnet_db *db, char *error, size_t size);
/** Name of an algorithm for output, such as "aes-cbc" or "hmac-sha1"; "?" if out of range. */
const char *cygnet_cipher_name(uint8_t cipher);
const char *cygnet_auth_name(uint8_t auth);

/* --------------------------------------------------------------- events -- */

enum cygnet_event_type {
	CYGNET_EVENT_ACQUIRE = 1, /* a packet matches a policy that has no SA */
	CYGNET_EVENT_EXPIRE,	  /* an SA has reached a lifetime limit */
	CYGNET_EVENT_MAPPING,	  /* an authenticated packet came from another address or port */
};

struct cygnet_event {
	uint16_t type; /* enum cygnet_event_type */
	uint8_t hard;  /* EXPIRE: 1 for a hard limit, 0 for a soft one */
	uint8_t reserved;
	uint32_t reqid;		     /* ACQUIRE: of the policy; otherwise of the SA */
	struct cygnet_sa_id id;	     /* EXPIRE, MAPPING: the SA */
	struct cygnet_flow flow;     /* ACQUIRE: the selectors of the packet */
	struct cygnet_addr new_addr; /* MAPPING: the peer's new address */
	uint16_t new_port;	     /* MAPPING: the peer's new port, network byte order */
	uint16_t cpu; /* ACQUIRE: 1 + number of the CPU that the SA is to be for; 0: for all */
	uint8_t reserved1[4];
};

/** Post an event. Only one thread of the dataplane may call it. Does not block.
 * @return 0, or -ENOBUFS (the ring is full) */
int cygnet_event_post(struct cygnet_db *db, const struct cygnet_event *event);
/**
 * Wait for an event. Only one thread of the writer may call it.
 * @param timeout_ms  milliseconds; -1: no time limit
 * @return            0, -ETIMEDOUT, or -EINTR (a signal, or cygnet_event_wake())
 */
int cygnet_event_wait(struct cygnet_db *db, struct cygnet_event *event, int timeout_ms);
/** Make cygnet_event_wait() return -EINTR. Any thread. */
void cygnet_event_wake(struct cygnet_db *db);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file cygnet.h
 * The SAD, the SPD and the event ring in one shared-memory file.
 *
 * Two processes meet in the file. The *writer* is charon's plugin: it installs
 * SAs and policies, under a robust mutex in the file. The *dataplane* is
 * cygnetd: its lcores look up without locks, own the sequence and replay state
 * of the SAs they serve, and post events. Either may be killed at any
 * instruction; the other goes on, and a restart picks up the state.
 *
 * Positions in the file are indices, never pointers. A slot that a writer takes
 * out of the database is reused only after every registered reader has reported
 * a quiescent state since (RFC 4301 calls the databases SAD and SPD; section
 * numbers below are its).
 *
 * Unless said otherwise a function returns 0 or a negative errno, IPv4
 * addresses take the first four bytes of struct cygnet_addr with the rest zero,
 * addresses, SPIs and UDP encapsulation ports are in network byte order, and
 * selector ports are in host byte order.
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
/** Changes whenever the layout of the file changes; the file of another one is refused. */
#define CYGNET_ABI_VERSION 5

#define CYGNET_DEFAULT_SAS 65536u
#define CYGNET_DEFAULT_POLICIES 65536u
#define CYGNET_MAX_ENTRIES (1u << 21)
/** Registered readers: the lcores of one dataplane, and its control thread. */
#define CYGNET_MAX_READERS 128
/** Ports that charon may have sockets for IKE at. */
#define CYGNET_IKE_PORTS 16
/** "No index": the end of a chain, a policy without SA. */
#define CYGNET_NONE UINT32_MAX

#define CYGNET_CACHE_LINE 64
#define CYGNET_ALIGNED __attribute__((aligned(CYGNET_CACHE_LINE)))

/* ---------------------------------------------------------------- types -- */

struct cygnet_db; /* an open file; one per process */

struct cygnet_addr {
	union {
		uint8_t bytes[16];
		uint32_t v4; /* network byte order */
		uint64_t words[2];
	};
};

/** An IPv4 address. An initializer of .v4 alone leaves the other bytes to the compiler.
 * @param v4  network byte order */
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

/** How many leading bits two addresses of family af share. */
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

/** How the DSCP travels between inner and outer header (RFC 4301, 5.1.2). */
enum cygnet_dscp { CYGNET_DSCP_COPY_OUT = 1, CYGNET_DSCP_COPY_IN = 2 };

enum cygnet_sa_flag {
	CYGNET_SA_INBOUND = 1u << 0,
	CYGNET_SA_ESN = 1u << 1,     /* 64-bit sequence numbers (RFC 4303, 2.2.1) */
	CYGNET_SA_COPY_DF = 1u << 2, /* inner DF to outer header */
	CYGNET_SA_COPY_ECN = 1u << 3,
};

#define CYGNET_KEY_MAX 64
#define CYGNET_REPLAY_WINDOW_MAX 4096
/** get_spi hands out SPIs in this range unless told otherwise (as charon does). */
#define CYGNET_SPI_MIN 0xc0000000u
#define CYGNET_SPI_MAX 0xcfffffffu

/** What names an SA (RFC 4301, 4.1). */
struct cygnet_sa_id {
	uint32_t spi; /* network byte order */
	uint8_t proto; /* IPPROTO_ESP or IPPROTO_AH */
	uint8_t af;    /* of the outer header: AF_INET or AF_INET6 */
	struct cygnet_addr dst;
};

/** The outer header of an SA; the part that MOBIKE and NAT change. */
struct cygnet_path {
	struct cygnet_addr src, dst;
	uint16_t sport, dport; /* of UDP encapsulation, network byte order */
	uint8_t encap;         /* 1: ESP in UDP (RFC 3948) */
	uint8_t af;            /* AF_INET or AF_INET6 */
	uint8_t reserved[2];
};

/** A limit of 0 is none. Times in seconds after installation. The packet that reaches a limit
 * is the last, as in Linux: at a hard one none follows it in either direction. */
struct cygnet_lifetime {
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_packets, hard_packets;
	uint64_t soft_seconds, hard_seconds;
};

/** What a writer gives to install an SA. */
struct cygnet_sa_params {
	struct cygnet_sa_id id; /* id.dst and id.af equal the path's */
	struct cygnet_path path;
	uint32_t flags; /* enum cygnet_sa_flag */
	uint32_t reqid;
	uint8_t mode;   /* enum cygnet_mode */
	uint8_t cipher; /* enum cygnet_cipher */
	uint8_t auth;   /* enum cygnet_auth */
	uint8_t dscp;   /* enum cygnet_dscp, ORed */
	uint8_t icv_len; /* bytes on the wire */
	uint8_t cipher_key_len; /* bytes, without the salt */
	uint8_t salt_len;       /* bytes that follow the key in cipher_key */
	uint8_t auth_key_len;   /* bytes */
	uint32_t replay_window; /* packets; 0 switches replay protection off */
	uint16_t tfc;           /* pad inner packets to this many bytes; 0: not */
	struct cygnet_lifetime lifetime;
	uint8_t cipher_key[CYGNET_KEY_MAX];
	uint8_t auth_key[CYGNET_KEY_MAX];
};

/** What an SA has done so far. */
struct cygnet_sa_usage {
	/* As Linux counts: the inner packet, in transport mode without the headers that stay in
	 * front of ESP or AH. */
	uint64_t bytes, packets;
	uint64_t use_time;       /* last use, seconds of CLOCK_MONOTONIC; 0: never */
	uint64_t seq;            /* last sequence number sent, or highest received */
	uint64_t replay_drops, auth_drops;
};

/** What the slot of an SA or of a policy is. */
enum cygnet_slot_state {
	CYGNET_SLOT_FREE,
	CYGNET_SLOT_LARVAL,  /* SAs: an SPI is reserved, there is no key yet */
	CYGNET_SLOT_LIVE,
	CYGNET_SLOT_RETIRED, /* deleted, waiting for the readers */
};

/**
 * An SA slot of the file (RFC 4301, 4.4.2). A writer fills it before it
 * publishes it; after that only the fields marked so change. Public because the
 * lcores read it in place.
 */
struct cygnet_sa {
	/* What a lookup reads. */
	uint32_t state;      /* enum cygnet_slot_state; atomic */
	uint32_t generation; /* grows whenever the slot gets another SA */
	uint32_t next;       /* chain of the hash bucket; atomic, the library's */
	uint32_t spi;        /* network byte order */
	uint32_t reqid;
	uint32_t flags; /* enum cygnet_sa_flag */
	uint32_t path_index; /* path[path_index & 1] is in force; atomic */
	uint32_t replay_window;
	uint32_t replay_block; /* in the pool of large windows, or CYGNET_NONE */
	uint16_t tfc;
	uint8_t proto, mode, cipher, auth, dscp;
	uint8_t icv_len, cipher_key_len, salt_len, auth_key_len;
	uint8_t reserved0[7];
	/* out: bytes that the path takes << 48 | second when a router said so; 0: what the
	 * link takes; atomic, any lcore */
	uint64_t path_mtu;

	struct cygnet_path path[2] CYGNET_ALIGNED;
	uint32_t link; /* free list or queue of the retired; the library's */
	uint32_t reserved1;
	uint64_t epoch; /* of retirement, or of the last path change; the library's */
	uint8_t reserved5[32];

	uint8_t cipher_key[CYGNET_KEY_MAX] CYGNET_ALIGNED;
	uint8_t auth_key[CYGNET_KEY_MAX];

	/* Written by the lcore that owns the SA, by nobody else. */
	uint64_t seq CYGNET_ALIGNED; /* last number reserved (out), top of the window (in) */
	uint64_t replay[4];          /* ring of 64-bit words for windows of up to 192 */
	uint64_t bytes, packets;     /* with these, what every packet changes is in one line */
	uint64_t use_time;

	uint64_t replay_drops CYGNET_ALIGNED;
	uint64_t auth_drops;
	uint32_t expired; /* enum cygnet_expire bits already raised; atomic, the control thread's too */
	uint8_t reserved2[44];

	struct cygnet_lifetime lifetime CYGNET_ALIGNED;
	uint64_t install_time; /* seconds of CLOCK_MONOTONIC */
	uint8_t reserved4[8];
} CYGNET_ALIGNED;
_Static_assert(sizeof(struct cygnet_sa) == 512, "an SA takes eight cache lines");

enum cygnet_expire { CYGNET_EXPIRE_SOFT = 1, CYGNET_EXPIRE_HARD = 2 };

/** What traffic a policy is about (4.4.1.1). Ranges are inclusive. */
struct cygnet_selector {
	struct cygnet_addr src_lo, src_hi, dst_lo, dst_hi;
	uint16_t sport_lo, sport_hi; /* ICMP and ICMPv6: type */
	uint16_t dport_lo, dport_hi; /* ICMP and ICMPv6: code */
	uint32_t interface; /* cygnet_interface() of its name; 0: any */
	uint8_t af;
	uint8_t proto; /* 0: any */
	uint8_t reserved[2];
};

enum cygnet_action { CYGNET_PROTECT, CYGNET_BYPASS, CYGNET_DISCARD };

/** What a writer gives to install or remove a policy. All but the SA's addresses name it. */
struct cygnet_policy_params {
	struct cygnet_selector sel;
	uint32_t priority; /* the lower value wins */
	uint32_t rank;     /* of equal priorities, the lower rank wins; of equal ranks, the newest */
	uint32_t reqid;
	uint32_t spi; /* of the SA it was installed with; 0: none (a trap) */
	uint8_t dir;    /* enum cygnet_dir */
	uint8_t action; /* enum cygnet_action */
	uint8_t proto;  /* IPPROTO_ESP or IPPROTO_AH, with CYGNET_PROTECT */
	uint8_t mode;   /* enum cygnet_mode */
	/* The SA's addresses: MOBIKE may have changed them. */
	uint8_t af;
	struct cygnet_addr src, dst;
};

/** A policy slot of the file. A writer fills it before it publishes it; after that only
 * fields change that are marked as atomic, or with who writes them. */
struct cygnet_policy {
	struct cygnet_selector sel;
	uint32_t priority;
	uint32_t reqid;
	uint32_t spi;
	uint32_t next;       /* chain of the hash bucket; atomic, the library's */
	uint32_t generation; /* grows whenever the slot gets another policy */
	uint32_t state;      /* enum cygnet_slot_state; atomic */
	uint32_t tuple;      /* the shape of its selector, in the tuple list */
	uint32_t refs;       /* installs; the writer's */
	uint8_t dir, action, proto, mode;
	uint32_t link;  /* free list or queue of the retired; the library's */
	uint64_t epoch; /* of retirement; the library's */

	uint64_t use_time CYGNET_ALIGNED; /* seconds of CLOCK_MONOTONIC; any lcore */
	uint64_t sa; /* out: generation << 32 | index of its SA; atomic */
	uint64_t order; /* install counter: the newest of equals wins */
	uint32_t rank;
	uint8_t af;
	uint8_t reserved1[3];
	struct cygnet_addr src, dst;
} CYGNET_ALIGNED;
_Static_assert(sizeof(struct cygnet_policy) == 192, "a policy takes three cache lines");

/**
 * What policies call an interface. Names outlive the interfaces that have them: a TAP
 * that is made anew has another index, and policies that named it are in force again.
 * @param name  of the interface, as the kernel has it
 * @return FNV-1a of the name, not 0; names that share it are one interface to the SPD
 */
static inline uint32_t cygnet_interface(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return hash ? hash : 1;
}

/** The selectors of one packet. */
struct cygnet_flow {
	struct cygnet_addr src, dst;
	uint16_t sport, dport; /* host byte order; ICMP: type and code; 0 without ports */
	uint32_t interface; /* that it came in by or, of CYGNET_OUT, leaves by; 0: none */
	uint8_t af, proto;
	uint8_t has_ports; /* 0: a later fragment; only policies for any port match */
	uint8_t fragment;  /* of a packet, the first one or another; no policy asks */
};

/* ------------------------------------------------------------- the file -- */

struct cygnet_geometry {
	uint32_t sas;      /* slots; 1 to CYGNET_MAX_ENTRIES */
	uint32_t policies; /* slots; 1 to CYGNET_MAX_ENTRIES */
};

/**
 * Open the file, creating it (and its folder, mode 0700) if it is missing.
 *
 * An existing file is used with the geometry that it has. It is refused if it
 * is not a regular file of the caller's user with mode 0600, of another ABI
 * version, or damaged. The mapping is kept out of core dumps and of forked
 * children, where the handle must not be used.
 *
 * @param path    NULL: CYGNET_SADB_PATH
 * @param create  geometry for a new file; NULL: do not create
 * @param db      set on success; close with cygnet_db_close()
 * @param error   receives a message that names the file and the reason; may be NULL
 * @param size    of error, bytes
 * @return        0; -ENOENT, -EPERM, -EPROTO (another ABI version), -EBADMSG
 *                (damaged), -EINVAL (geometry), or another -errno
 */
int cygnet_db_open(const char *path, const struct cygnet_geometry *create, struct cygnet_db **db,
		   char *error, size_t size);
void cygnet_db_close(struct cygnet_db *db);
/**
 * Remove a damaged file, so that another one can be created. What is not a
 * Cygnet SAD/SPD file is left alone.
 * @param error   receives a message that names the file and the reason; may be NULL
 * @return        0; -EBUSY (a process holds a role), -EBADMSG (no such file of
 *                ours), -ENOENT, -EPERM, or another -errno
 */
int cygnet_db_remove(const char *path, char *error, size_t size);

struct cygnet_db_info {
	const char *path;
	uint64_t size; /* bytes of file */
	struct cygnet_geometry geometry;
	uint32_t sas, policies; /* in use */
	uint32_t sas_waiting, policies_waiting; /* deleted; to be wiped once no reader has them */
	uint32_t replay_blocks, replay_blocks_free; /* windows above 192 */
	int charon_pid, dataplane_pid; /* holders of the roles; 0: nobody */
	uint64_t recoveries; /* dead writers cleaned up after, since creation */
};
void cygnet_db_info(struct cygnet_db *db, struct cygnet_db_info *info);

/** A process holds a role until it closes the file or dies, whichever comes first. */
enum cygnet_role { CYGNET_ROLE_CHARON, CYGNET_ROLE_DATAPLANE, CYGNET_ROLES };

/**
 * Take a role. Taking CYGNET_ROLE_DATAPLANE puts all readers offline, and clears
 * cygnet_sa.expired: what the dataplane before had raised may never have been posted.
 * @return 0, -EBUSY if another process holds it (cygnet_db_info() says which), or
 *         -ESTALE if the file has been removed or replaced since it was opened
 */
int cygnet_role_take(struct cygnet_db *db, enum cygnet_role role);
bool cygnet_role_held(struct cygnet_db *db, enum cygnet_role role);

/* ----------------------------------------------- writer API: charon's plugin -- */
/* Thread-safe. Takes the robust mutex of the file; if its owner died, repairs
 * the databases first. */

/**
 * Reserve an SPI that no SA of the file uses, drawn from the kernel's random numbers.
 * @param dst    where the SA ends, of family af
 * @param min,max  host byte order, inclusive; 0 for CYGNET_SPI_MIN, CYGNET_SPI_MAX
 * @param spi    network byte order
 * @return       0, -ENOSPC (no free slot), -ENOENT (range used up)
 */
int cygnet_spi_reserve(struct cygnet_db *db, uint8_t proto, uint8_t af,
		       const struct cygnet_addr *dst, uint32_t min, uint32_t max, uint32_t *spi);

/**
 * Install an SA; it is usable when the call returns. An SA that
 * cygnet_spi_reserve() reserved becomes this one.
 * @return 0, -EEXIST (a live SA has the id, or it is reserved and this SA is
 *         outbound), -ENOSPC, or -EINVAL (a length or enum out of range)
 */
int cygnet_sa_add(struct cygnet_db *db, const struct cygnet_sa_params *params);

/**
 * Move an SA to other addresses, of either family, ports or encapsulation; sequence
 * number, replay state, counters, lifetimes and keys stay (RFC 4555, RFC 3947). The id's
 * dst and af change with the path.
 * @param reqid  0: unchanged
 * @return 0, -ENOENT, -EEXIST (the new id is taken), -EINVAL (the path's family or
 *         addresses), -EAGAIN (the readers have not seen the last update yet: it does not wait
 *         for them; try again in a millisecond)
 */
int cygnet_sa_update(struct cygnet_db *db, const struct cygnet_sa_id *id,
		     const struct cygnet_path *path, uint32_t reqid);

/** Take an SA, or a reserved SPI, out of the SAD. Its keys are wiped as soon as
 * no reader can be using them. @return 0 or -ENOENT */
int cygnet_sa_delete(struct cygnet_db *db, const struct cygnet_sa_id *id);

/** Give back an SPI that cygnet_spi_reserve() has reserved, but not one that an SA was
 * installed for. @return 0 or -ENOENT */
int cygnet_spi_release(struct cygnet_db *db, const struct cygnet_sa_id *id);
/** @return 0 or -ENOENT (also for an SPI that is only reserved) */
int cygnet_sa_query(struct cygnet_db *db, const struct cygnet_sa_id *id,
		    struct cygnet_sa_usage *usage);

/**
 * Install a policy, or count one more install of an equal one (all fields that
 * name it are equal). An outbound policy with an SPI uses that SA.
 * @return 0, -EINVAL, or -ENOSPC: no free slot, or 1,024 shapes of selectors (lengths of prefixes,
 *         which of protocol and ports are given) in its direction and family; each that is in
 *         use costs a lookup one probe
 */
int cygnet_policy_add(struct cygnet_db *db, const struct cygnet_policy_params *params);
/** Undo one cygnet_policy_add(). @return 0 or -ENOENT */
int cygnet_policy_delete(struct cygnet_db *db, const struct cygnet_policy_params *params);
/** @param use_time seconds of CLOCK_MONOTONIC, the latest of the policies with
 * this direction and selector; 0: never used. @return 0 or -ENOENT */
int cygnet_policy_query(struct cygnet_db *db, enum cygnet_dir dir,
			const struct cygnet_selector *sel, uint64_t *use_time);

/**
 * Have UDP to and from a port of this host's pass for IKE: no policy is about it (RFC 4301, 4.4.1).
 * Those said are all that there are, until cygnet_db_flush(), or until another charon takes its
 * role: as long as none is, 500 and 4500.
 * @param af    whose socket it is, AF_INET or AF_INET6
 * @param port  host byte order
 * @param natt  ESP in UDP comes there, too, and IKE has the marker (RFC 3948, 2); it stays
 *              so when the port is said again without
 * @return 0, -EINVAL (family; port 0; with natt, 500, where IKE has no marker), or -ENOSPC:
 *         CYGNET_IKE_PORTS others are
 */
int cygnet_ike_open(struct cygnet_db *db, uint8_t af, uint16_t port, bool natt);

/** Remove all SAs, policies, ports of IKE's and pending events: what a dead charon left. */
int cygnet_db_flush(struct cygnet_db *db);
/** Wipe and free what the readers have let go. Other writer calls do so too; call
 * it when none may come for a while. The dataplane does while nobody is charon.
 * @return slots still waiting */
unsigned int cygnet_db_reclaim(struct cygnet_db *db);

/* ------------------------------------------------ reader API: the dataplane -- */
/* Lock-free and wait-free but for the walk of a hash chain, and for a lookup of
 * policies that is repeated when they changed under it. The caller is a
 * registered reader. Pointers stay valid until its next quiescent state; what
 * is kept longer is kept as index and generation. */

/** @param id 0 to CYGNET_MAX_READERS - 1; the caller holds CYGNET_ROLE_DATAPLANE */
int cygnet_reader_online(struct cygnet_db *db, unsigned int id);
void cygnet_reader_offline(struct cygnet_db *db, unsigned int id);
/** The reader holds no pointer into the databases right now. */
void cygnet_reader_quiescent(struct cygnet_db *db, unsigned int id);

/** The live inbound SA for a received packet (4.4.2.1), or NULL. */
struct cygnet_sa *cygnet_sad_lookup(struct cygnet_db *db, uint32_t spi, uint8_t proto, uint8_t af,
				    const struct cygnet_addr *dst);
/** The live outbound SA of packets that have been sent, or NULL. SPIs of outbound SAs are the
 * peers' choice, and many may choose the same: not for every packet. */
struct cygnet_sa *cygnet_sad_lookup_out(struct cygnet_db *db, uint32_t spi, uint8_t proto,
					uint8_t af, const struct cygnet_addr *dst);
/** The policy that decides about a packet: of all that match, the one that wins by priority,
 * rank and age; NULL if none matches. The SPD of one moment answers. */
struct cygnet_policy *cygnet_spd_lookup(struct cygnet_db *db, enum cygnet_dir dir,
					const struct cygnet_flow *flow);
/** Whether any policy is about certain ports only: then the policy of a later
 * fragment, which has no ports, cannot be told (RFC 4301, 7). */
bool cygnet_spd_uses_ports(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af);
/** Whether any policy is about a certain protocol or ports: then that of a later IPv6
 * fragment, which does not say its protocol, cannot be told either. */
bool cygnet_spd_uses_protocols(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af);
/** Whether any policy ever was bound to an interface. If not, a packet's may be left out. */
bool cygnet_spd_binds(struct cygnet_db *db);
/** A number that grows with each change of the SPD, also when a policy gets another SA. Read
 * before a lookup, and still the same later: the lookup would find the same policy and SA,
 * but for an SA that has been deleted. */
uint64_t cygnet_spd_changes(struct cygnet_db *db);
/**
 * What lookups found is what they would find now as long as this has not changed: no policy
 * came, went or got another SA, no SA went or moved. Read before a lookup; what it returned
 * may be used again, in place and beyond quiescent states, until another value is read. A
 * reader looks after each of its quiescent states.
 */
uint64_t cygnet_db_changes(struct cygnet_db *db);
/** The live outbound SA of a policy, or NULL: none yet, or it has been deleted. */
struct cygnet_sa *cygnet_policy_sa(struct cygnet_db *db, const struct cygnet_policy *policy);

enum cygnet_ike {
	CYGNET_IKE_NONE,
	CYGNET_IKE_PLAIN, /* nothing but IKE, without marker */
	CYGNET_IKE_ENCAP, /* ESP in UDP, keepalives, and IKE behind four zero bytes (RFC 3948, 2) */
};
/** What a UDP port of this host's is to IKE. @param port host byte order */
enum cygnet_ike cygnet_ike_port(const struct cygnet_db *db, uint8_t af, uint16_t port);
/**
 * Whether no policy is about UDP of this host's port, but for ESP in it: what charon has said, or
 * without charon 500 and 4500. Any program may have the ports of one that died.
 * @param charon  whether CYGNET_ROLE_CHARON is held
 */
bool cygnet_ike_exempt(const struct cygnet_db *db, uint8_t af, uint16_t port, bool charon);
/**
 * The ports that the two above can know of: 500, 4500 and those said, in ascending order, each
 * once. Any thread.
 * @param[out] ports  host byte order
 * @return how many
 */
unsigned int cygnet_ike_ports(const struct cygnet_db *db, uint16_t ports[CYGNET_IKE_PORTS + 2]);

uint32_t cygnet_sa_index(const struct cygnet_db *db, const struct cygnet_sa *sa);
/** The SA in a slot, whatever its state; NULL if index is out of range. */
struct cygnet_sa *cygnet_sa_at(struct cygnet_db *db, uint32_t index);
/** The slot still holds the live SA of that generation, or NULL. */
struct cygnet_sa *cygnet_sa_get(struct cygnet_db *db, uint32_t index, uint32_t generation);
static inline const struct cygnet_path *cygnet_sa_path(const struct cygnet_sa *sa)
{
	/* Pairs with the release store of cygnet_sa_update(). */
	return &sa->path[__atomic_load_n(&sa->path_index, __ATOMIC_ACQUIRE) & 1];
}

/**
 * Reserve sequence numbers for packets about to be sent: first to first + n - 1.
 * What is reserved is never handed out again, also after kill -9 (RFC 4303, 3.3.3).
 * Only the lcore that owns the SA calls it.
 * @return how many, up to n; 0 once a 32-bit counter is used up
 */
static inline uint32_t cygnet_sa_reserve_seq(struct cygnet_sa *sa, uint32_t n, uint64_t *first)
{
	uint64_t last = sa->seq, limit = UINT32_MAX;

	/* Most packets have no need of the flags, which are in another cache line. */
	if (last > UINT32_MAX - (uint64_t)n && (sa->flags & CYGNET_SA_ESN))
		limit = UINT64_MAX;
	*first = last + 1;
	if (last >= limit)
		return 0;
	if (n > limit - last)
		n = (uint32_t)(limit - last);
	/* Before any packet with these numbers can be seen by anybody. */
	__atomic_store_n(&sa->seq, last + n, __ATOMIC_RELEASE);
	return n;
}

/** The 64-bit sequence number of a received packet (RFC 4303, A2.2); without ESN seq_lo itself. */
uint64_t cygnet_replay_seq(const struct cygnet_sa *sa, uint32_t seq_lo);
/** Whether a packet may be new: before authentication (RFC 4303, 3.4.3). */
bool cygnet_replay_check(struct cygnet_db *db, const struct cygnet_sa *sa, uint64_t seq);
/** Check again and mark as received: after authentication. @return false: a replay */
bool cygnet_replay_update(struct cygnet_db *db, struct cygnet_sa *sa, uint64_t seq);

/* ---------------------------------------------------- diagnostics: anybody -- */
/* Copies that are consistent, without keys, without being a registered reader. */

/** @return true and a copy if the slot holds a live or larval SA; keys are zero */
bool cygnet_sa_snapshot(struct cygnet_db *db, uint32_t index, struct cygnet_sa *copy);
bool cygnet_policy_snapshot(struct cygnet_db *db, uint32_t index, struct cygnet_policy *copy);
/** Walk both databases, under the mutex, and check every invariant.
 * @return 0, or -EBADMSG with the first violation in error */
int cygnet_db_check(struct cygnet_db *db, char *error, size_t size);
/** Names for people: "aes-cbc", "hmac-sha1"; "?" if out of range. */
const char *cygnet_cipher_name(uint8_t cipher);
const char *cygnet_auth_name(uint8_t auth);

/* --------------------------------------------------------------- events -- */

enum cygnet_event_type {
	CYGNET_EVENT_ACQUIRE = 1, /* a packet met a policy without SA */
	CYGNET_EVENT_EXPIRE,
	CYGNET_EVENT_MAPPING, /* an authenticated packet came from another address or port */
};

struct cygnet_event {
	uint16_t type; /* enum cygnet_event_type */
	uint8_t hard;  /* EXPIRE: hard limit */
	uint8_t reserved;
	uint32_t reqid;          /* of the policy or the SA */
	struct cygnet_sa_id id;  /* EXPIRE, MAPPING */
	struct cygnet_flow flow; /* ACQUIRE: the packet */
	struct cygnet_addr new_addr; /* MAPPING: the peer's */
	uint16_t new_port;           /* MAPPING, network byte order */
	uint8_t reserved1[6];
};

/** Post an event. One thread of the dataplane only. @return 0, or -ENOBUFS: the
 * ring is full, try again later */
int cygnet_event_post(struct cygnet_db *db, const struct cygnet_event *event);
/** Wait for an event. One thread of the writer only.
 * @param timeout_ms  -1: for ever
 * @return 0, -ETIMEDOUT, or -EINTR (a signal, or cygnet_event_wake()) */
int cygnet_event_wait(struct cygnet_db *db, struct cygnet_event *event, int timeout_ms);
/** Make cygnet_event_wait() return, from any thread. */
void cygnet_event_wake(struct cygnet_db *db);

#ifdef __cplusplus
}
#endif
#endif

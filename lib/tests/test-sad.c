/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/resource.h>

#include "fixture.h"
#include "layout.h"

static struct cygnet_sa *lookup(struct cygnet_db *db, uint32_t spi)
{
	struct cygnet_addr dst = addr4("192.0.2.1");

	return cygnet_sad_lookup(db, htonl(spi), IPPROTO_ESP, AF_INET, &dst);
}

static void add_lookup_delete(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params in = sa_params(0x1000, true), out = sa_params(0x2000, false);
	struct cygnet_addr other = addr4("192.0.2.9");
	struct cygnet_sa *sa;

	assert_int_equal(cygnet_sa_add(f->db, &in), 0);
	assert_int_equal(cygnet_sa_add(f->db, &in), -EEXIST);
	assert_int_equal(cygnet_sa_add(f->db, &out), 0);
	sa = lookup(f->db, 0x1000);
	assert_non_null(sa);
	assert_memory_equal(sa->cipher_key, in.cipher_key, 20);
	assert_null(lookup(f->db, 0x2000)); /* outbound */
	assert_null(lookup(f->db, 0x3000));
	assert_null(cygnet_sad_lookup(f->db, in.id.spi, IPPROTO_AH, AF_INET, &in.id.dst));
	assert_null(cygnet_sad_lookup(f->db, in.id.spi, IPPROTO_ESP, AF_INET, &other));
	assert_int_equal(cygnet_sa_delete(f->db, &in.id), 0);
	assert_null(lookup(f->db, 0x1000));
	assert_int_equal(cygnet_sa_delete(f->db, &in.id), -ENOENT);
}

/* An outbound SA may have the SPI of an inbound SA and of SAs to other peers. */
static void lookup_outbound(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params in = sa_params(0x1000, true), out = sa_params(0x1000, false);
	struct cygnet_sa_params far = out;
	struct cygnet_path moved;
	struct cygnet_sa *sa;

	out.id.dst = out.path.dst = addr4("192.0.2.2");
	far.id.dst = far.path.dst = addr4("192.0.2.3");
	assert_int_equal(cygnet_sa_add(f->db, &in), 0);
	assert_int_equal(cygnet_sa_add(f->db, &out), 0);
	assert_int_equal(cygnet_sa_add(f->db, &far), 0);
#define SENT(to) cygnet_sad_lookup_out(f->db, htonl(0x1000), IPPROTO_ESP, AF_INET, &(to)->id.dst)
	assert_null(SENT(&in));
	sa = SENT(&out);
	assert_non_null(sa);
	assert_ptr_not_equal(sa, SENT(&far));
	/* The MTU of the new path is unknown. */
	sa->path_mtu = 1400ull << 48 | 1;
	moved = out.path;
	moved.dst = addr4("192.0.2.4");
	assert_int_equal(cygnet_sa_update(f->db, &out.id, &moved, 0), 0);
	assert_null(SENT(&out));
	out.id.dst = moved.dst;
	assert_ptr_equal(SENT(&out), sa);
	assert_int_equal(sa->path_mtu, 0);
	assert_int_equal(cygnet_sa_delete(f->db, &out.id), 0);
	assert_null(SENT(&out));
#undef SENT
}

#define PEERS 8192u

/* An outbound SA with the one SPI that all peers of a /64 have chosen. */
static struct cygnet_sa_params same_spi(uint32_t peer)
{
	struct cygnet_sa_params p = sa_params(0x1000, false);

	p.id.af = p.path.af = AF_INET6;
	p.id.dst = addr6("2001:db8::");
	memcpy(&p.id.dst.bytes[12], &peer, sizeof(peer));
	p.path.src = addr6("2001:db8:1::1");
	p.path.dst = p.id.dst;
	return p;
}

/* Number of SAs of the longest chain. */
static uint32_t longest_chain(const struct cygnet_db *db)
{
	uint32_t longest = 0;

	for (uint32_t b = 0; b <= db->sa_mask; b++) {
		uint32_t n = 0;

		for (uint32_t ref = db->sa_table[b]; ref; ref = db->sas[ref - 1].next)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

static void reopen(struct fixture *f, uint32_t sas)
{
	cygnet_db_close(f->db);
	unlink(f->path);
	f->db = fixture_open(f, sas, 16);
}

/* Peers choose the SPIs of outbound SAs, and may all choose one: no chain becomes long by that. */
static void one_spi_of_many_peers(void **state)
{
	struct fixture *f = *state;

	reopen(f, PEERS);
	for (uint32_t i = 0; i < PEERS; i++) {
		struct cygnet_sa_params p = same_spi(i);

		assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	}
	assert_in_range(longest_chain(f->db), 1, 16);
	/* So after they have moved. */
	for (uint32_t i = 0; i < PEERS; i++) {
		struct cygnet_sa_params p = same_spi(i), moved = same_spi(i + PEERS);

		assert_int_equal(cygnet_sa_update(f->db, &p.id, &moved.path, 0), 0);
		assert_non_null(cygnet_sad_lookup_out(f->db, p.id.spi, IPPROTO_ESP, AF_INET6,
						      &moved.id.dst));
	}
	assert_in_range(longest_chain(f->db), 1, 16);
}

/* A file that an older library has created: that library finds outbound SAs by their SPI alone. */
static void file_of_older_library(void **state)
{
	struct fixture *f = *state;
	struct fixed *fixed = &f->db->header->fixed;
	struct cygnet_sa_params p = same_spi(1), q = same_spi(2), moved = same_spi(3);

	fixed->features = 0;
	layout_init(fixed);
	fixed->checksum = layout_checksum(fixed);
	assert_int_equal(truncate(f->path, (off_t)fixed->file_size), 0);
	cygnet_db_close(f->db);
	f->db = fixture_open(f, 1024, 1024);
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	assert_int_equal(cygnet_sa_add(f->db, &q), 0);
	assert_int_equal(longest_chain(f->db), 2);
	assert_int_equal(cygnet_sa_update(f->db, &p.id, &moved.path, 0), 0);
	assert_int_equal(longest_chain(f->db), 2);
	assert_int_equal(cygnet_sa_delete(f->db, &q.id), 0);
	assert_int_equal(cygnet_sa_delete(f->db, &moved.id), 0);
	assert_int_equal(longest_chain(f->db), 0);
}

/* Older libraries knew no interface IDs. */
static void if_id_of_older_library(void **state)
{
	struct fixture *f = *state;
	struct fixed *fixed = &f->db->header->fixed;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	struct cygnet_policy_params policy = {
		.sel = {.sport_hi = UINT16_MAX,
			.dport_hi = UINT16_MAX,
			.interface = 42,
			.af = AF_INET,
			.by_if_id = 1},
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
	};

	p.if_id = 42;
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	assert_int_equal(cygnet_policy_add(f->db, &policy), 0);
	assert_int_equal(cygnet_sad_lookup(f->db, p.id.spi, IPPROTO_ESP, AF_INET, &p.id.dst)->if_id,
			 42);
	fixed->features &= ~LAYOUT_IF_ID;
	fixed->checksum = layout_checksum(fixed);
	cygnet_db_close(f->db);
	f->db = fixture_open(f, 1024, 1024);
	assert_int_equal(cygnet_sa_add(f->db, &p), -EOPNOTSUPP);
	assert_int_equal(cygnet_policy_add(f->db, &policy), -EOPNOTSUPP);
}

/* That library noted no addresses that charon sends IKE to: IKE may go anywhere. */
static void ike_of_older_library(void **state)
{
	struct fixture *f = *state;
	struct fixed *fixed = &f->db->header->fixed;
	const struct cygnet_addr addr = {.words = {1, 2}};

	fixed->features = LAYOUT_OUT_BY_PEER;
	layout_init(fixed);
	fixed->checksum = layout_checksum(fixed);
	assert_int_equal(truncate(f->path, (off_t)fixed->file_size), 0);
	cygnet_db_close(f->db);
	f->db = fixture_open(f, 1024, 1024);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_CHARON), 0);
	cygnet_ike_notes(f->db);
	cygnet_ike_note(f->db, AF_INET6, &addr, 1);
	assert_true(cygnet_ike_noted(f->db, AF_INET6, &addr, 1000));
}

/* A file of a later library is left alone by a program that creates none. */
static void unknown_feature(void **state)
{
	struct fixture *f = *state;
	struct fixed *fixed = &f->db->header->fixed;
	struct cygnet_db *db;
	char error[256];

	fixed->features |= 1ull << 63;
	fixed->checksum = layout_checksum(fixed);
	assert_int_equal(cygnet_db_open_flags(f->path, NULL, CYGNET_OPEN_ON_DISK, &db, error,
					      sizeof(error)),
			 -EPROTO);
	assert_non_null(strstr(error, "0x8000000000000000"));
}

static void keys_are_wiped(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	struct cygnet_sa *sa;

	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	sa = lookup(f->db, 0x1000);
	assert_int_equal(cygnet_sa_delete(f->db, &p.id), 0);
	assert_int_equal(cygnet_db_reclaim(f->db), 0);
	for (int i = 0; i < CYGNET_KEY_MAX; i++)
		assert_int_equal(sa->cipher_key[i], 0);
}

static void slot_waits_for_reader(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	struct cygnet_sa *sa;

	assert_int_equal(cygnet_reader_online(f->db, 0), -EPERM);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), 0);
	assert_int_equal(cygnet_reader_online(f->db, 0), 0);
	assert_int_equal(cygnet_reader_online(f->db, CYGNET_MAX_READERS), -EINVAL);
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	sa = lookup(f->db, 0x1000);
	assert_int_equal(cygnet_sa_delete(f->db, &p.id), 0);
	assert_int_equal(cygnet_db_reclaim(f->db), 1);
	assert_int_equal(sa->cipher_key[0], 0xab);
	cygnet_reader_quiescent(f->db, 0);
	assert_int_equal(cygnet_db_reclaim(f->db), 0);
	assert_int_equal(sa->cipher_key[0], 0);
}

static void spi_reserve(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	struct cygnet_sa_usage usage;
	uint32_t spi;

	assert_int_equal(cygnet_spi_reserve(f->db, IPPROTO_ESP, AF_INET, &p.id.dst, 0, 0, &spi), 0);
	assert_in_range(ntohl(spi), CYGNET_SPI_MIN, CYGNET_SPI_MAX);
	assert_null(lookup(f->db, ntohl(spi)));
	p.id.spi = spi;
	assert_int_equal(cygnet_sa_query(f->db, &p.id, &usage), -ENOENT);
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	assert_non_null(lookup(f->db, ntohl(spi)));
	/* The only SPI of the range is in use. */
	assert_int_equal(cygnet_spi_reserve(f->db, IPPROTO_ESP, AF_INET, &p.id.dst, ntohl(spi),
					    ntohl(spi), &spi),
			 -ENOENT);
	assert_int_equal(cygnet_spi_reserve(f->db, IPPROTO_ESP, AF_INET, &p.id.dst, 1, 2, &spi),
			 -EINVAL);
	/* Delete a reserved SPI, as after a failed negotiation. */
	assert_int_equal(cygnet_spi_reserve(f->db, IPPROTO_ESP, AF_INET, &p.id.dst, 256, 256, &spi),
			 0);
	p.id.spi = spi;
	assert_int_equal(cygnet_sa_delete(f->db, &p.id), 0);
}

static void spi_release(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);

	assert_int_equal(cygnet_spi_release(f->db, &p.id), -ENOENT);
	assert_int_equal(cygnet_spi_reserve(f->db, IPPROTO_ESP, AF_INET, &p.id.dst, 0x1000, 0x1000,
					    &p.id.spi),
			 0);
	assert_true(cygnet_spi_reserved(f->db, &p.id));
	assert_null(lookup(f->db, 0x1000));
	assert_true(cygnet_sad_expects(f->db, p.id.spi, IPPROTO_ESP, AF_INET, &p.id.dst));
	assert_false(cygnet_sad_expects(f->db, p.id.spi, IPPROTO_AH, AF_INET, &p.id.dst));
	assert_false(cygnet_sad_expects(f->db, p.id.spi, IPPROTO_ESP, AF_INET6, &p.id.dst));
	assert_int_equal(cygnet_spi_release(f->db, &p.id), 0);
	assert_false(cygnet_spi_reserved(f->db, &p.id));
	assert_false(cygnet_sad_expects(f->db, p.id.spi, IPPROTO_ESP, AF_INET, &p.id.dst));
	assert_int_equal(cygnet_sa_delete(f->db, &p.id), -ENOENT);
	/* A live SA has the SPI. */
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	assert_false(cygnet_spi_reserved(f->db, &p.id));
	assert_int_equal(cygnet_spi_release(f->db, &p.id), -ENOENT);
	assert_non_null(lookup(f->db, 0x1000));
	assert_true(cygnet_sad_expects(f->db, p.id.spi, IPPROTO_ESP, AF_INET, &p.id.dst));
}

static void all_slots_in_use(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	struct cygnet_addr dst = p.id.dst;
	struct cygnet_db_info info;
	uint32_t spi;

	for (uint32_t i = 0; i < 1024; i++) {
		p = sa_params(0x1000 + i, i & 1);
		assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	}
	p = sa_params(0x9000, true);
	assert_int_equal(cygnet_sa_add(f->db, &p), -ENOSPC);
	assert_int_equal(cygnet_spi_reserve(f->db, IPPROTO_ESP, AF_INET, &dst, 0, 0, &spi),
			 -ENOSPC);
	cygnet_db_info(f->db, &info);
	assert_int_equal(info.sas, 1024);
	cygnet_db_flush(f->db);
	cygnet_db_info(f->db, &info);
	assert_int_equal(info.sas, 0);
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
}

static void update_keeps_state(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true), q = sa_params(0x1000, true);
	struct cygnet_path path = {addr4("198.51.100.1"),
				   addr4("198.51.100.2"),
				   htons(4500),
				   htons(4500),
				   1,
				   AF_INET,
				   {0}};
	struct cygnet_sa *sa;

	q.id.dst = q.path.dst = addr4("192.0.2.77");
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	assert_int_equal(cygnet_sa_add(f->db, &q), 0); /* same SPI, another destination */
	sa = lookup(f->db, 0x1000);
	sa->seq = 77;
	sa->packets = 5;
	assert_int_equal(cygnet_sa_update(f->db, &p.id, &q.path, 0), -EEXIST);
	assert_int_equal(cygnet_sa_update(f->db, &p.id, &path, 9), 0);
	assert_null(lookup(f->db, 0x1000));
	assert_ptr_equal(cygnet_sad_lookup(f->db, p.id.spi, IPPROTO_ESP, AF_INET, &path.dst), sa);
	assert_int_equal(sa->seq, 77);
	assert_int_equal(sa->packets, 5);
	assert_int_equal(sa->reqid, 9);
	assert_int_equal(cygnet_sa_path(sa)->encap, 1);
	assert_int_equal(cygnet_sa_update(f->db, &p.id, &path, 0), -ENOENT);
	p.id.dst = path.dst;
	assert_int_equal(cygnet_sa_update(f->db, &p.id, &p.path, 0), 0); /* and back */
	assert_ptr_equal(lookup(f->db, 0x1000), sa);
}

static struct cygnet_sa *lookup6(struct cygnet_db *db, uint32_t spi)
{
	struct cygnet_addr dst = addr6("2001:db8::1");

	return cygnet_sad_lookup(db, htonl(spi), IPPROTO_ESP, AF_INET6, &dst);
}

/* From IPv4 to IPv6 and back (RFC 4555, 3.5): the SA keeps counters, replay state and keys. */
static void update_to_another_family(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	struct cygnet_path far =
		{addr6("2001:db8::2"), addr6("2001:db8::1"), 0, 0, 0, AF_INET6, {0}};
	struct cygnet_sa_id there = {p.id.spi, IPPROTO_ESP, AF_INET6, far.dst};
	struct cygnet_sa before, *sa;
	struct cygnet_sa_usage usage;

	p.replay_window = 4096;
	p.lifetime.hard_packets = 1000;
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	sa = lookup(f->db, 0x1000);
	assert_true(cygnet_replay_update(f->db, sa, 5000));
	sa->packets = 7;
	sa->bytes = 700;
	sa->use_time = 70;
	sa->expired = CYGNET_EXPIRE_SOFT;
	before = *sa;
	assert_int_equal(cygnet_sa_update(f->db, &p.id, &far, 0), 0);
	assert_null(lookup(f->db, 0x1000));
	assert_ptr_equal(lookup6(f->db, 0x1000), sa);
	assert_memory_equal(&sa->seq, &before.seq,
			    sizeof(before) - offsetof(struct cygnet_sa, seq));
	assert_memory_equal(sa->cipher_key, before.cipher_key, sizeof(before.cipher_key));
	assert_int_equal(sa->generation, before.generation);
	assert_int_equal(sa->replay_block, before.replay_block);
	assert_false(cygnet_replay_check(f->db, sa, 5000));
	assert_true(cygnet_replay_update(f->db, sa, 4999));
	/* Only the new id finds it. */
	assert_int_equal(cygnet_sa_query(f->db, &p.id, &usage), -ENOENT);
	assert_int_equal(cygnet_sa_query(f->db, &there, &usage), 0);
	assert_int_equal(usage.packets, 7);
	assert_int_equal(usage.seq, 5000);
	assert_int_equal(cygnet_sa_update(f->db, &there, &p.path, 0), 0);
	assert_ptr_equal(lookup(f->db, 0x1000), sa);
	assert_null(lookup6(f->db, 0x1000));
	assert_false(cygnet_replay_check(f->db, sa, 4999));
	assert_int_equal(cygnet_sa_delete(f->db, &there), -ENOENT);
	assert_int_equal(cygnet_sa_delete(f->db, &p.id), 0);
}

/* The same bytes are an IPv4 and an IPv6 address. */
static void same_bytes_in_two_families(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params v4 = sa_params(0x1000, true), v6 = v4;

	v6.id.af = v6.path.af = AF_INET6;
	assert_int_equal(cygnet_sa_add(f->db, &v4), 0);
	assert_int_equal(cygnet_sa_update(f->db, &v6.id, &v6.path, 0), -ENOENT);
	assert_int_equal(cygnet_sa_add(f->db, &v6), 0);
	assert_ptr_not_equal(lookup(f->db, 0x1000), cygnet_sad_lookup(f->db, v6.id.spi, IPPROTO_ESP,
								      AF_INET6, &v6.id.dst));
	assert_int_equal(cygnet_sa_update(f->db, &v4.id, &v6.path, 0), -EEXIST);
	v6.path.af = AF_UNIX;
	assert_int_equal(cygnet_sa_update(f->db, &v4.id, &v6.path, 0), -EINVAL);
	v6.path = (struct cygnet_path){.dst = addr6("2001:db8::1"), .af = AF_INET};
	assert_int_equal(cygnet_sa_update(f->db, &v4.id, &v6.path, 0), -EINVAL);
}

/* Number of times that this thread has slept. */
static long slept(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

static void update_waits_for_readers(void **state)
{
	long before;
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	struct cygnet_path path = p.path;

	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), 0);
	assert_int_equal(cygnet_reader_online(f->db, 3), 0);
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	path.encap = 1;
	assert_int_equal(cygnet_sa_update(f->db, &p.id, &path, 0), 0);
	/* The call returns instead of sleeping, because it holds the mutex. */
	before = slept();
	assert_int_equal(cygnet_sa_update(f->db, &p.id, &path, 0), -EAGAIN);
	assert_in_range(slept() - before, 0, 9);
	cygnet_reader_quiescent(f->db, 3);
	assert_int_equal(cygnet_sa_update(f->db, &p.id, &path, 0), 0);
	cygnet_reader_offline(f->db, 3);
	assert_int_equal(cygnet_sa_update(f->db, &p.id, &path, 0), 0);
}

static void generations(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	struct cygnet_sa *sa;
	uint32_t index, generation;

	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	sa = lookup(f->db, 0x1000);
	index = cygnet_sa_index(f->db, sa);
	generation = sa->generation;
	assert_ptr_equal(cygnet_sa_get(f->db, index, generation), sa);
	assert_int_equal(cygnet_sa_delete(f->db, &p.id), 0);
	assert_null(cygnet_sa_get(f->db, index, generation));
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	assert_null(cygnet_sa_get(f->db, index, generation));
	assert_null(cygnet_sa_get(f->db, UINT32_MAX, generation));
	assert_null(cygnet_sa_at(f->db, 1024));
}

static void reserve_seq(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, false), esn = sa_params(0x1001, false);
	struct cygnet_sa *sa;
	uint64_t first;

	esn.flags |= CYGNET_SA_ESN;
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	assert_int_equal(cygnet_sa_add(f->db, &esn), 0);
	sa = cygnet_sa_at(f->db, 0);
	assert_int_equal(cygnet_sa_reserve_seq(sa, 32, &first), 32);
	assert_int_equal(first, 1);
	assert_int_equal(cygnet_sa_reserve_seq(sa, 1, &first), 1);
	assert_int_equal(first, 33);
	sa->seq = UINT32_MAX - 2;
	assert_int_equal(cygnet_sa_reserve_seq(sa, 32, &first), 2);
	assert_int_equal(first, UINT32_MAX - 1);
	assert_int_equal(cygnet_sa_reserve_seq(sa, 1, &first), 0);
	sa = cygnet_sa_at(f->db, 1);
	sa->seq = UINT32_MAX - 2;
	assert_int_equal(cygnet_sa_reserve_seq(sa, 32, &first), 32);
}

/* Many peers choose the SPI of an inbound SA for outbound ones. */
static void outbound_behind_inbound(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	const struct cygnet_sa *sa;

	for (uint32_t i = 0; i < 100; i++) {
		struct cygnet_sa_params out = sa_params(0x1000, false);

		out.id.dst.v4 = out.path.dst.v4 = htonl(0x0a000000 + i);
		assert_int_equal(cygnet_sa_add(f->db, &out), 0);
		if (i == 50)
			assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	}
	sa = lookup(f->db, 0x1000);
	assert_non_null(sa);
	/* The inbound SA is the first of its chain: no other SA refers to it. */
	for (uint32_t i = 0; i < 1024; i++)
		assert_int_not_equal(cygnet_sa_at(f->db, i)->next, cygnet_sa_index(f->db, sa) + 1);
	assert_int_equal(cygnet_sa_delete(f->db, &p.id), 0);
	assert_null(lookup(f->db, 0x1000));
}

static void reserved_spi_is_inbound(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, false);

	assert_int_equal(cygnet_spi_reserve(f->db, IPPROTO_ESP, AF_INET, &p.id.dst, 0x1000, 0x1000,
					    &p.id.spi),
			 0);
	assert_int_equal(cygnet_sa_add(f->db, &p), -EEXIST);
	p.flags |= CYGNET_SA_INBOUND;
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
}

/* A dataplane that died may have raised expiries without posting them. */
static void new_dataplane_clears_expired(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	struct cygnet_sa *sa;

	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	sa = lookup(f->db, 0x1000);
	sa->expired = CYGNET_EXPIRE_SOFT | CYGNET_EXPIRE_HARD;
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_CHARON), 0);
	assert_int_equal(sa->expired, CYGNET_EXPIRE_SOFT | CYGNET_EXPIRE_HARD);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), 0);
	assert_int_equal(sa->expired, 0);
	sa->expired = CYGNET_EXPIRE_SOFT;
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), 0); /* held already */
	assert_int_equal(sa->expired, CYGNET_EXPIRE_SOFT);
}

static void invalid_params(void **state)
{
	struct fixture *f = *state;
	const struct cygnet_sa_params good = sa_params(0x1000, true);
	struct cygnet_sa_params p;

#define BAD(field, value) \
	p = good; \
	p.field = (value); \
	assert_int_equal(cygnet_sa_add(f->db, &p), -EINVAL)
	BAD(id.spi, htonl(255));
	BAD(id.proto, IPPROTO_TCP);
	BAD(id.af, AF_UNIX);
	BAD(path.af, AF_INET6);
	BAD(id.dst.v4, 1);
	BAD(path.src.words[1], 1);
	BAD(id.dst.bytes[4], p.path.dst.bytes[4] = 1);
	BAD(mode, 2);
	BAD(cipher, CYGNET_CIPHERS);
	BAD(auth, CYGNET_AUTHS);
	BAD(icv_len, 65);
	BAD(cipher_key_len, 61); /* and 4 bytes of salt */
	BAD(auth_key_len, 65);
	BAD(replay_window, 4097);
	BAD(if_id, p.mode = CYGNET_TRANSPORT);
#undef BAD
	assert_int_equal(cygnet_sa_add(f->db, &good), 0);
}

static void snapshot_has_no_keys(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params p = sa_params(0x1000, true);
	struct cygnet_sa copy;
	const uint8_t *byte = (const uint8_t *)&copy;
	unsigned int run = 0;

	assert_false(cygnet_sa_snapshot(f->db, 0, &copy));
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	memset(&copy, 0xee, sizeof(copy));
	assert_true(cygnet_sa_snapshot(f->db, 0, &copy));
	assert_int_equal(copy.spi, p.id.spi);
	for (size_t i = 0; i < sizeof(copy); i++) {
		run = byte[i] == 0xab ? run + 1 : 0;
		assert_true(run < 4);
	}
	assert_false(cygnet_sa_snapshot(f->db, 5000, &copy));
}

static void large_windows_are_reused(void **state)
{
	struct fixture *f = *state;
	struct cygnet_db_info info;

	/* More SAs than replay blocks. */
	for (uint32_t i = 0; i < 2000; i++) {
		struct cygnet_sa_params p = sa_params(0x1000 + i, true);

		p.replay_window = 4096;
		assert_int_equal(cygnet_sa_add(f->db, &p), 0);
		assert_true(cygnet_replay_update(f->db, lookup(f->db, 0x1000 + i), 5000));
		assert_int_equal(cygnet_sa_delete(f->db, &p.id), 0);
	}
	cygnet_db_reclaim(f->db);
	cygnet_db_info(f->db, &info);
	assert_int_equal(info.replay_blocks_free, info.replay_blocks);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(add_lookup_delete),
		TEST(lookup_outbound),
		TEST(one_spi_of_many_peers),
		TEST(file_of_older_library),
		TEST(ike_of_older_library),
		TEST(if_id_of_older_library),
		TEST(unknown_feature),
		TEST(keys_are_wiped),
		TEST(slot_waits_for_reader),
		TEST(spi_reserve),
		TEST(spi_release),
		TEST(all_slots_in_use),
		TEST(update_keeps_state),
		TEST(update_to_another_family),
		TEST(same_bytes_in_two_families),
		TEST(update_waits_for_readers),
		TEST(generations),
		TEST(reserve_seq),
		TEST(outbound_behind_inbound),
		TEST(reserved_spi_is_inbound),
		TEST(new_dataplane_clears_expired),
		TEST(invalid_params),
		TEST(snapshot_has_no_keys),
		TEST(large_windows_are_reused),
	};

	return cmocka_run_group_tests_name("sad", tests, NULL, NULL);
}

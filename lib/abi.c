/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of ABI version 6. It has no code: a change of the layout does not compile without a new
 * CYGNET_ABI_VERSION. The rules for a new field that needs none are in layout.h.
 */
#include "layout.h"

_Static_assert(CYGNET_ABI_VERSION == 6, "write down the layout of the new version");

/* Sizes of pthread_mutex_t, and with them offsets, differ between architectures. */
#ifdef __x86_64__

#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), "size of " #type)
#define AT(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field " has moved")
#define VALUE(name, value) _Static_assert((name) == (value), #name " has another value")

VALUE(LAYOUT_EVENTS, 4096);
VALUE(LAYOUT_SPD_LISTS, 6);
VALUE(LAYOUT_LOGGED, 15);
VALUE(LENGTHS, 129);
VALUE(LENGTHS_WORDS, 3);
VALUE(REPLAY_BLOCK_WORDS, 65);
VALUE(REPLAY_INLINE_WORDS, 4);
VALUE(CYGNET_ROLES, 2);
VALUE(CYGNET_IKE_PORTS, 16);
VALUE(CYGNET_MAX_READERS, 128);
VALUE(CYGNET_KEY_MAX, 64);
VALUE(CYGNET_SLOT_FREE, 0);
VALUE(CYGNET_SLOT_LARVAL, 1);
VALUE(CYGNET_SLOT_LIVE, 2);
VALUE(CYGNET_SLOT_RETIRED, 3);

SIZE(fixed, 136);
AT(fixed, magic, 0);
AT(fixed, abi, 8);
AT(fixed, header_size, 12);
AT(fixed, features, 16);
AT(fixed, file_size, 24);
AT(fixed, geometry, 32);
AT(fixed, sa_buckets, 40);
AT(fixed, policy_buckets, 44);
AT(fixed, replay_blocks, 48);
AT(fixed, net_buckets, 52);
AT(fixed, sa_table, 56);
AT(fixed, policy_table, 64);
AT(fixed, peer_nets, 72);
AT(fixed, sharing, 80);
AT(fixed, sas, 88);
AT(fixed, policies, 96);
AT(fixed, replay, 104);
AT(fixed, events, 112);
AT(fixed, seed, 120);
AT(fixed, checksum, 128);

SIZE(header, 18688);
AT(header, fixed, 0);
AT(header, mutex, 192);
AT(header, order, 232);
AT(header, recoveries, 240);
AT(header, sa_pool, 248);
AT(header, policy_pool, 272);
AT(header, replay_fresh, 296);
AT(header, replay_free, 300);
AT(header, replay_used, 304);
AT(header, role_pid, 308);
AT(header, epoch, 320);
AT(header, spd_changes, 328);
AT(header, spd_binds, 336);
AT(header, moving, 340);
AT(header, boot, 344);
AT(header, ike_notes, 360);
AT(header, ike_port, 384);
AT(header, reader, 448);
AT(header, event_tail, 8640);
AT(header, event_signal, 8644);
AT(header, event_head, 8704);
AT(header, event_waiting, 8708);
AT(header, event_wakes, 8712);
AT(header, spd, 8768);

SIZE(pool, 24);
AT(pool, fresh, 0);
AT(pool, free, 4);
AT(pool, retired_head, 8);
AT(pool, retired_tail, 12);
AT(pool, used, 16);
AT(pool, retired, 20);

SIZE(ike_dst, 32);
AT(ike_dst, dst, 0);
AT(ike_dst, state, 16);

SIZE(lengths, 24);
AT(lengths, word, 0);

SIZE(spd_length, 12);
AT(spd_length, policies, 0);
AT(spd_length, best, 4);
AT(spd_length, local, 8);

SIZE(spd_list, 1648);
AT(spd_list, peer, 0);
AT(spd_list, by_ports, 24);
AT(spd_list, by_protocol, 28);
AT(spd_list, logged, 36);
AT(spd_list, length, 96);

SIZE(peer_net, 32);
AT(peer_net, local, 0);
AT(peer_net, policies, 24);
AT(peer_net, marks, 28);

SIZE(reader, 64);
AT(reader, seen, 0);

SIZE(replay_block, 528);
AT(replay_block, word, 0);
AT(replay_block, owned, 520);

SIZE(cygnet_path, 40);
AT(cygnet_path, src, 0);
AT(cygnet_path, dst, 16);
AT(cygnet_path, sport, 32);
AT(cygnet_path, dport, 34);
AT(cygnet_path, encap, 36);
AT(cygnet_path, af, 37);

SIZE(cygnet_lifetime, 48);
AT(cygnet_lifetime, soft_bytes, 0);
AT(cygnet_lifetime, hard_bytes, 8);
AT(cygnet_lifetime, soft_packets, 16);
AT(cygnet_lifetime, hard_packets, 24);
AT(cygnet_lifetime, soft_seconds, 32);
AT(cygnet_lifetime, hard_seconds, 40);

SIZE(cygnet_sa, 512);
AT(cygnet_sa, state, 0);
AT(cygnet_sa, generation, 4);
AT(cygnet_sa, next, 8);
AT(cygnet_sa, spi, 12);
AT(cygnet_sa, reqid, 16);
AT(cygnet_sa, flags, 20);
AT(cygnet_sa, path_index, 24);
AT(cygnet_sa, replay_window, 28);
AT(cygnet_sa, replay_block, 32);
AT(cygnet_sa, tfc, 36);
AT(cygnet_sa, proto, 38);
AT(cygnet_sa, mode, 39);
AT(cygnet_sa, cipher, 40);
AT(cygnet_sa, auth, 41);
AT(cygnet_sa, dscp, 42);
AT(cygnet_sa, icv_len, 43);
AT(cygnet_sa, cipher_key_len, 44);
AT(cygnet_sa, salt_len, 45);
AT(cygnet_sa, auth_key_len, 46);
AT(cygnet_sa, if_id, 48);
AT(cygnet_sa, path_mtu, 56);
AT(cygnet_sa, path, 64);
AT(cygnet_sa, link, 144);
AT(cygnet_sa, epoch, 152);
AT(cygnet_sa, cipher_key, 192);
AT(cygnet_sa, auth_key, 256);
AT(cygnet_sa, seq, 320);
AT(cygnet_sa, replay, 328);
AT(cygnet_sa, bytes, 360);
AT(cygnet_sa, packets, 368);
AT(cygnet_sa, use_time, 376);
AT(cygnet_sa, replay_drops, 384);
AT(cygnet_sa, auth_drops, 392);
AT(cygnet_sa, expired, 400);
AT(cygnet_sa, lifetime, 448);
AT(cygnet_sa, install_time, 496);

SIZE(cygnet_selector, 80);
AT(cygnet_selector, src_lo, 0);
AT(cygnet_selector, src_hi, 16);
AT(cygnet_selector, dst_lo, 32);
AT(cygnet_selector, dst_hi, 48);
AT(cygnet_selector, sport_lo, 64);
AT(cygnet_selector, sport_hi, 66);
AT(cygnet_selector, dport_lo, 68);
AT(cygnet_selector, dport_hi, 70);
AT(cygnet_selector, interface, 72);
AT(cygnet_selector, af, 76);
AT(cygnet_selector, proto, 77);

SIZE(cygnet_policy, 192);
AT(cygnet_policy, sel, 0);
AT(cygnet_policy, priority, 80);
AT(cygnet_policy, reqid, 84);
AT(cygnet_policy, spi, 88);
AT(cygnet_policy, next, 92);
AT(cygnet_policy, generation, 96);
AT(cygnet_policy, state, 100);
AT(cygnet_policy, user, 104);
AT(cygnet_policy, refs, 108);
AT(cygnet_policy, dir, 112);
AT(cygnet_policy, action, 113);
AT(cygnet_policy, proto, 114);
AT(cygnet_policy, mode, 115);
AT(cygnet_policy, link, 116);
AT(cygnet_policy, epoch, 120);
AT(cygnet_policy, use_time, 128);
AT(cygnet_policy, sa, 136);
AT(cygnet_policy, order, 144);
AT(cygnet_policy, rank, 152);
AT(cygnet_policy, af, 156);
AT(cygnet_policy, per_cpu, 158);
AT(cygnet_policy, src, 160);
AT(cygnet_policy, dst, 176);

SIZE(cygnet_flow, 48);
AT(cygnet_flow, src, 0);
AT(cygnet_flow, dst, 16);
AT(cygnet_flow, sport, 32);
AT(cygnet_flow, dport, 34);
AT(cygnet_flow, interface, 36);
AT(cygnet_flow, af, 40);
AT(cygnet_flow, proto, 41);
AT(cygnet_flow, has_ports, 42);
AT(cygnet_flow, fragment, 43);
AT(cygnet_flow, by_if_id, 44);

SIZE(cygnet_sa_id, 24);
AT(cygnet_sa_id, spi, 0);
AT(cygnet_sa_id, proto, 4);
AT(cygnet_sa_id, af, 5);
AT(cygnet_sa_id, dst, 8);

SIZE(cygnet_event, 104);
AT(cygnet_event, type, 0);
AT(cygnet_event, hard, 2);
AT(cygnet_event, reqid, 4);
AT(cygnet_event, id, 8);
AT(cygnet_event, flow, 32);
AT(cygnet_event, new_addr, 80);
AT(cygnet_event, new_port, 96);
AT(cygnet_event, cpu, 98);

#endif

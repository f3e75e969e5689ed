/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of dataplane/path/worker/share.c for SPIN: how workers come to share an outbound SA, and stop. Worker 0 owns the
 * SA, which does not move. Each step is one access to memory that workers share, or one atomic operation. The memory
 * is sequentially consistent, which C's is not. dataplane/tests/test-model runs the model.
 *
 * Workers receive the packets of a flow each. The others hand theirs off to the owner, which takes numbers by a plain
 * addition, until it offers the SA. Then they join, and take numbers by atomic additions, in blocks of which some may
 * remain. What they put leaves in the order of numbers, as send-order.pml has checked: here that is one step, and nobody
 * gives up. A session may be released whenever no packet has a number of it and has not been put, thus also between
 * two stages, and is made again for the next packet.
 *
 * Checked, as assertions:
 * - no number leaves with two packets, also when the process is killed: another one then begins with the file's counter;
 * - packets of a flow leave in the order of receipt, also while workers join;
 * - no packet is lost, unless the process is killed: neither with an order that ends nor when all workers are idle.
 * And by -DLTL: whatever has been received leaves.
 *
 * RELEASES    sessions that are released, at most
 * KILL	       the process may be killed, at any moment, once
 *
 * Mistakes, each of which SPIN has to find:
 * PLAIN       a worker that shares adds as one that does not;
 * JOIN_AT_ONCE  who joins does not wait for what it has handed off;
 * ONE_STEP    ... and waits until the owner has taken it, but not until it has protected it;
 * LATE_STORE  the counter is in the file once the frames have left;
 * KEEP_NUMBERS  the rest of a block is not put;
 * STRANGER    as in commit cd486d17: a worker other than the owner protects a packet by a session that is not shared.
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef PACKETS
#define PACKETS 2 /* of a flow */
#endif
#ifndef RELEASES
#define RELEASES 2
#endif
#define OWNER	 0
#define ALL	 (WORKERS * PACKETS)
#define NUMBERS	 (2 * ALL + 2)
#define ORDERS	 2
#define CHANGING 255 /* users */

/* A packet: its flow, and its place in it from 1 on. */
#define PACKET(flow, i) ((flow) * 8 + (i))
#define FLOW(p)		((p) / 8)
#define INDEX(p)	((p) % 8)
#define NOTHING		255

mtype = { NONE, PLAIN_ONE, SHARED };

byte seq;			   /* counter of the shared file */
chan inbox = [ALL] of { byte };	   /* of the owner */

/* Orders. One of them at most has users, `order`: it has `next` and the window. */
byte users[ORDERS + 1];
byte by_slot; /* the SA's; 0: none */
byte order;
byte next;
byte at[NUMBERS + 1];

/* Of each worker; but for `ahead` and `turns`, which stand for positions in the inbox and for a number of turns, of
 * which workers compare the difference alone. */
mtype session[WORKERS] = NONE;
chan fit[WORKERS] = [ALL] of { byte };	       /* packets in front of the stage */
chan kept[WORKERS] = [PACKETS] of { byte };
chan handoff[WORKERS] = [ALL] of { byte };     /* until the end of the turn */
chan tx[WORKERS] = [ALL] of { byte, byte };    /* packet and number: likewise */
byte ahead[WORKERS];			       /* packets in the inbox that were there when the worker began to join */
byte turns[WORKERS];			       /* that the owner has begun since; more than 2 are 2 */

/* What the assertions ask; no worker does. */
bool used[NUMBERS + 1];	 /* numbers of frames that have left */
byte received[WORKERS], left[WORKERS];
bool in_turn[WORKERS];
bool killed;
bool ends[WORKERS];	 /* the worker is to end: its process has been killed */
byte releases;

inline leave_wire(p, number)
{
	assert(!used[number]);
	used[number] = true;
	assert(INDEX(p) > left[FLOW(p)]);
	assert(killed || INDEX(p) == left[FLOW(p)] + 1);
	left[FLOW(p)] = INDEX(p)
}

/* --- the order --- */

/* send_order_join(). @param ok  receives whether there is one */
inline join_order(ok)
{
	i = by_slot;
	d_step {
		ok = (i != 0 && users[i] != 0 && users[i] != CHANGING);
		if
		:: ok ->
			assert(i == order);
			users[i]++
		:: else
		fi;
		i = 0
	}
}

/* send_order_leave() */
inline leave_order()
{
	d_step {
		i = order;
		assert(users[i] != 0 && users[i] != CHANGING);
		users[i]--;
		if
		:: users[i] != 0 -> i = 0
		:: else ->
			/* Nobody else changes it now. */
			users[i] = CHANGING;
			j = 0;
			do
			:: j <= NUMBERS ->
				assert(at[j] == 0 || at[j] == NOTHING);
				at[j] = 0;
				j++
			:: else -> break
			od;
			j = 0;
			order = 0
		fi
	};
	if
	:: i != 0 ->
		d_step {
			if
			:: by_slot == i -> by_slot = 0
			:: else
			fi
		};
		users[i] = 0;
		i = 0
	:: else
	fi
}

/* send_in_order(), send_nothing(), and send_order_flush(): whoever has put the next one sends. */
inline put(p, number)
{
	d_step {
		assert(number >= next && at[number] == 0);
		at[number] = p;
		do
		:: next <= NUMBERS && at[next] != 0 ->
			if
			:: at[next] != NOTHING -> leave_wire(at[next], next)
			:: else
			fi;
			at[next] = 0;
			next++
		:: else -> break
		od
	}
}

/* --- sessions --- */

/* settle(): numbers that no packet has got */
inline settle()
{
	do
	:: rest > 0 ->
#ifndef KEEP_NUMBERS
		put(NOTHING, number);
#endif
		number++;
		rest--
	:: else -> break
	od;
	number = 0
}

inline release()
{
	settle();
	if
	:: session[self] == SHARED -> leave_order()
	:: else
	fi;
	session[self] = NONE
}

inline may_release()
{
	if
	:: session[self] != NONE && releases < RELEASES ->
		releases++;
		release()
	:: true
	fi
}

/* share_session_created() */
inline create()
{
	join_order(ok);
	session[self] = (ok -> SHARED : PLAIN_ONE);
	ok = false
}

/* --- packets --- */

/* Numbers for this packet and those behind it. */
inline take_shared()
{
	if
	:: rest == 0 ->
#ifdef PLAIN
		number = seq;
		rest = 1;
		seq = number + rest;
		number++
#else
		d_step {
			rest = 1 + len(fit[self]);
			number = seq + 1;
			seq = seq + rest
		}
#endif
	:: else
	fi
}

inline take_plain()
{
	number = seq;
	number++;
#ifndef LATE_STORE
	seq = number
#endif
}

/* The stages, and crypto. */
inline protect(p)
{
	may_release();
	if
	:: session[self] == NONE -> create()
	:: else
	fi;
	if
	:: session[self] == SHARED ->
		take_shared();
		put(p, number);
		number++;
		rest--
#ifndef STRANGER
	:: session[self] == PLAIN_ONE && self != OWNER -> handoff[self]!p
	:: session[self] == PLAIN_ONE && self == OWNER -> take_plain();
#else
	:: session[self] == PLAIN_ONE -> take_plain();
#endif
		tx[self]!p, number;
		number = 0
	fi
}

inline dispatch()
{
	do
	:: fit[self]?p -> protect(p)
	:: empty(fit[self]) -> break
	od;
	settle();
	p = 0
}

/* to_sa() */
inline receive()
{
	received[self]++;
	p = PACKET(self, received[self]);
	if
	:: session[self] == SHARED || self == OWNER -> fit[self]!p
	:: else ->
		if
		:: joining -> kept[self]!p
		:: else ->
			if
			:: !wanted -> wanted = (by_slot != 0) /* share_want() */
			:: else
			fi;
			handoff[self]!p
		fi
	fi;
	p = 0
}

/* --- share_turn() --- */

/* send_order_begin(). If there are too many orders, the SA stays as it is. */
inline offer()
{
	number = seq + 1;
	d_step {
		assert(order == 0);
		i = 1;
		do
		:: i <= ORDERS && users[i] != 0 -> i++
		:: else -> break
		od;
		if
		:: i <= ORDERS ->
			users[i] = 1;
			order = i;
			next = number
		:: else -> i = 0
		fi;
		number = 0
	};
	if
	:: i != 0 ->
		by_slot = i;
		i = 0;
		session[self] = SHARED
	:: else
	fi
}

inline begin_to_join()
{
	wanted = false;
	join_order(joining);
	if
	:: joining ->
		ahead[self] = len(inbox);
		taken = false
	:: else
	fi
}

inline has_protected()
{
#ifdef JOIN_AT_ONCE
	ok = true;
#else
	if
	:: !taken ->
		taken = (ahead[self] == 0);
		turns[self] = 0
	:: else ->
#ifdef ONE_STEP
		ok = true
#else
		ok = (turns[self] >= 2)
#endif
	fi;
#endif
}

/* join(): without a free session, what is kept goes to the owner. */
inline join()
{
	ok = true;
	if
	:: session[self] == NONE ->
		if
		:: true -> create()
		:: ok = false
		fi
#ifndef STRANGER
	:: session[self] == PLAIN_ONE -> create()
#endif
	:: else
	fi;
	do
	:: kept[self]?p ->
		if
		:: session[self] != NONE -> fit[self]!p
		:: else -> handoff[self]!p
		fi
	:: empty(kept[self]) -> break
	od;
	p = 0;
	ok = false;
	joining = false;
	leave_order()
}

inline share_turn()
{
	if
	:: self == OWNER ->
		if
		:: session[self] == PLAIN_ONE -> offer()
		:: true
		fi
	:: else ->
		if
		:: wanted && !joining -> begin_to_join()
		:: joining ->
			has_protected();
			if
			:: ok -> join()
			:: else
			fi
		:: else
		fi
	fi
}

/* --- the loop --- */

/* count_turn() and inbox_poll() */
inline owner_begins()
{
	d_step {
		do
		:: i < WORKERS ->
			turns[i] = (turns[i] < 2 -> turns[i] + 1 : 2);
			i++
		:: else -> break
		od;
		i = 0
	};
	atomic {
		do
		:: inbox?p ->
			fit[self]!p;
			do
			:: i < WORKERS ->
				ahead[i] = (ahead[i] > 0 -> ahead[i] - 1 : 0);
				i++
			:: else -> break
			od;
			i = 0
		:: empty(inbox) -> break
		od;
		p = 0
	}
}

/* tx_flush() and handoff_flush() */
inline end_turn()
{
	do
	:: tx[self]?p, number ->
		d_step { leave_wire(p, number) }
	:: empty(tx[self]) -> break
	od;
#ifdef LATE_STORE
	if
	:: number != 0 -> seq = number
	:: else
	fi;
#endif
	atomic {
		do
		:: handoff[self]?p -> inbox!p
		:: empty(handoff[self]) -> break
		od;
		p = 0;
		number = 0
	}
}

inline check_idle()
{
	d_step {
		in_turn[self] = false;
		ok = true;
		do
		:: i < WORKERS ->
			ok = ok && !in_turn[i] && received[i] == PACKETS && empty(kept[i]) && empty(inbox);
			i++
		:: else -> break
		od;
		i = 0;
		do
		:: ok && !killed && i < WORKERS ->
			assert(left[i] == PACKETS);
			i++
		:: else -> break
		od;
		i = 0;
		ok = false
	}
}

proctype worker(byte self)
{
	byte p, number, rest, i, j;
	bool ok, wanted, joining, taken;

again:
	{
		do
		:: true ->
			in_turn[self] = true;
			may_release();
			share_turn();
			if
			:: self == OWNER -> owner_begins()
			:: else
			fi;
			dispatch();
			do
			:: received[self] < PACKETS -> receive()
			:: true -> break
			od;
			dispatch();
			end_turn();
			check_idle()
		od
	} unless {
		atomic {
			ends[self] ->
			ends[self] = false;
			p = 0;
			number = 0;
			rest = 0;
			i = 0;
			j = 0;
			ok = false;
			wanted = false;
			joining = false;
			taken = false
		}
	};
	goto again
}

/* kill -9, and another process: it has the counter, and nothing else. */
inline kill()
{
	d_step {
		killed = true;
		by_slot = 0;
		order = 0;
		next = 0;
		do
		:: i <= ORDERS ->
			users[i] = 0;
			i++
		:: else -> break
		od;
		i = 0;
		do
		:: inbox?_
		:: empty(inbox) -> break
		od;
		do
		:: i <= NUMBERS ->
			at[i] = 0;
			i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < WORKERS ->
			session[i] = NONE;
			do
			:: fit[i]?_
			:: kept[i]?_
			:: handoff[i]?_
			:: tx[i]?_, _
			:: empty(fit[i]) && empty(kept[i]) && empty(handoff[i]) && empty(tx[i]) -> break
			od;
			ahead[i] = 0;
			turns[i] = 0;
			in_turn[i] = false;
			ends[i] = true;
			i++
		:: else -> break
		od;
		i = 0
	}
}

init
{
	byte i;

	atomic {
		do
		:: i < WORKERS ->
			run worker(i);
			i++
		:: else -> break
		od;
		i = 0
	};
#ifdef KILL
	kill()
#endif
}

#ifdef LTL
#define ALL_RECEIVED (received[0] == PACKETS && received[WORKERS - 1] == PACKETS)
#define ALL_LEFT     (left[0] == PACKETS && left[WORKERS - 1] == PACKETS)
ltl leaves { [] (ALL_RECEIVED -> <> ALL_LEFT) }
#endif

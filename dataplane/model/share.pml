/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of dataplane/path/worker/share.c for SPIN: how workers come to share an outbound SA, and cease to. Worker 0 owns
 * the SA, which does not move to another one. Each step is one access to memory that workers share, or one atomic
 * operation. Memory is sequentially consistent here, which C's is not. dataplane/tests/test-model runs the model.
 *
 * Each worker receives the packets of a flow. The others hand theirs off to the owner, which takes numbers by a plain
 * addition until it offers the SA. Then they join, and take numbers by atomic additions, in blocks. Frames leave in the
 * order of numbers, as send-order.pml checks: here that is one step, and no number is given up. A session that has no
 * packet with a number is released at any moment, as another SA may need it: between turns, and between two stages.
 *
 * Assertions:
 * - no number leaves with two packets, also if the process is killed and another one goes on from the file;
 * - packets of a flow leave in the order of receipt, also while workers join;
 * - without a kill no packet is lost: an order that ends has no frame, and all have left when all workers are idle.
 * With LTL (pan -a -f): all leave if all have been received.
 *
 * WORKERS, PACKETS (of a flow), RELEASES (at most)
 * KILL		the process may be killed, once
 * QUEUES	packets with a number are in a device's queue, for any time
 *
 * Mistakes, each of which SPIN has to find:
 * PLAIN	a worker that shares the SA adds as one that does not
 * JOIN_AT_ONCE	a worker that joins does not wait for what it has handed off
 * ONE_STEP	it waits until the owner has taken that, not until the owner has protected it
 * LATE_STORE	the number is in the file once the frame has left (with KILL)
 * KEEP_NUMBERS	the rest of a block is not put
 * STRANGER	as in commit cd486d17: a worker that does not own the SA protects packets with a session that is not shared
 * OFFER_EARLY	as in commit c8642966: the owner offers the SA while frames of it wait for the port's queue
 * OFFER_BEHIND	the order begins behind what is in the device's queue (with QUEUES)
 *
 * Without a mistake SPIN 6.5.2 has looked at all states, with -DCOLLAPSE: 2 workers, 2 packets, 2 releases (0.9 million,
 * 1 s; with KILL 6.6 million, 7 s; with LTL 0.9 million); 3 releases and KILL (8.1 million, 7 s); 3 packets (7.4 million,
 * 6 s); 3 workers, 1 packet (20 million, 31 s). With QUEUES: 2 workers, 2 packets, 1 release (1.3 million, 1 s). Packets that
 * a device fails are not here.
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

mtype = { NONE, ALONE, SHARED }; /* sessions */

byte seq;			/* counter of the shared file */
chan inbox = [ALL] of { byte }; /* of the owner */

/* Orders. At most one has users, unless they are CHANGING: the window is that one's. */
byte users[ORDERS + 1];
byte by_slot; /* the SA's order; 0: none */
byte order;   /* that has users; 0: none */
byte next;
byte at[NUMBERS + 1];

/* Of each worker. Workers compare positions in the inbox, and numbers of turns: only the difference matters. */
byte ahead[WORKERS]; /* packets in the inbox that were there when it began to join */
byte turns[WORKERS]; /* that the owner has begun since it had taken those; 2 or more are 2 */

/* What the assertions ask; no worker does. */
bool used[NUMBERS + 1]; /* numbers of frames that have left */
byte gone[WORKERS];	/* packets of its flow that have left */
bool idle[WORKERS];	/* its turn is over, and it has received all, and has none */
bool ends[WORKERS];	/* it is to end: its process has been killed */
bool killed;
byte releases;
#ifdef LTL
bool has_all[WORKERS];
#endif

inline leave_wire(p, number)
{
	assert(!used[number]);
	used[number] = true;
	assert(INDEX(p) > gone[FLOW(p)]);
	assert(killed || INDEX(p) == gone[FLOW(p)] + 1);
	gone[FLOW(p)] = INDEX(p)
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
				assert(at[j] == 0);
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

/* A session without a packet that has a number may be needed for another SA. */
inline may_release()
{
	if
	:: session != NONE && releases < RELEASES && empty(queue) ->
		releases++;
		leaves = true
	:: true
	fi
}

/* share_session_released() */
inline release()
{
	if
	:: leaves ->
		settle();
		if
		:: session == SHARED -> leave_order()
		:: else
		fi;
		session = NONE;
		leaves = false
	:: else
	fi
}

/* share_session_created() */
inline create()
{
	join_order(ok);
	session = (ok -> SHARED : ALONE);
	ok = false
}

/* --- packets --- */

/* Where a packet goes that has a number: with crypto in the turn, the frame is sent at its end. */
#ifdef QUEUES
#define DONE queue
#else
#define DONE tx
#endif

inline take_plain()
{
#ifdef LATE_STORE
	atomic {
		number = seq + len(DONE) + 1;
#else
	number = seq;
	atomic {
		number++;
		seq = number;
#endif
		DONE!p, number;
		number = 0
	}
}

/* For this packet and those behind it. */
inline take_shared()
{
	if
	:: rest > 0
	:: else ->
#ifdef PLAIN
		number = seq;
		atomic {
			rest = 1;
			number++;
			seq = number
		}
#else
		d_step {
			rest = 1 + len(fit);
			number = seq + 1;
			seq = seq + rest
		}
#endif
	fi
}

/* share_strays() */
#ifdef STRANGER
#define STRAYS false
#else
#define STRAYS (session != SHARED && self != OWNER)
#endif

/* The stages, and crypto. */
inline protect()
{
	release();
	if
	:: STRAYS -> handoff!p
	:: else ->
		if
		:: session == NONE -> create()
		:: else
		fi;
		if
		:: session == SHARED ->
			take_shared();
#ifdef QUEUES
			queue!p, number;
#else
			put(p, number);
#endif
			number++;
			rest--
		:: else -> take_plain()
		fi
	fi
}

inline dispatch()
{
	do
	:: atomic {
			fit?p ->
			may_release()
		};
		protect()
	:: atomic {
			empty(fit) ->
			p = 0;
			break
		}
	od;
	settle()
}

/* to_sa() */
inline receive()
{
	received++;
#ifdef LTL
	has_all[self] = (received == PACKETS);
#endif
	p = PACKET(self, received);
	if
	:: session == SHARED || self == OWNER -> fit!p
	:: else ->
		if
		:: joining -> kept!p
		:: else ->
			wanted = (wanted || by_slot != 0); /* share_want() */
			handoff!p
		fi
	fi;
	p = 0
}

/* --- share_turn() --- */

/* tx_flush_all() */
inline flush_all()
{
	do
	:: atomic {
			tx?p, number ->
			leave_wire(p, number)
		};
#ifdef LATE_STORE
		seq = number
#endif
	:: atomic {
			empty(tx) ->
			p = 0;
			number = 0;
			break
		}
	od
}

/* offer() and send_order_begin(), with users 1 at once: nobody uses an order while they are CHANGING. If there are too many
 * orders, the SA stays as it is. */
inline offer()
{
#ifndef OFFER_EARLY
	flush_all();
#endif
	number = seq + 1;
#ifndef OFFER_BEHIND
	if
	:: queue?<p, number> -> p = 0
	:: empty(queue)
	fi;
#endif
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
		session = SHARED
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
	if
	:: session == NONE -> create()
	:: true
	fi;
#ifndef STRANGER
	session = (session == ALONE -> NONE : session);
#endif
	atomic {
		do
		:: kept?p ->
			if
			:: session != NONE -> fit!p
			:: else -> handoff!p
			fi
		:: empty(kept) -> break
		od;
		p = 0;
		ok = false;
		joining = false
	};
	leave_order()
}

inline share_turn()
{
	if
	:: self == OWNER ->
		if
		:: session == ALONE -> offer()
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
			fit!p;
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

/* The end of a turn. */
inline check_idle()
{
	idle[self] = (received == PACKETS && empty(kept) && empty(queue) && empty(tx));
	ok = empty(inbox);
	do
	:: i < WORKERS ->
		ok = ok && idle[i];
		i++
	:: else -> break
	od;
	i = 0;
	do
	:: ok && !killed && i < WORKERS ->
		assert(gone[i] == PACKETS);
		i++
	:: else -> break
	od;
	i = 0;
	ok = false
}

/* The device gives some back: finish_out(). */
inline poll_crypto()
{
	do
	:: atomic {
			queue?p, number ->
			if
			:: session == SHARED
			:: else ->
				tx!p, number;
				p = 0
			fi
		};
		if
		:: p != 0 -> put(p, number)
		:: else
		fi;
		p = 0;
		number = 0
#ifdef LTL
	:: empty(queue) -> break
#else
	:: true -> break
#endif
	od
}

/* tx_flush(), unless another worker is sending by the queue, and handoff_flush() */
inline end_turn()
{
#ifdef QUEUES
	poll_crypto();
#endif
	if
	:: true -> flush_all()
#ifndef LTL
	:: nempty(tx)
#endif
	fi;
	atomic {
		do
		:: handoff?p -> inbox!p
		:: empty(handoff) -> break
		od;
		p = 0;
		number = 0;
		check_idle()
	}
}

proctype worker(byte self)
{
	byte p, number, rest, received, i, j;
	bool ok, leaves, wanted, joining, taken;
	mtype session = NONE;
	chan fit = [ALL] of { byte };	   /* packets in front of the stage */
	chan kept = [PACKETS] of { byte };
	chan handoff = [ALL] of { byte };  /* until the end of the turn */
	chan queue = [ALL] of { byte, byte }; /* of a device: packet and number */
	chan tx = [ALL] of { byte, byte }; /* until the end of the turn */

again:
	{
		do
		:: atomic {
				idle[self] = false;
				may_release()
			};
			release();
			share_turn();
			if
			:: self == OWNER -> owner_begins()
			:: else
			fi;
			dispatch();
			do
			:: atomic {
					received < PACKETS ->
					receive()
				}
			:: true -> break
			od;
			dispatch();
			end_turn()
		od
	} unless {
		d_step {
			ends[self] ->
			ends[self] = false;
			do
			:: fit?_
			:: kept?_
			:: handoff?_
			:: queue?_, _
			:: tx?_, _
			:: empty(fit) && empty(kept) && empty(handoff) && empty(queue) && empty(tx) -> break
			od;
			p = 0;
			number = 0;
			rest = 0;
			i = 0;
			j = 0;
			ok = false;
			leaves = false;
			wanted = false;
			joining = false;
			taken = false;
			session = NONE
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
			ahead[i] = 0;
			turns[i] = 0;
			idle[i] = false;
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
ltl leaves { [] (has_all[0] && has_all[WORKERS - 1] -> <> (gone[0] == PACKETS && gone[WORKERS - 1] == PACKETS)) }
#endif

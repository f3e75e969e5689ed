/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of dataplane/path/worker/send_order.c for SPIN: the window of a shared outbound SA. Each step is one access to
 * memory that workers share, or one atomic operation. Memory is sequentially consistent here, which C's is not.
 * dataplane/tests/test-model runs the model.
 *
 * Workers take numbers, one or two at a time, by an atomic addition, and put a frame or nothing for each. The session of a
 * worker may be released after any turn: what its frames wait for is given up. Another SA's frames may occupy the port's
 * queue. Numbers overflow on the way, as the low halves of sequence numbers do.
 *
 * Assertions:
 * - each frame leaves once, and none is lost: an order that ends has none, and all have left when all workers are idle;
 * - frames leave in the order of numbers, but for those given up; without GIVE_UP only a released session gives up;
 * - the place of a number has no frame of another number.
 *
 * WORKERS, NUMBERS (in all), WINDOW (places), BATCH (frames that leave at once)
 * GIVE_UP	frames may have waited long enough at any moment, and more numbers may be under way than there are places
 *
 * Mistakes, each of which SPIN has to find:
 * NO_RECHECK	a worker that has sent does not look again, and none does in its next turn
 * NO_NUMBER	an empty place does not say which number it is for (with GIVE_UP)
 * MARKERS	as in commit 315f017e: an empty place is NULL, or has a marker of the number given up there (with GIVE_UP)
 * LEAVE_TRIES	as in commit cd486d17: a worker that leaves does not wait for the lock
 *
 * Without a mistake SPIN 6.5.2 has looked at all states, with -DCOLLAPSE: 2 workers, 5 numbers (26 million, 22 s); 3
 * workers, 3 numbers, 2 places (13 million, 9 s). With GIVE_UP: 2 workers, 5 numbers, 2 places (37 million, 34 s); 3
 * workers, 3 numbers, 1 place (25 million, 21 s).
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef NUMBERS
#define NUMBERS 3 /* less than half of ROUND */
#endif
#ifndef WINDOW
#define WINDOW 4
#endif
#ifndef BATCH
#define BATCH 1
#endif
#define MOST_BATCHES 2
#define ROUND	     16 /* numbers are modulo */
#define FIRST	     14

/* As (int32_t)(a - b) < 0. */
#define LESS(a, b) ((((a) - (b)) & (ROUND - 1)) >= ROUND / 2)
#define SUM(a, b)  (((a) + (b)) & (ROUND - 1))
#define PLACE(n)   at[(n) & (WINDOW - 1)]
#define BIT(n)	   (1 << (n))

/* What a place has. A mistake's markers look like the numbers that an empty place is for. */
#define EMPTY	0
#define NOTHING 1
#ifdef NO_NUMBER
#define MARK(n) 16
#else
#define MARK(n) (16 + (n))
#endif
#define FRAME(n)      (32 + (n))
#define IS_FRAME(m)   ((m) >= 32)
#define IS_MISSING(m) ((m) == EMPTY || ((m) >= 16 && (m) < 32))

#ifdef MARKERS
#define FREE(n)	    EMPTY
#define GIVEN_UP(n) MARK(n)
#else
#define FREE(n)	    MARK(n)
#define GIVEN_UP(n) MARK(SUM(n, WINDOW)) /* free for the next one */
#endif

byte at[WINDOW];
byte next = FIRST;
bool locked;
byte users = WORKERS;
byte taken; /* numbers, from the counter in the shared file */

/* What the assertions ask; no worker does. */
unsigned put : 16, sent : 16, given_up : 16; /* bits of numbers: of frames, but for given_up */
byte last = FIRST - 1; /* frame that has left in order */
bool released;	       /* a session */
byte finished;	       /* workers */

/* The frame of a number leaves. */
inline leave_wire(number)
{
	assert(!(sent & BIT(number)));
	sent = sent | BIT(number)
}

/* add(). The order is that in which frames are collected, as they leave under the same lock. */
inline add(number, m)
{
	assert(!IS_MISSING(m));
	assert(m == NOTHING || m == FRAME(number));
	if
	:: IS_FRAME(m) ->
		assert(LESS(last, number));
		last = number;
		batch = batch | BIT(number);
		nbatch++
	:: else
	fi
}

/* What collect() takes, and give_up(). */
inline take_or_give_up(number)
{
	m = PLACE(number);
	do
	:: !IS_MISSING(m) -> break
	:: else ->
		atomic {
			if
			:: PLACE(number) == m ->
				PLACE(number) = GIVEN_UP(number);
				given_up = given_up | BIT(number);
#ifndef GIVE_UP
				assert(released);
#endif
				m = EMPTY;
				break
			:: else -> m = PLACE(number) /* it comes at this moment */
			fi
		}
	od;
	atomic {
		if
		:: m != EMPTY ->
			PLACE(number) = FREE(SUM(number, WINDOW));
			add(number, m)
		:: else
		fi;
		m = EMPTY
	}
}

/* send_batch(): collect(), whose result is `all`, and the port's call. The lock is held. */
inline send_batch(to)
{
	cursor = next;
	do
	:: atomic { nbatch == BATCH -> break }
	:: atomic {
			nbatch < BATCH ->
			if
			:: !LESS(cursor, to) && IS_MISSING(PLACE(cursor)) ->
				all = true;
				break
			:: else
			fi
		};
		take_or_give_up(cursor);
		cursor = SUM(cursor, 1)
	od;
	next = cursor;
	atomic {
		assert(!(sent & batch));
		sent = sent | batch;
		batch = 0;
		nbatch = 0;
		cursor = 0
	}
}

/* advance() */
inline advance(to)
{
	atomic { !locked -> locked = true };
	do
	:: send_batch(to);
		if
		:: all -> break
		:: else
		fi
	od;
	atomic {
		all = false;
		locked = false
	}
}

/* drain() */
inline drain()
{
	batches = MOST_BATCHES;
	do
	:: atomic { batches == 0 -> break }
	:: atomic { batches > 0 -> see = next };
		atomic {
			m = PLACE(see);
			if
			:: IS_MISSING(m) -> break
			:: else -> m = EMPTY
			fi
		};
		atomic {
			if
			:: locked -> break
			:: else -> locked = true
			fi;
			see = next /* nobody else changes it now */
		};
		if
		:: true
		:: true -> /* tx_try() has failed */
			locked = false;
			break
		fi;
		send_batch(see);
		atomic {
			locked = false;
			all = false;
			batches--;
#ifdef NO_RECHECK
			break
#endif
		}
	od;
	atomic {
		batches = 0;
		see = 0;
		m = EMPTY
	}
}

/* put(): `what` is a frame or nothing. */
inline put_frame(number, what)
{
	see = next;
	if
	:: !LESS(number, SUM(see, WINDOW)) -> /* number - next >= WINDOW, for numbers that are ahead */
		if
		:: !LESS(number, see) ->
			see = SUM(number, ROUND - WINDOW + 1);
			advance(see)
		:: else
		fi
	:: else
	fi;
#ifdef MARKERS
	see = next;
	late = LESS(number, see);
	do
	:: late -> break
	:: else ->
		atomic {
			if
			:: PLACE(number) == m ->
				PLACE(number) = what;
				break
			:: else ->
				m = PLACE(number);
				late = !IS_MISSING(m) || m == GIVEN_UP(number)
			fi
		}
	od;
	if
	:: late
	:: else ->
		see = next;
		if
		:: LESS(number, see) ->
			d_step {
				if
				:: PLACE(number) == what ->
					PLACE(number) = EMPTY;
					late = true
				:: else
				fi
			}
		:: else
		fi
	fi;
	if
	:: late ->
		d_step {
			if
			:: PLACE(number) == GIVEN_UP(number) -> PLACE(number) = EMPTY
			:: else
			fi
		}
	:: else
	fi;
#else
	d_step {
		if
		:: PLACE(number) == FREE(number) -> PLACE(number) = what
		:: else -> late = true
		fi
	};
#endif
	d_step {
		if
		:: late ->
			assert(given_up & BIT(number));
			if
			:: IS_FRAME(what) -> leave_wire(number)
			:: else
			fi
		:: else
		fi;
		late = false;
		see = 0;
		m = 0
	}
}

/* note_waiting() */
inline note_waiting(number)
{
#ifdef NO_RECHECK
	skip
#else
	d_step {
		if
		:: LESS(number, next)
		:: else ->
			if
			:: waiting
			:: else ->
				waiting = true;
				since = next;
				behind = number
			fi;
			until = number
		fi
	}
#endif
}

inline wait_no_more()
{
	waiting = false;
	until = 0;
	behind = 0;
	since = 0;
	see = 0
}

/* look_at() */
inline look_at()
{
	drain();
	atomic {
		see = next;
		if
		:: LESS(until, see) -> wait_no_more()
		:: else ->
			stuck = (see == since);
			since = see;
			behind = (stuck -> behind : until)
		fi;
		see = 0
	};
#ifdef GIVE_UP
	if
	:: stuck -> /* it has waited long enough */
		see = SUM(behind, 1);
		advance(see);
		see = 0
	:: true
	fi;
#endif
	stuck = false
}

/* send_order_leave() */
inline leave()
{
	released = true;
	if
	:: waiting ->
#ifdef LEAVE_TRIES
		drain();
#else
		see = SUM(until, 1);
		advance(see);
#endif
		wait_no_more()
	:: else
	fi;
	d_step {
		users--;
		if
		:: users == 0 -> /* end() */
			do
			:: see < WINDOW ->
				assert(!IS_FRAME(at[see]));
				see++
			:: else -> break
			od;
			see = 0
		:: else
		fi
	}
}

/* The packet of a number has a frame, unless the number is the rest of a block. */
inline put_one(is_rest)
{
	if
	:: true ->
		d_step {
			what = FRAME(number);
			put = put | BIT(number)
		}
	:: is_rest -> what = NOTHING
	fi;
	put_frame(number, what);
	what = 0
}

#ifdef GIVE_UP
#define MAY_TAKE (taken < NUMBERS)
#else
#define MAY_TAKE (taken < NUMBERS && LESS(SUM(FIRST, taken), SUM(next, WINDOW)))
#endif

proctype worker()
{
	byte number, block;
	byte until, behind, since; /* of struct frames_waiting */
	byte see, m, what, cursor, nbatch, batches;
	unsigned batch : 16;
	bool waiting, stuck, late, all;

	do
	:: waiting -> look_at()
	:: atomic {
			MAY_TAKE -> number = SUM(FIRST, taken);
			block = 1;
			taken++;
			if
			:: MAY_TAKE -> block = 2;
				taken++
			:: true
			fi
		};
		put_one(false);
		if
		:: block == 2 ->
			number = SUM(number, 1);
			put_one(true)
		:: else
		fi;
		block = 0;
		drain();
		note_waiting(number);
		number = 0
	:: true -> /* its session is released */
		leave();
		break
	:: taken == NUMBERS && !waiting -> break /* idle from now on */
	od;
	atomic {
		finished++;
		assert(finished < WORKERS || sent == put)
	}
}

init
{
	byte i;

	atomic {
		do
		:: i < WINDOW ->
			PLACE(FIRST + i) = FREE(SUM(FIRST, i));
			i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < WORKERS ->
			run worker();
			i++
		:: else -> break
		od
	}
}

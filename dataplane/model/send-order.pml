/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of dataplane/path/worker/send_order.c for SPIN: the window of a shared outbound SA. Each step is one access to
 * memory that workers share, or one atomic operation; steps between are of one worker alone. The memory is sequentially
 * consistent, which C's is not. dataplane/tests/test-model runs the model.
 *
 * Workers take numbers in blocks of one or two by an atomic addition, and put a frame, or nothing, for each. A turn may
 * end in the release of the worker's session. Numbers overflow on the way, as the low halves do.
 *
 * Checked, as assertions:
 * - each frame leaves once, and none is lost: neither with the order nor when all workers are idle;
 * - frames leave in the order of their numbers, but for those given up before, and without GIVE_UP none is;
 * - a place has no frame of another number.
 *
 * GIVE_UP: the time of waiting may be over at any moment, and more numbers may be under way than there are places.
 *
 * Mistakes, each of which SPIN has to find:
 * NO_RECHECK  who has sent does not look again, and who could not send does not in its next turn;
 * NO_NUMBER   an empty place does not say which number it is for;
 * MARKERS     as in commit cd486d17: a place is NULL, or has a marker of the number that has been given up there;
 * LEAVE_TRIES as in commit cd486d17: who leaves gives its frames to whoever has the lock.
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef NUMBERS
#define NUMBERS 5 /* that are taken, less than half of ROUND */
#endif
#ifndef WINDOW
#define WINDOW 4
#endif
#ifndef BATCH
#define BATCH 2 /* frames that the port takes at once */
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
byte last = FIRST - 1;	   /* frame that has left in order */
byte finished;		   /* workers */

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

/* send_batch(): collect(), whose result is `all`, and the port's call. The lock is held. */
inline send_batch(to)
{
	cursor = next;
	do
	:: atomic { nbatch == BATCH -> break }
	:: atomic {
			nbatch < BATCH -> m = PLACE(cursor);
			if
			:: IS_MISSING(m) && !LESS(cursor, to) ->
				all = true;
				break
			:: else
			fi
		};
		atomic {
			if
			:: IS_MISSING(m) && PLACE(cursor) == m ->
				PLACE(cursor) = GIVEN_UP(cursor);
				given_up = given_up | BIT(cursor);
				m = EMPTY
			:: else -> /* it may come at this moment */
				m = PLACE(cursor);
				add(cursor, m)
			fi
		};
		atomic {
			if
			:: m != EMPTY -> PLACE(cursor) = FREE(SUM(cursor, WINDOW))
			:: else
			fi;
			m = EMPTY;
			cursor = SUM(cursor, 1)
		}
	od;
	next = cursor;
	atomic {
		assert(!(sent & batch));
		sent = sent | batch;
		batch = 0;
		nbatch = 0;
		m = EMPTY;
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
	m = EMPTY;
	do
	:: late -> break
	:: else ->
		d_step {
			if
			:: PLACE(number) == m ->
				PLACE(number) = what;
				m = NOTHING /* done */
			:: else ->
				m = PLACE(number);
				late = !IS_MISSING(m) || m == GIVEN_UP(number)
			fi
		};
		if
		:: m == NOTHING && !late -> break
		:: else
		fi
	od;
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
			:: !waiting -> since = next
			:: else
			fi;
			waiting = true;
			until = number
		fi
	}
#endif
}

/* look_at() */
inline look_at()
{
	drain();
	see = next;
	if
	:: LESS(until, see) ->
		d_step {
			waiting = false;
			until = 0;
			since = 0
		}
	:: !LESS(until, see) && see != since -> since = see
	:: !LESS(until, see) && see == since ->
#ifdef GIVE_UP
		if
		:: true -> /* it has waited long enough */
			see = SUM(see, 1);
			advance(see)
		:: true
		fi
#else
		skip
#endif
	fi;
	see = 0
}

/* send_order_leave() */
inline leave()
{
	if
	:: waiting ->
#ifdef LEAVE_TRIES
		drain();
#else
		see = next;
		advance(see);
#endif
		d_step {
			waiting = false;
			until = 0;
			since = 0;
			see = 0
		}
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
	byte number, block, until, since; /* the last two of frames_waiting */
	byte see, m, what, cursor, nbatch, batches;
	unsigned batch : 16;
	bool waiting, late, all;

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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Controls net_bench's ports by shared memory, with the layout of driver/control.h."""
import mmap
import statistics
import struct
import time

QUEUES, SLICES, BUCKET_BITS, GAP_SHIFT = 16, 8192, 5, 16
BUCKETS = 64 << BUCKET_BITS
RING = 1024


def offsets(*names):
    return {name: 8 * i for i, name in enumerate(" ".join(names).split())}


OFFSET = offsets("go set gap warmup ticks slice ring drain demote timed hz queues")
QUEUES_AT = 8 * 16
# Offsets within a queue.
COUNT = offsets("done offered offered_bytes missed no_buffer source_ticks reserved1 reserved2",
                "received received_bytes returned slices arrived")
SLICES_AT = 8 * 16
SLICE = struct.Struct("3Q")
LATENCY_AT = SLICES_AT + SLICE.size * SLICES
QUEUE_SIZE = LATENCY_AT + 8 * BUCKETS
SIZE = QUEUES_AT + QUEUES * QUEUE_SIZE


class Lost(Exception):
    """A gateway did not finish a run."""


class Control:
    def __init__(self, path):
        self.path = path
        with open(path, "wb") as page:
            page.truncate(SIZE)
        with open(path, "r+b") as page:
            self.page = mmap.mmap(page.fileno(), SIZE)

    def __getitem__(self, name):
        return struct.unpack_from("Q", self.page, OFFSET[name])[0]

    def __setitem__(self, name, value):
        struct.pack_into("Q", self.page, OFFSET[name], value)

    def count(self, queue, name):
        return struct.unpack_from("Q", self.page, QUEUES_AT + queue * QUEUE_SIZE + COUNT[name])[0]

    def counts(self, name):
        """A counter of each queue."""
        return [self.count(queue, name) for queue in range(self["queues"])]

    def run(self, frames, seconds, rate=0.0, warmup=0.0, slice_s=0.0, drain=0.0, ring=RING, timed=True):
        """Execute a run.
        @param frames   index of the set of frames
        @param seconds  length of the measured time
        @param rate     packets per second; 0: as many as the gateway polls
        @param warmup   seconds before the measured time
        @param slice_s  length of a slice, seconds; 0: no slices
        @param drain    seconds that the gateway may hold a packet
        @param ring     packets that a queue holds, if a rate is set
        @param timed    whether latencies are counted, if a rate is set: then the time goes along with each packet
        @return Counted"""
        hz = self["hz"]
        self["set"] = frames
        self["gap"] = round((hz << GAP_SHIFT) / rate) if rate else 0
        self["warmup"], self["ticks"] = round(warmup * hz), round(seconds * hz)
        self["slice"], self["ring"], self["drain"] = round(slice_s * hz), ring, round(drain * hz)
        self["timed"] = timed
        self["go"] = go = self["go"] + 1
        end = time.monotonic() + 5 + 20 * (seconds + warmup + drain)
        time.sleep(seconds + warmup)
        while any(done != go for done in self.counts("done")):
            if time.monotonic() > end:
                raise Lost(f"{self.path}: run {go} does not end")
            time.sleep(0.001)
        return Counted(self, seconds)


class Counted:
    """The measurements of a run."""

    def __init__(self, control, seconds):
        self.hz, self.seconds = control["hz"], seconds
        for name in ("offered", "offered_bytes", "missed", "no_buffer", "received",
                     "received_bytes", "returned", "arrived"):
            setattr(self, name, sum(control.counts(name)))
        self.taken = [offered - missed for offered, missed in zip(control.counts("offered"), control.counts("missed"))]
        # Slices are per queue; those of the first queue are used.
        count = min(control.count(0, "slices"), SLICES)
        first = QUEUES_AT + SLICES_AT
        self.slices = [slice_ for slice_ in SLICE.iter_unpack(control.page[first:first + SLICE.size * count]) if slice_[1]]
        each = [struct.unpack_from(f"{BUCKETS}Q", control.page, QUEUES_AT + i * QUEUE_SIZE + LATENCY_AT)
                for i in range(control["queues"])]
        self.buckets = [sum(buckets) for buckets in zip(*each)]

    def shares(self):
        """Of each queue, its share of the packets that the gateway has received."""
        return [taken / max(sum(self.taken), 1) for taken in self.taken]

    @property
    def lost(self):
        """The share of the offered packets that the gateway did not send."""
        return 1 - self.arrived / self.offered if self.offered else 1.0

    @property
    def pps(self):
        return self.received / self.seconds

    @property
    def cycles(self):
        """Ticks per packet of the median slice, which slices with other load on the machine hardly
        change."""
        return statistics.median(ticks / packets for ticks, packets, _ in self.slices)

    @property
    def generator(self):
        """Of these ticks those of source and sink"""
        return statistics.median(own / packets for _, packets, own in self.slices)

    @property
    def mean_size(self):
        """Mean size of the offered frames, without missed ones, bytes"""
        return self.offered_bytes / max(self.offered - self.missed, 1)

    @property
    def gbps(self):
        """Rate of the packets that the gateway has sent, with the sizes at which they were offered."""
        return self.pps * self.mean_size * 8 / 1e9

    @property
    def mean_us(self):
        total = sum(count * bucket_ticks(bucket) for bucket, count in enumerate(self.buckets))
        return total / max(sum(self.buckets), 1) * 1e6 / self.hz

    def latency_us(self, share):
        """A percentile of the latency. @param share  0.99 for p99, 1 for the maximum
        @return microseconds"""
        left = share * sum(self.buckets)
        for bucket, count in enumerate(self.buckets):
            left -= count
            if count and left <= 0:
                return bucket_ticks(bucket) * 1e6 / self.hz
        raise Lost("the gateway has sent no packet")


def bucket_ticks(bucket):
    """The upper bound of a bucket, ticks"""
    if bucket < 2 << BUCKET_BITS:
        return bucket + 1
    power = (bucket >> BUCKET_BITS) - 1
    return ((bucket & ((1 << BUCKET_BITS) - 1)) + (1 << BUCKET_BITS) + 1) << power

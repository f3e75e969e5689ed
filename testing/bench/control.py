# SPDX-License-Identifier: GPL-2.0-or-later
"""The page through which net_bench's ports are commanded: driver/control.h, from this side."""
import mmap
import struct
import time

SLICES, BUCKET_BITS, GAP_SHIFT = 8192, 5, 16
BUCKETS = 64 << BUCKET_BITS
RING = 1024
FIELDS = ("go set gap warmup ticks slice ring reserved0 "
          "done hz offered offered_bytes missed no_buffer reserved1 reserved2 "
          "received received_bytes returned slices arrived reserved3 reserved4 reserved5").split()
OFFSET = {name: 8 * i for i, name in enumerate(FIELDS)}
SLICES_AT = 8 * len(FIELDS)
LATENCY_AT = SLICES_AT + 16 * SLICES
SIZE = LATENCY_AT + 8 * BUCKETS


class Lost(Exception):
    """The gateway did not finish a run."""


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

    def run(self, frames, seconds, rate=0.0, warmup=0.0, slice_s=0.0):
        """One run. @param rate packets per second, 0: as many as the gateway polls
        @return what was counted"""
        hz = self["hz"]
        self["set"] = frames
        self["gap"] = round((hz << GAP_SHIFT) / rate) if rate else 0
        self["warmup"], self["ticks"] = round(warmup * hz), round(seconds * hz)
        self["slice"], self["ring"] = round(slice_s * hz), RING
        self["go"] = go = self["go"] + 1
        end = time.monotonic() + 5 + 20 * (seconds + warmup)
        time.sleep(seconds + warmup)
        while self["done"] != go:
            if time.monotonic() > end:
                raise Lost(f"{self.path}: run {go} does not end")
            time.sleep(0.001)
        return Counted(self, seconds)


class Counted:
    """What one run showed."""

    def __init__(self, control, seconds):
        self.hz, self.seconds = control["hz"], seconds
        for name in ("offered", "offered_bytes", "missed", "no_buffer", "received",
                     "received_bytes", "returned", "arrived"):
            setattr(self, name, control[name])
        count = min(control["slices"], SLICES)
        raw = struct.unpack_from(f"{2 * count}Q", control.page, SLICES_AT)
        self.slices = [(ticks, packets) for ticks, packets in zip(raw[::2], raw[1::2]) if packets]
        self.buckets = struct.unpack_from(f"{BUCKETS}Q", control.page, LATENCY_AT)

    @property
    def lost(self):
        """The share of what was offered that did not come out."""
        return 1 - self.arrived / self.offered if self.offered else 1.0

    @property
    def pps(self):
        return self.received / self.seconds

    @property
    def cycles(self):
        """Ticks per packet of the median slice: a slice in which the machine did
        something else does not shift it."""
        each = sorted(ticks / packets for ticks, packets in self.slices)
        return each[len(each) // 2]

    def latency_us(self, share):
        """@param share of the packets, 0.99; 1 is all @return microseconds"""
        left = share * sum(self.buckets)
        for bucket, count in enumerate(self.buckets):
            left -= count
            if count and left <= 0:
                return bucket_ticks(bucket) * 1e6 / self.hz
        raise Lost("no packet came out")


def bucket_ticks(bucket):
    """The upper end of a bucket, ticks."""
    if bucket < 2 << BUCKET_BITS:
        return bucket + 1
    power = (bucket >> BUCKET_BITS) - 1
    return ((bucket & ((1 << BUCKET_BITS) - 1)) + (1 << BUCKET_BITS) + 1) << power

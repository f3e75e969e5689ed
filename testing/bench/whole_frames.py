# SPDX-License-Identifier: GPL-2.0-or-later
"""Tunnels and sets of frames for whole.py."""
import os
import random

from traffic import (ETHERNET, FIXED, HOST, KEPT, LAN_PORT, MIXES, SUITES, WAN_PORT, Tunnel, address, ethernet,
                     sizes, udp_packet, write_pcap)

FRAMES = f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/frames"
TUNNELS, FLOWS = 120, 64
FAT, FAT_SHARE = TUNNELS // 10, 0.9  # of the tunnels of an uneven set, and of its packets
ROUNDS_OF_MIX = 16  # frames per tunnel in the set of a mix
WIDE_HOSTS = "10.200.0.0"
NAMES = ("aes128-sha1", "aes128gcm16")


class WideTunnel(Tunnel):
    """A tunnel to a network of hosts, with a flow to each."""

    def sadb_lines(self):
        ends = address(WIDE_HOSTS, self.index * 256), address(WIDE_HOSTS, self.index * 256 + 255)
        for line in super().sadb_lines():
            yield line.replace(f"{self.far_host}-{self.far_host}", "-".join(ends))

    def hosts(self):
        return [address(WIDE_HOSTS, self.index * 256 + number) for number in range(FLOWS)]


def tunnels_of(number, suite):
    return [Tunnel(SUITES[suite], number * TUNNELS + index) for index in range(TUNNELS)]


def wide_tunnel_of(number, suite):
    return WideTunnel(SUITES[suite], len(NAMES) * TUNNELS + number)


def fat_tunnels_of(number, suite):
    first = len(NAMES) * (TUNNELS + 1) + number * FAT
    return [WideTunnel(SUITES[suite], first + index) for index in range(FAT)]


def plaintext(flows):
    """Frames to encapsulate. @param flows  tuples of tunnel, far host, frame size"""
    for _, host, size in flows:
        frame = ethernet(LAN_PORT, udp_packet(HOST, host, size - ETHERNET))
        yield frame[:KEPT], size


def ciphertext(flows):
    for seq, (tunnel, host, size) in enumerate(flows, 1):
        frame = ethernet(WAN_PORT, tunnel.seal(udp_packet(host, HOST, size - ETHERNET), seq))
        yield frame, len(frame)


DIRECTIONS = {"encap": (LAN_PORT, plaintext), "decap": (WAN_PORT, ciphertext)}


def in_order(tunnels, mix):
    """Flows of all tunnels in turn, so that a frame's index determines its tunnel; several rounds for a
    mix."""
    turn = tunnels * (ROUNDS_OF_MIX if mix in MIXES else 1)
    return [(tunnel, tunnel.far_host, size)
            for tunnel, size in zip(turn, sizes(mix, len(turn), random.Random(1)))]


def uneven(fat, lean, size):
    """A packet of each lean tunnel, and packets of the fat ones between them"""
    each = round(FAT_SHARE / (1 - FAT_SHARE) * len(lean) / len(fat))
    flows = [(tunnel, tunnel.hosts()[number % FLOWS], size) for number in range(each) for tunnel in fat]
    flows += [(tunnel, tunnel.far_host, size) for tunnel in lean]
    random.Random(1).shuffle(flows)
    return flows


def sets():
    """@return tuples of suite, direction, frame size or mix, spreads, flows"""
    for number, suite in enumerate(NAMES):
        for direction in DIRECTIONS:
            for mix in (*FIXED, *MIXES):
                yield suite, direction, mix, ("turn", "hash"), in_order(tunnels_of(number, suite), mix)
            yield (suite, direction, 1024, ("uneven",),
                   uneven(fat_tunnels_of(number, suite), tunnels_of(number, suite)[FAT:], 1024))
            for size in (1024, 1408):
                wide = wide_tunnel_of(number, suite)
                yield suite, direction, size, ("one SA",), [(wide, host, size) for host in wide.hosts()]


def pack():
    """Write all sets of frames, which need python3-cryptography, and their list."""
    os.makedirs(FRAMES, exist_ok=True)
    with open(f"{FRAMES}/list", "w") as names:
        for number, (suite, direction, mix, spreads, flows) in enumerate(sets()):
            port, frames = DIRECTIONS[direction]
            write_pcap(f"{FRAMES}/{number}.pcap", frames(flows))
            for spread in spreads:
                names.write(f"{port}|{number}|{suite}|{direction}|{mix}|{spread}\n")


def read_sets(work, only):
    """Select sets, and write the list for the driver. Sets with spread "turn" come first, while the
    buffers in the mempools are still in order.
    @param only  words of which a set must contain one
    @return      path of the list, and suite, direction, mix and spread of each set"""
    path, what = f"{work}/sets", []
    with open(f"{FRAMES}/list") as names:
        lines = [line.strip().split("|") for line in names]
    with open(path, "w") as out:
        for port, number, *of in sorted(lines, key=lambda line: ("turn", "one SA", "hash", "uneven").index(line[-1])):
            if any(word in "/".join(of) for word in only):
                out.write(f"{port} {FRAMES}/{number}.pcap{' turn' if of[-1] == 'turn' else ''}\n")
                what.append(of)
    return path, what


def sadb_lines():
    """Input for sadb-fill. SAs are sorted by suite and direction: an SA's index determines its worker,
    on which sets with spread "turn" rely."""
    wide = [wide_tunnel_of(number, suite) for number, suite in enumerate(NAMES)]
    wide += [tunnel for number, suite in enumerate(NAMES) for tunnel in fat_tunnels_of(number, suite)]
    lines = [line for number, suite in enumerate(NAMES) for way in ("sa dir=out", "sa dir=in")
             for tunnel in tunnels_of(number, suite) for line in tunnel.sadb_lines() if line.startswith(way)]
    lines += [line for tunnel in wide for line in tunnel.sadb_lines() if line.startswith("sa")]
    tunnels = [tunnel for number, suite in enumerate(NAMES) for tunnel in tunnels_of(number, suite)]
    return lines + [line for tunnel in tunnels + wide for line in tunnel.sadb_lines()
                    if line.startswith("policy")]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Tunnels and sets of frames for whole.py."""
import os
import random
import shutil
import socket
import struct

from traffic import (ETHERNET, FAR_HOSTS, FIXED, HOST, KEPT, LAN_PORT, MIXES, SUITES, WAN, WAN_PORT, Tunnel, address, checksum,
                     ethernet, ipv4, sizes, udp_packet, write_pcap)

FRAMES = f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/frames"
TUNNELS, FLOWS = 120, 64
FAT, FAT_SHARE = TUNNELS // 10, 0.9  # of the tunnels of an uneven set, and of its packets
ROUNDS_OF_MIX = 16  # frames per tunnel in the set of a mix
WIDE_HOSTS = "10.200.0.0"
NAMES = ("aes128-sha1", "aes128gcm16")
UNFLOODED = ("turn", "one SA", "hash", "uneven")
SPREADS = (*UNFLOODED, "flood")
FLOODED_SIZE = 1024  # of the tunnels' frames in a flood, before they are encapsulated, bytes
FLOOD_SHARE = 10  # frames of a flood for each frame of a tunnel
FLOODERS = "198.51.0.0"


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


def esp_unknown(number, source):
    return ipv4(source, WAN, 50, 44) + struct.pack("!II", 0x40000000 + number, 1) + bytes(36)


def natt_unknown(number, source):
    """ESP in UDP (RFC 3948)"""
    return (ipv4(source, WAN, 17, 8 + 44) + struct.pack("!HHHH", 4500, 4500, 8 + 44, 0) +
            struct.pack("!II", 0x40000000 + number, 1) + bytes(36))


def ike_init(number, source):
    """A header of IKE_SA_INIT (RFC 7296, 3.1), without payloads"""
    header = struct.pack("!Q8xBBBBII", number + 1, 0, 0x20, 34, 8, 0, 28)
    return ipv4(source, WAN, 17, 8 + len(header)) + struct.pack("!HHHH", 500, 500, 8 + len(header), 0) + header


def first_fragment(number, source):
    """With MF, and an identification of its own"""
    packet = bytearray(udp_packet(source, WAN, 44))
    packet[4:8] = struct.pack("!HH", number, 0x2000)
    packet[10:12] = bytes(2)
    packet[10:12] = struct.pack("!H", checksum(packet[:20]))
    return bytes(packet)


def plaintext_of(number, _):
    """From a host behind a tunnel, as if it had come without one"""
    return udp_packet(address(FAR_HOSTS, number % TUNNELS), HOST, 44, 1024 + number // TUNNELS)


def junk(number, _):
    """No IP"""
    frame = ethernet(WAN_PORT, b"")
    return frame[:12] + b"\x88\xb5" + struct.pack("!I", number) + bytes(42)


def arp_request(_, source):
    frame = ethernet(WAN_PORT, b"")
    return (b"\xff" * 6 + frame[6:12] + b"\x08\x06" +
            struct.pack("!HHBBH6s4s6s4s", 1, 0x800, 6, 4, 1, frame[6:12], socket.inet_aton(source), bytes(6),
                        socket.inet_aton(WAN)) + bytes(18))


FLOODS = {"esp": esp_unknown, "natt": natt_unknown, "ike": ike_init, "fragments": first_fragment, "arp": arp_request,
          "plaintext": plaintext_of, "junk": junk}
FRAMES_OF = "arp", "junk"  # that are no packets


def flooded(kind, tunnels, rounds=1):
    """A frame of each tunnel in so many rounds, and before it frames of a flood, each from another address"""
    flows = [(tunnel, tunnel.far_host, FLOODED_SIZE) for tunnel in tunnels] * rounds
    for number, of_tunnel in enumerate(ciphertext(flows)):
        for each in range(number * FLOOD_SHARE, (number + 1) * FLOOD_SHARE):
            frame = FLOODS[kind](each, address(FLOODERS, each))
            frame = frame if kind in FRAMES_OF else ethernet(WAN_PORT, frame)
            yield frame, max(len(frame), 60)
        yield of_tunnel


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
        for kind in FLOODS:
            write_pcap(f"{FRAMES}/{kind}.pcap", flooded(kind, tunnels_of(len(NAMES) - 1, NAMES[-1])))
            names.write(f"{WAN_PORT}|{kind}|{NAMES[-1]}|decap|{kind}|flood\n")


def listed(only):
    """@param only  words of which a set must contain one
    @return port, number, suite, direction, mix and spread of the sets. Those with spread "turn" come first, while the
            buffers in the mempools are still in order"""
    with open(f"{FRAMES}/list") as names:
        lines = [line.strip().split("|") for line in names]
    return [line for line in sorted(lines, key=lambda line: SPREADS.index(line[-1]))
            if any(word in "/".join(line[2:]) for word in only)]


def read_sets(work, only, spreads):
    """Select sets, and write the list for the driver.
    @param only     as listed() has it
    @param spreads  of which a set must have one
    @return      path of the list, and suite, direction, mix and spread of each set"""
    path, what = f"{work}/sets", []
    with open(path, "w") as out:
        for port, number, *of in listed(only):
            if of[-1] in spreads:
                frames = shutil.copy(f"{FRAMES}/{number}.pcap", work)  # where cygnetd may read
                out.write(f"{port} {frames}{' turn' if of[-1] == 'turn' else ''}\n")
                what.append(of)
    return path, what


def sadb_lines():
    """Input for sadb-fill"""
    wide = [wide_tunnel_of(number, suite) for number, suite in enumerate(NAMES)]
    wide += [tunnel for number, suite in enumerate(NAMES) for tunnel in fat_tunnels_of(number, suite)]
    lines = [line for number, suite in enumerate(NAMES) for way in ("sa dir=out", "sa dir=in")
             for tunnel in tunnels_of(number, suite) for line in tunnel.sadb_lines() if line.startswith(way)]
    lines += [line for tunnel in wide for line in tunnel.sadb_lines() if line.startswith("sa")]
    tunnels = [tunnel for number, suite in enumerate(NAMES) for tunnel in tunnels_of(number, suite)]
    return lines + [line for tunnel in tunnels + wide for line in tunnel.sadb_lines()
                    if line.startswith("policy")]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Tunnels, and frames for them: plaintext to encapsulate, ESP to decapsulate."""
import dataclasses
import hashlib
import hmac
import ipaddress
import os
import random
import re
import struct

#   host 10.1.0.10 -- lan 10.1.0.1 [gateway] wan 192.0.2.1 -- 192.0.2.2 router -- peers, far hosts
HOST, LAN = "10.1.0.10", "10.1.0.1"
WAN, ROUTER = "192.0.2.1", "192.0.2.2"
PEERS, FAR_HOSTS = "198.18.0.0", "10.128.0.0"
PEERS_NET, FAR_NET = "198.16.0.0/12", "10.128.0.0/9"  # of up to 917,504 tunnels
LAN_PORT, WAN_PORT = 0, 1
ETHERNET, IPV4, UDP, ESP = 14, 20, 8, 8
KEPT = 64  # bytes of a plaintext frame that are written: its headers
MIXED = 4096  # minimum number of frames of a mix
OUT_SPI, IN_SPI = 0x100000, 0x200000
VLAN = 100
TAG = struct.pack("!HH", 0x8100, VLAN)

FIXED = (64, 256, 512, 1024, 1280, 1408)


def read_mixes():
    """Parse mixes.def. @return {name: {size of a frame without FCS, bytes: share}}"""
    mixes = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mixes.def")) as file:
        for name, size, share in re.findall(r"^MIX_SIZE\((\w+), (\d+), (\d+)\)$", file.read(), re.M):
            mixes.setdefault(name, {})[int(size)] = int(share)
    return mixes


IMIX = read_mixes()
MIXES = ("random", *IMIX)


@dataclasses.dataclass(frozen=True)
class Suite:
    """An algorithm suite; lengths in bytes."""
    name: str
    cipher: str
    salt: int
    iv: int
    align: int
    icv: int
    akey: int = 0
    hash: str = ""
    key: int = 16


SUITES = {suite.name: suite for suite in (
    Suite("aes128gcm16", "aes-gcm", 4, 8, 4, 16),
    Suite("aes128-sha1", "aes-cbc", 0, 16, 16, 12, 20, "sha1"),
    Suite("aes256gcm16", "aes-gcm", 4, 8, 4, 16, key=32),
    Suite("aes128-sha256", "aes-cbc", 0, 16, 16, 16, 32, "sha256"))}
USUAL = "aes128gcm16", "aes128-sha1"  # that are measured if nothing else is said


def key(label, index, length):
    return hashlib.shake_128(f"{label} {index}".encode()).digest(length)


def address(first, index):
    return str(ipaddress.IPv4Address(int(ipaddress.IPv4Address(first)) + index))


@dataclasses.dataclass(frozen=True)
class Tunnel:
    """A tunnel with one SA each way. Each tunnel, numbered by index, has a peer of its own."""
    suite: Suite
    index: int

    @property
    def peer(self):
        return address(PEERS, self.index)

    @property
    def out_spi(self):
        return OUT_SPI + self.index

    @property
    def in_spi(self):
        return IN_SPI + self.index

    @property
    def far_host(self):
        return address(FAR_HOSTS, self.index)

    def keys(self, direction):
        return (key(f"cipher {direction}", self.index, self.suite.key + self.suite.salt),
                key(f"auth {direction}", self.index, self.suite.akey))

    def sadb_lines(self):
        """Input for sadb-fill. The SAs have no replay window, because the same packets are sent
        repeatedly."""
        suite, number = self.suite, self.index + 1
        for way, spi, src, dst in (("out", self.out_spi, WAN, self.peer), ("in", self.in_spi, self.peer, WAN)):
            cipher, auth = self.keys(way)
            words = f" auth=hmac-{suite.hash} akey={auth.hex()}" if suite.akey else ""
            yield (f"sa dir={way} spi={spi:#x} src={src} dst={dst} reqid={number} "
                   f"cipher={suite.cipher} key={cipher.hex()} salt={suite.salt} icv={suite.icv}{words}")
        far, host = f"{self.far_host}-{self.far_host}", f"{HOST}-{HOST}"
        yield (f"policy dir=out src={host} dst={far} action=protect spi={self.out_spi:#x} "
               f"end={self.peer} prio=1000 reqid={number}")
        for way in ("in", "fwd"):
            yield (f"policy dir={way} src={far} dst={host} action=protect "
                   f"spi={self.in_spi:#x} end={WAN} prio=1000 reqid={number}")

    def secgw_policies(self):
        """Lines of ipsec-secgw's configuration"""
        ports = "sport 0:65535 dport 0:65535"
        yield f"sp ipv4 out esp protect {self.out_spi} pri 1 dst {self.far_host}/32 {ports}"
        yield f"sp ipv4 in esp protect {self.in_spi} pri 1 src {self.far_host}/32 {ports}"

    def secgw_sas(self):
        bits = 8 * self.suite.key
        for way, spi, src, dst in (("out", self.out_spi, WAN, self.peer), ("in", self.in_spi, self.peer, WAN)):
            cipher, auth = (value.hex(":") for value in self.keys(way))
            algorithms_ = (f"cipher_algo aes-{bits}-cbc cipher_key {cipher} auth_algo {self.suite.hash}-hmac auth_key {auth}"
                           if self.suite.akey else f"aead_algo aes-{bits}-gcm aead_key {cipher}")
            yield f"sa {way} {spi} {algorithms_} mode ipv4-tunnel src {src} dst {dst}"

    def seal(self, inner, seq):
        """Encapsulate an inner packet in ESP, as the peer does. @return an IPv4 packet"""
        # Imported here: machines that only send packed frames do not have python3-cryptography.
        # pylint: disable=import-outside-toplevel
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        suite, (cipher, auth) = self.suite, self.keys("in")
        pad = -(len(inner) + 2) % suite.align
        plain = inner + bytes(range(1, pad + 1)) + bytes((pad, 4))
        header = struct.pack("!II", self.in_spi, seq)
        if suite.akey:
            iv = key("iv", seq, suite.iv)
            encryptor = Cipher(algorithms.AES(cipher), modes.CBC(iv)).encryptor()
            body = header + iv + encryptor.update(plain) + encryptor.finalize()
            body += hmac.digest(auth, body, suite.hash)[:suite.icv]
        else:
            iv = struct.pack("!Q", seq)
            body = header + iv + AESGCM(cipher[:suite.key]).encrypt(cipher[suite.key:] + iv, plain, header)
        return ipv4(self.peer, WAN, 50, len(body)) + body


def checksum(header):
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def ipv4(src, dst, proto, payload):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, IPV4 + payload, 0, 0, 64, proto, 0,
                         ipaddress.IPv4Address(src).packed, ipaddress.IPv4Address(dst).packed)
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:]


def udp_packet(src, dst, size, sport=1111):
    """An IPv4 packet with UDP. @param size  bytes, including headers"""
    payload = size - IPV4 - UDP
    return (ipv4(src, dst, 17, UDP + payload) + struct.pack("!HHHH", sport, 2222, UDP + payload, 0) +
            bytes(payload))


def ethernet(port, packet):
    return bytes((2, 0, 0, 0, 0, port)) + bytes((2, 0, 0, 0, 1, port)) + b"\x08\x00" + packet


def sizes(mix, count, dice):
    """Sizes of frames. @param mix  a frame size, or the name of a mix @param count  number of frames"""
    if mix == "random":
        return [dice.randint(64, 1280) for _ in range(count)]
    if mix in IMIX:
        # The exact number of each size: the mean of random sizes would be wrong by 2 percent.
        shares, usual = IMIX[mix], max(IMIX[mix], key=IMIX[mix].get)
        each = [size for size, share in shares.items()
                for _ in range(round(count * share / sum(shares.values())))]
        each = (each + [usual] * count)[:count]
        dice.shuffle(each)
        return each
    return [int(mix)] * count


def order(mix, tunnels, dice):
    """The tunnels of the packets: all tunnels in random order, so that each packet has another SA."""
    turn = dice.sample(tunnels, len(tunnels))
    rounds = -(-MIXED // len(turn)) if mix in MIXES else 1
    return turn * rounds


def outbound(mix, tunnels, dice, kept):
    turn = order(mix, tunnels, dice)
    for tunnel, size in zip(turn, sizes(mix, len(turn), dice)):
        frame = ethernet(LAN_PORT, udp_packet(HOST, tunnel.far_host, size - ETHERNET))
        yield frame[:kept], size


def inbound(mix, tunnels, dice, _):
    turn = order(mix, tunnels, dice)
    for seq, (tunnel, size) in enumerate(zip(turn, sizes(mix, len(turn), dice)), 1):
        inner = udp_packet(tunnel.far_host, HOST, size - ETHERNET)
        frame = ethernet(WAN_PORT, tunnel.seal(inner, seq))
        yield frame, len(frame)


def protected_size(suite, size):
    """@param size  of a plaintext frame, bytes @return size of the frame with ESP in tunnel mode, bytes"""
    text = size - ETHERNET + 2
    return ETHERNET + IPV4 + ESP + suite.iv + text + -text % suite.align + suite.icv


def sent_size(suite, direction, mix):
    """@return mean size of the frames that a gateway must send for a mix, bytes"""
    each = sizes(mix, MIXED, random.Random(2))
    if direction == "encap":
        each = [protected_size(suite, size) for size in each]
    return sum(each) / len(each)


def write_pcap(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("=IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for frame, size in frames:
            out.write(struct.pack("=IIII", 0, 0, len(frame), size) + frame)


DIRECTIONS = {"encap": (LAN_PORT, outbound), "decap": (WAN_PORT, inbound)}


def with_tag(frames):
    """The same frames in a VLAN. Of plaintext as many bytes are written."""
    for frame, size in frames:
        tagged = frame[:12] + TAG + frame[12:]
        yield tagged[:len(frame)] if len(frame) < size else tagged, size + len(TAG)


def write_sets(folder, tunnels, mixes, directions, kept=KEPT, tagged=False):
    """Write the sets of frames and their list.
    @param kept    bytes of a plaintext frame that are written; None: all
    @param tagged  write the sets in a VLAN, too: behind all others, in their order, with "-tagged" in their names
    @return        path of the list, and {(direction, mix): index of the set}"""
    number = {}
    path = os.path.join(folder, "sets")
    with open(path, "w") as sets:
        for change, more in ((iter, ""), (with_tag, "-tagged"))[:1 + tagged]:
            for direction in directions:
                port, frames = DIRECTIONS[direction]
                for mix in mixes:
                    pcap = os.path.join(folder, f"{direction}-{mix}{more}.pcap")
                    write_pcap(pcap, change(frames(mix, tunnels, random.Random(1), kept)))
                    number.setdefault((direction, mix), len(number))
                    sets.write(f"{port} {pcap}\n")
    return path, number

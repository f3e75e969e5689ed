# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a gateway on veths does what it is measured at: packets go through it, and what comes
out at the other far end is opened with python3-cryptography, or compared with what was sealed."""
import ctypes
import hmac
import ipaddress
import random
import socket
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from traffic import DIRECTIONS, ESP, ETHERNET, HOST, IPV4, OUT_SPI, UDP, WAN, checksum, ethernet, udp_packet
from veth import FROM, TO

PACKETS = 64
SIZES = 64, 1408  # of frames, the shortest and the longest
PATIENCE = 5  # seconds, for a packet to come out
CLONE_NEWNET = 0x40000000
EVERY_PROTOCOL, ETHERTYPE_IPV4 = 3, 0x0800
TTL, PROTOCOL, SUM = 8, 9, 10  # places in an IPv4 header


def enter(namespace):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace.fileno(), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns {namespace.name}")


def packet_socket(namespace, device):
    """In that namespace, though we are not."""
    with open("/proc/self/ns/net") as own, open(f"/run/netns/{namespace}") as other:
        enter(other)
        try:
            packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
        except BaseException:
            enter(own)
            raise
        packets.bind((device, 0))
        enter(own)
    packets.settimeout(PATIENCE)
    return packets


def plaintext(direction, tunnel):
    """Packets of a flow, of all sorts of lengths, each with text of its own."""
    dice = random.Random(3)
    ends = (HOST, tunnel.far_host) if direction == "encap" else (tunnel.far_host, HOST)
    for size in [*SIZES, *(dice.randint(*SIZES) for _ in range(PACKETS - len(SIZES)))]:
        packet = udp_packet(*ends, size - ETHERNET)
        yield packet[:IPV4 + UDP] + dice.randbytes(len(packet) - IPV4 - UDP)


def esp_text(tunnel, body):
    """@param body  of an ESP packet from the gateway
    @return its plaintext, trailer included, None if it is not whole"""
    suite, (cipher, auth) = tunnel.suite, tunnel.keys("out")
    end, text = len(body) - suite.icv, ESP + suite.iv
    if suite.akey:
        if not hmac.compare_digest(hmac.digest(auth, body[:end], "sha1")[:suite.icv], body[end:]):
            return None
        decryptor = Cipher(algorithms.AES(cipher), modes.CBC(body[ESP:text])).decryptor()
        return decryptor.update(body[text:end]) + decryptor.finalize()
    try:
        return AESGCM(cipher[:16]).decrypt(cipher[16:] + body[ESP:text], body[text:], body[:ESP])
    except InvalidTag:
        return None


def opened(tunnel, packet):
    """@param packet  ESP in IPv4, from the gateway @return what is in it, None if it is not as it should be"""
    spi, = struct.unpack_from("!I", packet, IPV4)
    ends = ipaddress.IPv4Address(WAN).packed + ipaddress.IPv4Address(tunnel.peer).packed
    if packet[12:IPV4] != ends or spi != OUT_SPI + tunnel.index:
        return None
    text = esp_text(tunnel, packet[IPV4:])
    if text is None or text[-1] != socket.IPPROTO_IPIP:
        return None
    pad = text[-2]
    return text[:-2 - pad] if text[-2 - pad:-2] == bytes(range(1, pad + 1)) else None


def same(packet, sent):
    """But for what a router changes: hop limit and sum."""
    return (packet is not None and checksum(packet[:IPV4]) == 0 and sent[TTL] - 1 <= packet[TTL] <= sent[TTL] and
            packet[:TTL] + packet[TTL + 1:SUM] == sent[:TTL] + sent[TTL + 1:SUM] and
            packet[SUM + 2:] == sent[SUM + 2:])


def next_packet(packets, protocol):
    """@return the next IPv4 packet of that protocol that comes to a far end, as long as its header says"""
    while True:
        frame, (_, kind, how, *_) = packets.recvfrom(2048)
        if how != socket.PACKET_OUTGOING and kind == ETHERTYPE_IPV4 and frame[ETHERNET + PROTOCOL] == protocol:
            return frame[ETHERNET:ETHERNET + struct.unpack_from("!H", frame, ETHERNET + 2)[0]]


def through(gateway, direction):
    """@return of PACKETS packets, one after the other, what was sent and what came out"""
    tunnel, (port, _) = gateway.tunnels[0], DIRECTIONS[direction]
    protocol = socket.IPPROTO_ESP if direction == "encap" else socket.IPPROTO_UDP
    with (packet_socket(gateway.namespace, FROM[direction]) as near,
          packet_socket(gateway.namespace, TO[direction]) as far):
        for number, packet in enumerate(plaintext(direction, tunnel), 1):
            near.send(ethernet(port, packet if direction == "encap" else tunnel.seal(packet, number)))
            came = next_packet(far, protocol)
            yield packet, opened(tunnel, came) if direction == "encap" else came


def compare(gateway, direction):
    """@return what is wrong with what comes out, "" if nothing is"""
    gateway.resume()
    try:
        wrong = [len(sent) for sent, came in through(gateway, direction) if not same(came, sent)]
    except TimeoutError:
        return "a packet does not come out"
    finally:
        gateway.pause()
    return f"{len(wrong)} of {PACKETS} packets come out changed, the first of {wrong[0]} bytes" if wrong else ""

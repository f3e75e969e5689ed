# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that a gateway on veths encrypts and decrypts correctly: sends packets through it, and
decrypts its ESP packets with python3-cryptography, or compares its plaintext with what was sent."""
import ctypes
import hmac
import ipaddress
import os
import random
import socket
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from traffic import DIRECTIONS, ESP, ETHERNET, HOST, IPV4, UDP, WAN, checksum, ethernet, udp_packet
from veth import FROM, TO

PACKETS = 64
SIZES = 64, 1408  # of frames, the shortest and the longest
PATIENCE = 5 * int(os.environ.get("CYGNET_SLOWDOWN", 1))  # seconds, for a packet to come out
CLONE_NEWNET = 0x40000000
EVERY_PROTOCOL, ETHERTYPE_IPV4 = 3, 0x0800
TTL, PROTOCOL, SUM = 8, 9, 10  # offsets in an IPv4 header


def enter(namespace):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace.fileno(), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns {namespace.name}")


def packet_socket(namespace, device):
    """Open a packet socket on a device of another network namespace."""
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
    """Packets of a flow, with random lengths and random content."""
    dice = random.Random(3)
    ends = (HOST, tunnel.far_host) if direction == "encap" else (tunnel.far_host, HOST)
    for size in [*SIZES, *(dice.randint(*SIZES) for _ in range(PACKETS - len(SIZES)))]:
        packet = udp_packet(*ends, size - ETHERNET)
        yield packet[:IPV4 + UDP] + dice.randbytes(len(packet) - IPV4 - UDP)


def esp_text(tunnel, body):
    """Verify and decrypt an ESP packet from the gateway.
    @param body  from the ESP header to the ICV
    @return      plaintext with the ESP trailer; None if the ICV is wrong"""
    suite, (cipher, auth) = tunnel.suite, tunnel.keys("out")
    end, text = len(body) - suite.icv, ESP + suite.iv
    if suite.akey:
        if not hmac.compare_digest(hmac.digest(auth, body[:end], suite.hash)[:suite.icv], body[end:]):
            return None
        decryptor = Cipher(algorithms.AES(cipher), modes.CBC(body[ESP:text])).decryptor()
        return decryptor.update(body[text:end]) + decryptor.finalize()
    try:
        return AESGCM(cipher[:suite.key]).decrypt(cipher[suite.key:] + body[ESP:text], body[text:], body[:ESP])
    except InvalidTag:
        return None


def decrypted(tunnel, packet):
    """Decapsulate an ESP packet from the gateway.
    @return the inner packet; None if addresses, SPI, ICV, next header or padding are wrong"""
    spi, = struct.unpack_from("!I", packet, IPV4)
    ends = ipaddress.IPv4Address(WAN).packed + ipaddress.IPv4Address(tunnel.peer).packed
    if packet[12:IPV4] != ends or spi != tunnel.out_spi:
        return None
    text = esp_text(tunnel, packet[IPV4:])
    if text is None or text[-1] != socket.IPPROTO_IPIP:
        return None
    pad = text[-2]
    return text[:-2 - pad] if text[-2 - pad:-2] == bytes(range(1, pad + 1)) else None


def same(packet, sent):
    """Whether a packet is the one that was sent, except for TTL and header checksum."""
    return (packet is not None and checksum(packet[:IPV4]) == 0 and sent[TTL] - 1 <= packet[TTL] <= sent[TTL] and
            packet[:TTL] + packet[TTL + 1:SUM] == sent[:TTL] + sent[TTL + 1:SUM] and
            packet[SUM + 2:] == sent[SUM + 2:])


def next_packet(packets, protocol):
    """@return the next IPv4 packet of a protocol that a far end receives, without Ethernet padding"""
    while True:
        frame, (_, kind, how, *_) = packets.recvfrom(2048)
        if how != socket.PACKET_OUTGOING and kind == ETHERTYPE_IPV4 and frame[ETHERNET + PROTOCOL] == protocol:
            return frame[ETHERNET:ETHERNET + struct.unpack_from("!H", frame, ETHERNET + 2)[0]]


def through(gateway, direction):
    """Send PACKETS packets through a gateway, one after the other.
    @return for each packet the plaintext that was sent and the plaintext received"""
    tunnel, (port, _) = gateway.tunnels[0], DIRECTIONS[direction]
    protocol = socket.IPPROTO_ESP if direction == "encap" else socket.IPPROTO_UDP
    with (packet_socket(gateway.namespace, FROM[direction]) as near,
          packet_socket(gateway.namespace, TO[direction]) as far):
        for number, packet in enumerate(plaintext(direction, tunnel), 1):
            near.send(ethernet(port, packet if direction == "encap" else tunnel.seal(packet, number)))
            came = next_packet(far, protocol)
            yield packet, decrypted(tunnel, came) if direction == "encap" else came


def compare(gateway, direction):
    """@return a message if a packet is lost or changed, otherwise "" """
    gateway.resume()
    try:
        wrong = [len(sent) for sent, came in through(gateway, direction) if not same(came, sent)]
    except TimeoutError:
        return "a packet is lost"
    finally:
        gateway.pause()
    return f"{len(wrong)} of {PACKETS} packets are changed, the first of {wrong[0]} bytes" if wrong else ""

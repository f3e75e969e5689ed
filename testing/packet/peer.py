# SPDX-License-Identifier: GPL-2.0-or-later
"""The peer gateway: Scapy's ESP, an implementation that shares no code with ours."""
import dataclasses
import hashlib
import struct

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, in6_chksum
from scapy.layers.ipsec import ESP, IPSecIntegrityError, SecurityAssociation, _ESPPlain
from scapy.packet import Raw, raw

import ciphers  # pylint: disable=unused-import
from gateway import LAN, LAN6, PEER, PEER6, WAN, WAN6


class WrongPacketError(AssertionError):
    """A packet that cygnetd must never send, however slow the machine is: one that the peer cannot decrypt, a sequence
    number used twice, plaintext."""


def is_plaintext(packet):
    """Whether a packet is a host's in plaintext: tunnels and the gateway's own packets have the gateway's addresses."""
    return packet.src not in (LAN, LAN6, WAN, WAN6)


def check_used_once(numbers):
    """Check that no two packets have the same sequence number."""
    if len(set(numbers)) < len(numbers):
        raise WrongPacketError("a sequence number was used twice")


@dataclasses.dataclass
class Suite:
    """An ESP algorithm suite, in Scapy's names and in ours; lengths in bytes."""
    name: str
    crypt: str
    key_len: int
    cipher: str
    salt: int = 0
    auth: str = "NULL"
    akey_len: int = 0
    mac: str = ""
    icv: int = 16


SUITES = [
    Suite("cbc128-sha1", "AES-CBC", 16, "aes-cbc", 0, "HMAC-SHA1-96", 20, "hmac-sha1", 12),
    Suite("cbc128-sha256", "AES-CBC", 16, "aes-cbc", 0, "SHA2-256-128", 32, "hmac-sha256", 16),
    Suite("cbc192-sha384", "AES-CBC", 24, "aes-cbc", 0, "SHA2-384-192", 48, "hmac-sha384", 24),
    Suite("cbc256-sha512", "AES-CBC", 32, "aes-cbc", 0, "SHA2-512-256", 64, "hmac-sha512", 32),
    Suite("gcm128", "AES-GCM", 16, "aes-gcm", 4),
    Suite("gcm192", "AES-GCM", 24, "aes-gcm", 4),
    Suite("gcm256", "AES-GCM", 32, "aes-gcm", 4),
    Suite("gcm128-8", "AES-GCM-8", 16, "aes-gcm", 4, icv=8),
    Suite("gcm256-12", "AES-GCM-12", 32, "aes-gcm", 4, icv=12),
    Suite("ccm128-8", "AES-CCM-8", 16, "aes-ccm", 3, icv=8),
    Suite("ccm192-12", "AES-CCM-12", 24, "aes-ccm", 3, icv=12),
    Suite("ccm256-16", "AES-CCM", 32, "aes-ccm", 3),
    Suite("chacha", "CHACHA20-POLY1305", 32, "chacha20-poly1305", 4),
    Suite("gmac128", "AES-GMAC", 16, "aes-gmac", 4),
    Suite("gmac256", "AES-GMAC", 32, "aes-gmac", 4),
    Suite("ctr128-sha1", "AES-CTR", 16, "aes-ctr", 4, "HMAC-SHA1-96", 20, "hmac-sha1", 12),
    Suite("ctr192-sha256", "AES-CTR", 24, "aes-ctr", 4, "SHA2-256-128", 32, "hmac-sha256", 16),
    Suite("ctr256-xcbc", "AES-CTR", 32, "aes-ctr", 4, "AES-XCBC-96", 16, "aes-xcbc", 12),
    Suite("3des-md5", "3DES", 24, "3des-cbc", 0, "HMAC-MD5-96", 16, "hmac-md5", 12),
    Suite("des-sha1", "DES", 8, "des-cbc", 0, "HMAC-SHA1-96", 20, "hmac-sha1", 12),
    Suite("3des-sha256", "3DES", 24, "3des-cbc", 0, "SHA2-256-128", 32, "hmac-sha256", 16),
    Suite("cbc256-xcbc", "AES-CBC", 32, "aes-cbc", 0, "AES-XCBC-96", 16, "aes-xcbc", 12),
    Suite("cbc128-cmac", "AES-CBC", 16, "aes-cbc", 0, "AES-CMAC-96", 16, "aes-cmac", 12),
    Suite("cbc128-md5", "AES-CBC", 16, "aes-cbc", 0, "HMAC-MD5-96", 16, "hmac-md5", 12),
    Suite("null-sha1", "NULL", 0, "null", 0, "HMAC-SHA1-96", 20, "hmac-sha1", 12),
    Suite("null-sha512", "NULL", 0, "null", 0, "SHA2-512-256", 64, "hmac-sha512", 32),
    Suite("cbc128-sha256-96", "AES-CBC", 16, "aes-cbc", 0, "SHA2-256-96", 32, "hmac-sha256", 12),
    Suite("cbc256-sha1-160", "AES-CBC", 32, "aes-cbc", 0, "HMAC-SHA1-160", 20, "hmac-sha1", 20),
    Suite("null-md5-128", "NULL", 0, "null", 0, "HMAC-MD5-128", 16, "hmac-md5", 16),
    Suite("null-xcbc", "NULL", 0, "null", 0, "AES-XCBC-96", 16, "aes-xcbc", 12),
]
SUITE = {suite.name: suite for suite in SUITES}


def key_material(label, length):
    """Keys that differ per SA and are the same in each run."""
    return hashlib.shake_128(label.encode()).digest(length)


class Sa:
    """One SA. direction is the gateway's: "out" towards the peer, "in" from it."""

    ipsec = "esp"

    def __init__(self, suite, direction, spi, encap=False, esn=False, window=64, reqid=1, more="",
                 v6=False):
        self.suite, self.direction, self.spi = suite, direction, spi
        self.esn, self.window, self.reqid, self.more = esn, window, reqid, more
        self.encap = (4500, 4501) if encap is True else encap or None  # ports of the gateway and of the peer
        self.key = key_material(f"cipher {spi}", suite.key_len + suite.salt)
        self.akey = key_material(f"auth {spi}", suite.akey_len)
        self.v6 = v6
        here, there = (WAN6, PEER6) if v6 else (WAN, PEER)
        self.src, self.dst = (here, there) if direction == "out" else (there, here)
        self.scapy = SecurityAssociation(
            ESP, spi, crypt_algo=suite.crypt, crypt_key=self.key, auth_algo=suite.auth,
            auth_key=self.akey, tunnel_header=IP(src=WAN, dst=PEER), esn_en=esn)
        self.seq = 0
        self.opened = {}  # packets by sequence number

    def line(self):
        """The SA as words of sadb-fill."""
        suite = self.suite
        words = [f"sa dir={self.direction} spi={self.spi:#x} src={self.src} dst={self.dst}",
                 f"cipher={suite.cipher} key={self.key.hex()} salt={suite.salt} icv={suite.icv}",
                 f"reqid={self.reqid}", self.more]
        if suite.mac:
            words.append(f"auth={suite.mac} akey={self.akey.hex()}")
        if self.direction == "in":
            words.append(f"window={self.window}")
        if self.esn:
            words.append("esn=yes")
        if self.encap:
            ports = self.encap if self.direction == "out" else self.encap[::-1]
            words.append(f"encap={ports[0]}-{ports[1]}")
        return " ".join(words)

    def _mac(self, esp, high):
        mac = self.scapy.auth_algo.new_mac(self.akey)
        mac.update(raw(esp) + (struct.pack("!I", high) if self.esn else b""))
        return mac.finalize()[:self.suite.icv]

    def seal(self, inner, seq=None, alter=None):
        """ESP packet from the peer, of 64-bit sequence number seq (default: the
        next). alter changes the plaintext ESP packet before it is encrypted."""
        data = raw(inner)
        return self.outer() / self._close(data, 41 if data[0] >> 4 == 6 else 4, seq, alter)

    def seal_payload(self, packet, seq=None):
        """seal() for transport mode: between the SA's two hosts, whatever the packet's addresses."""
        header = IP(raw(packet)[:packet.ihl * 4])
        header.src, header.dst, header.proto = self.src, self.dst, 17 if self.encap else 50
        esp = self._close(raw(packet)[packet.ihl * 4:], packet.proto, seq)
        if self.encap:
            esp = raw(UDP(sport=self.encap[1], dport=self.encap[0], chksum=0) / Raw(esp))
        del header.len, header.chksum
        return IP(raw(header / Raw(esp)))

    def _close(self, data, proto, seq=None, alter=None):
        if seq is None:
            self.seq += 1
            seq = self.seq
        high, low = seq >> 32, seq & 0xffffffff
        algo = self.scapy.crypt_algo
        plain = _ESPPlain(spi=self.spi, seq=low, iv=algo.generate_iv(), data=data, nh=proto)
        plain = algo.pad(plain)
        if alter:
            alter(plain)
        esp = algo.encrypt(self.scapy, plain, self.scapy.crypt_key, None, esn_en=self.esn, esn=high)
        if self.suite.mac:
            esp.data += self._mac(esp, high)
        return Raw(raw(esp))

    def outer(self):
        if self.v6:
            header = IPv6(src=self.src, dst=self.dst, nh=17 if self.encap else 50)
        else:
            header = IP(src=self.src, dst=self.dst, proto=17 if self.encap else 50)
        return header if not self.encap else header / UDP(sport=self.encap[1], dport=self.encap[0], chksum=0)

    def unseal(self, packet, high=0):
        """Check an ESP packet from the gateway in every field, and decrypt it.
        @return the inner packet and the ESP header's sequence number"""
        plain, seq = self._unwrap(packet, high)
        kind = plain.data[0] >> 4
        assert plain.nh == {4: 4, 6: 41}.get(kind), f"next header {plain.nh} for version {kind}"
        return (IPv6 if kind == 6 else IP)(plain.data), seq

    def unseal_payload(self, packet, high=0):
        """unseal() for transport mode. @return the packet with its IP header, protocol and payload inside,
        sequence number"""
        plain, seq = self._unwrap(packet, high)
        return packet, plain.nh, plain.data, seq

    def _unwrap(self, packet, high):
        if packet.src != self.src and is_plaintext(packet):
            raise WrongPacketError(f"plaintext: {packet.summary()}")
        assert (packet.src, packet.dst) == (self.src, self.dst), packet.summary()
        if self.v6:
            return self._open(ESP(self._payload6(packet)), high)
        assert checksum_right(packet), "checksum of the outer header"
        payload = raw(packet.payload)
        if self.encap:
            assert packet.proto == 17, f"outer protocol {packet.proto}"
            udp, payload = UDP(payload[:8]), payload[8:]
            assert (udp.sport, udp.dport) == self.encap, (udp.sport, udp.dport)
            assert udp.len == packet.len - packet.ihl * 4, "UDP length"
            assert udp.chksum == 0, "UDP checksum, zero by RFC 3948"
        else:
            assert packet.proto == 50, f"outer protocol {packet.proto}"
        return self._open(ESP(payload), high)

    def _payload6(self, packet):
        """The ESP packet, without its UDP header if there is one; checks the UDP checksum that IPv6
        requires."""
        data = raw(packet)
        assert packet.plen == len(data) - 40 and packet.fl == 0, packet.summary()
        assert packet.nh == (17 if self.encap else 50), f"outer protocol {packet.nh}"
        if not self.encap:
            return data[40:]
        udp = UDP(data[40:48])
        assert (udp.sport, udp.dport) == self.encap, (udp.sport, udp.dport)
        assert udp.len == len(data) - 40, "UDP length"
        assert udp.chksum and in6_chksum(17, IPv6(data[:40]), data[40:]) == 0, "UDP checksum"
        return data[48:]

    def _open(self, esp, high):
        assert esp.spi == self.spi, f"SPI {esp.spi:#x}"
        icv = 0
        if self.suite.mac:
            icv = self.suite.icv
            clone = ESP(spi=esp.spi, seq=esp.seq, data=esp.data[:-icv])
            if esp.data[-icv:] != self._mac(clone, high):
                raise WrongPacketError("ICV")
        try:
            plain = self.scapy.crypt_algo.decrypt(self.scapy, esp, self.scapy.crypt_key, icv or None,
                                                  esn_en=self.esn, esn=high)
        except (IPSecIntegrityError, ValueError, struct.error) as error:
            raise WrongPacketError(f"cannot be decrypted: {error!r}") from error
        if self.opened.setdefault((high, esp.seq), raw(esp)) != raw(esp):
            raise WrongPacketError(f"sequence number {esp.seq} was used twice")
        check_padding(self, esp, plain, high)
        return plain, esp.seq


def check_padding(sa, esp, plain, high):
    """The padding is 1, 2, 3 ... (RFC 4303, 2.4). Scapy removes it, so the packet is encrypted again with such padding,
    and the result compared."""
    plain.padding = bytes(range(1, plain.padlen + 1))
    again = sa.scapy.crypt_algo.encrypt(sa.scapy, plain, sa.scapy.crypt_key, esn_en=sa.esn,
                                        esn=high)
    assert esp.data[:len(again.data)] == again.data, "padding"
    assert (len(plain.data) + plain.padlen + 2) % 4 == 0, "alignment"


def checksum_right(packet):
    head = raw(packet)[:packet.ihl * 4]
    total = sum(struct.unpack(f"!{len(head) // 2}H", head))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total == 0xffff

# SPDX-License-Identifier: GPL-2.0-or-later
"""The peer's AH: Scapy's AH, which shares no code with ours, and AES-GMAC on OpenSSL."""
import dataclasses
import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.ipsec import (AH, AUTH_ALGOS, AuthAlgo, IPSecIntegrityError, split_for_transport,
                                zero_mutable_fields)
from scapy.packet import raw

import ciphers  # pylint: disable=unused-import
from gateway import PEER, PEER6, WAN, WAN6
from peer import WrongPacketError, checksum_right, is_plaintext, key_material


class GmacAuth(AuthAlgo):
    """AES-GMAC (RFC 4543, 4): the ICV is an IV and a tag. The tag is computed with an ICV of zeros."""

    def __init__(self):
        super().__init__("AES-GMAC", mac=True, digestmod=None, icv_size=24)

    @staticmethod
    def _tag(packet, key, iv, high):
        clone = zero_mutable_fields(packet.copy(), sending=False)
        encryptor = Cipher(algorithms.AES(key[:-4]), modes.GCM(key[-4:] + iv)).encryptor()
        encryptor.authenticate_additional_data(raw(clone) + high)
        encryptor.finalize()
        return iv + encryptor.tag

    def sign(self, pkt, key, esn_en=False, esn=0):
        iv = struct.pack("!LL", 7, pkt[AH].seq)
        pkt[AH].icv = self._tag(pkt, key, iv, struct.pack("!L", esn) if esn_en else b"")
        return pkt

    def verify(self, pkt, key, esn_en=False, esn=0):
        ah = pkt[AH]
        ah.icv, ah.padding = ah.icv[:24], ah.icv[24:]
        want = self._tag(pkt, key, ah.icv[:8], struct.pack("!L", esn) if esn_en else b"")
        if want != ah.icv:
            raise IPSecIntegrityError("GMAC")


AUTH_ALGOS["AES-GMAC"] = GmacAuth()


@dataclasses.dataclass
class Auth:
    """An algorithm of AH in Scapy's names and in sadb-fill's words; lengths in bytes."""
    name: str
    scapy: str
    key_len: int
    words: str
    icv: int   # on the wire, with the IV if there is one


AUTHS = {auth.name: auth for auth in (
    Auth("md5", "HMAC-MD5-96", 16, "cipher=null auth=hmac-md5 akey={key} icv=12", 12),
    Auth("sha1", "HMAC-SHA1-96", 20, "cipher=null auth=hmac-sha1 akey={key} icv=12", 12),
    Auth("sha256", "SHA2-256-128", 32, "cipher=null auth=hmac-sha256 akey={key} icv=16", 16),
    Auth("sha384", "SHA2-384-192", 48, "cipher=null auth=hmac-sha384 akey={key} icv=24", 24),
    Auth("sha512", "SHA2-512-256", 64, "cipher=null auth=hmac-sha512 akey={key} icv=32", 32),
    Auth("xcbc", "AES-XCBC-96", 16, "cipher=null auth=aes-xcbc akey={key} icv=12", 12),
    Auth("cmac", "AES-CMAC-96", 16, "cipher=null auth=aes-cmac akey={key} icv=12", 12),
    Auth("gmac128", "AES-GMAC", 20, "cipher=aes-gmac key={key} salt=4 icv=16", 24),
    Auth("gmac256", "AES-GMAC", 36, "cipher=aes-gmac key={key} salt=4 icv=16", 24))}


class AhSa:
    """One SA. direction is the gateway's: "out" towards the peer, "in" from it."""

    ipsec = "ah"

    def __init__(self, auth, direction, spi, transport=False, v6=False, esn=False, window=64,
                 reqid=1, more=""):
        self.auth, self.direction, self.spi, self.transport = AUTHS[auth], direction, spi, transport
        self.v6, self.esn, self.window, self.reqid, self.more = v6, esn, window, reqid, more
        self.key = key_material(f"ah {spi}", self.auth.key_len)
        self.algo = AUTH_ALGOS[self.auth.scapy]
        here, there = (WAN6, PEER6) if v6 else (WAN, PEER)
        self.src, self.dst = (here, there) if direction == "out" else (there, here)
        self.unit = 8 if v6 else 4
        self.seq = 0

    def line(self):
        """The SA as words of sadb-fill."""
        words = [f"sa ipsec=ah dir={self.direction} spi={self.spi:#x} src={self.src} dst={self.dst}",
                 self.auth.words.format(key=self.key.hex()), f"reqid={self.reqid}", self.more]
        if self.transport:
            words.append("mode=transport")
        if self.direction == "in":
            words.append(f"window={self.window}")
        if self.esn:
            words.append("esn=yes")
        return " ".join(words)

    def outer(self, **fields):
        return (IPv6 if self.v6 else IP)(src=self.src, dst=self.dst, **fields)

    def seal(self, packet, seq=None, alter=None, unit=None, **fields):
        """A packet in AH from the peer, of 64-bit sequence number seq (default: the next). fields are the
        outer header's. alter changes AH before it is signed. AH's length is a multiple of unit."""
        if seq is None:
            self.seq += 1
            seq = self.seq
        if not self.transport:
            header = self.outer(**fields)
            packet = type(header)(raw(header / packet))
        header, nh, payload = split_for_transport(packet, 51)
        ah = AH(spi=self.spi, seq=seq & 0xffffffff, nh=nh, icv=bytes(self.auth.icv))
        ah.padding = bytes(-len(ah) % (unit or self.unit))
        ah.payloadlen = len(ah) // 4 - 2
        if alter:
            alter(ah)
        if self.v6:
            header.plen = len(header.payload) + len(ah) + len(payload)
        else:
            header.len = len(header) + len(ah) + len(payload)
        whole = header / ah / payload
        signed = self.algo.sign(whole, self.key, esn_en=self.esn, esn=seq >> 32)
        return type(header)(raw(signed))

    def unseal(self, packet, high=0):
        """Check a packet from the gateway in every field of AH.
        @return what follows AH: in tunnel mode a packet, else bytes; AH itself"""
        packet = type(packet)(raw(packet))
        if is_plaintext(packet):
            raise WrongPacketError(f"plaintext: {packet.summary()}")
        assert (packet.src, packet.dst) == (self.src, self.dst), packet.summary()
        assert self.v6 or checksum_right(packet), "checksum of the outer header"
        ah = packet[AH]
        assert (ah.spi, ah.reserved) == (self.spi, 0), ah.summary()
        size = 12 + self.auth.icv
        size += -size % self.unit
        assert (ah.payloadlen + 2) * 4 == size, f"length {ah.payloadlen}"
        assert not any(ah.icv[self.auth.icv:]), "padding"
        inner = raw(ah.payload)
        try:
            self.algo.verify(packet, self.key, esn_en=self.esn, esn=high)
        except IPSecIntegrityError as error:
            raise WrongPacketError("ICV") from error
        if self.transport:
            return inner, ah
        kind = inner[0] >> 4
        assert ah.nh == {4: 4, 6: 41}[kind], f"next header {ah.nh} for version {kind}"
        return (IPv6 if kind == 6 else IP)(inner), ah

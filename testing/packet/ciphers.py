# SPDX-License-Identifier: GPL-2.0-or-later
"""Algorithms that Scapy's ESP lacks, on OpenSSL (through cryptography), registered beside Scapy's: shorter
ICVs of AES-GCM and AES-CCM, other HMACs, AES-GMAC, AES-XCBC."""
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, aead, algorithms, modes
from cryptography.hazmat.primitives.hmac import HMAC
from scapy.layers.ipsec import (AUTH_ALGOS, CRYPT_ALGOS, ESP, AuthAlgo, CryptAlgo,
                                IPSecIntegrityError)


def with_salt(sa, iv, **_):
    return sa.crypt_salt + iv


def short_icv(size):
    """AES-GCM (RFC 4106) and AES-CCM (RFC 4309) with a truncated tag."""
    CRYPT_ALGOS[f"AES-GCM-{size}"] = CryptAlgo(
        f"AES-GCM-{size}", cipher=algorithms.AES, mode=modes.GCM, block_size=1, iv_size=8,
        icv_size=size, salt_size=4, format_mode_iv=with_salt)
    CRYPT_ALGOS[f"AES-CCM-{size}"] = CryptAlgo(
        f"AES-CCM-{size}", cipher=aead.AESCCM, mode=None, key_size=(16, 24, 32), block_size=1,
        iv_size=8, icv_size=size, salt_size=3, format_mode_iv=with_salt)


class Gmac(CryptAlgo):
    """AES-GMAC (RFC 4543): all of the packet is associated data, nothing is encrypted."""

    def __init__(self):
        super().__init__("AES-GMAC", cipher=algorithms.AES, mode=modes.GCM, block_size=1, iv_size=8,
                         icv_size=16, salt_size=4)

    @staticmethod
    def _head(esp, esn_en, esn):
        return struct.pack("!LLL", esp.spi, esn, esp.seq) if esn_en else \
            struct.pack("!LL", esp.spi, esp.seq)

    def encrypt(self, sa, esp, key, icv_size=None, esn_en=False, esn=0):
        data = esp.iv + esp.data_for_encryption()
        encryptor = Cipher(algorithms.AES(key), modes.GCM(sa.crypt_salt + esp.iv)).encryptor()
        encryptor.authenticate_additional_data(self._head(esp, esn_en, esn) + data)
        encryptor.finalize()
        return ESP(spi=esp.spi, seq=esp.seq, data=data + encryptor.tag)

    def decrypt(self, sa, esp, key, icv_size=None, esn_en=False, esn=0):
        data, icv = esp.data[:-self.icv_size], esp.data[-self.icv_size:]
        nonce = sa.crypt_salt + data[:self.iv_size]
        decryptor = Cipher(algorithms.AES(key), modes.GCM(nonce, icv)).decryptor()
        decryptor.authenticate_additional_data(self._head(esp, esn_en, esn) + data)
        try:
            decryptor.finalize()
        except InvalidTag as error:
            raise IPSecIntegrityError(error) from error
        return CRYPT_ALGOS["NULL with IV"].decrypt(sa, ESP(spi=esp.spi, seq=esp.seq, data=data), b"")


class Xcbc:
    """AES-XCBC-MAC (RFC 3566)."""

    def __init__(self, key):
        self.key, self.data = key, b""

    def update(self, data):
        self.data += data

    def finalize(self):
        derive = Cipher(algorithms.AES(self.key), modes.ECB()).encryptor()
        first, whole, padded = (derive.update(bytes([number]) * 16) for number in (1, 2, 3))
        cut = (len(self.data) - 1) // 16 * 16 if self.data else 0
        last, key = self.data[cut:], whole
        if len(last) < 16:
            last, key = (last + b"\x80").ljust(16, b"\0"), padded
        last = bytes(a ^ b for a, b in zip(last, key))
        chain = Cipher(algorithms.AES(first), modes.CBC(bytes(16))).encryptor()
        return (chain.update(self.data[:cut]) + chain.update(last))[-16:]


class XcbcAuth(AuthAlgo):
    def __init__(self):
        super().__init__("AES-XCBC-96", mac=Xcbc, digestmod=None, icv_size=12, key_size=(16,))

    def new_mac(self, key):
        return Xcbc(key)


CRYPT_ALGOS["NULL with IV"] = CryptAlgo("NULL with IV", cipher=None, mode=None, iv_size=8)
CRYPT_ALGOS["AES-GMAC"] = Gmac()
AUTH_ALGOS["AES-XCBC-96"] = XcbcAuth()
# Former ICV length of the kernel, and the lengths of Fibre Channel (RFC 4595).
for name, digest, size in (("SHA2-256-96", hashes.SHA256, 12), ("HMAC-SHA1-160", hashes.SHA1, 20),
                           ("HMAC-MD5-128", hashes.MD5, 16)):
    AUTH_ALGOS[name] = AuthAlgo(name, mac=HMAC, digestmod=digest, icv_size=size)
for icv in (8, 12):
    short_icv(icv)

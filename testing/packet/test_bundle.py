# SPDX-License-Identifier: GPL-2.0-or-later
"""cygnetctl bundle: it has all that its manual promises, and no key in any notation."""
import base64
import contextlib
import json
import os
import stat
import subprocess
import tarfile

from bench import policy
from gateway import FAR_NET
from network import PATIENCE
from peer import SUITE, Sa

EXPECTED = {"README", "version.txt", "health.txt", "doctor.txt", "info.json", "sad.json", "tunnels.json", "spd.json", "ports.json",
            "routes.json", "ike.json", "engines.json", "stats.json", "drops.json", "stages.json", "top.txt", "check.txt", "cygnetd.conf",
            "hugepages.txt", "memory.txt", "links.txt", "journal.txt", "packages.txt"}


def bundle(gateway, path, *options):
    """Run cygnetctl bundle with its temporary files in the gateway's folder, which other tests do not use."""
    return subprocess.run(["ip", "netns", "exec", gateway.network.gw, f"{gateway.build}/root/bin/cygnetctl",
                           "-c", gateway.conf, *options, "bundle", path],
                          capture_output=True, text=True, timeout=4 * PATIENCE, env=os.environ | {"TMPDIR": gateway.work})


def contents(path):
    with tarfile.open(path) as archive:
        assert all(member.name.split("/")[0] == "cygnet-bundle" for member in archive)
        return {member.name.split("/", 1)[1]: archive.extractfile(member).read()
                for member in archive if member.isfile()}


def spellings(secret):
    """Notations in which a program might print bytes."""
    words = [secret[i:i + 4] for i in range(0, len(secret), 4)]
    texts = [secret.hex(), secret.hex(" "), secret.hex(":"), secret.hex("-"), base64.b64encode(secret).decode().rstrip("="),
             " ".join(word.hex() for word in words), "".join(f"\\x{byte:02x}" for byte in secret),
             ", ".join(f"0x{byte:02x}" for byte in secret), ", ".join(map(str, secret))]
    return [secret] + [text.encode() for text in texts] + [text.upper().encode() for text in texts]


def test_bundle(bench):
    """Two SAs with known keys, one in use and one deleted."""
    gateway, path = bench.gateway, f"{bench.gateway.work}/bundle.tar.gz"
    gcm = bench.tunnel()
    bench.expect_flow(*gcm)
    other = Sa(SUITE["cbc128-sha256"], "in", bench.spi())
    gone = Sa(SUITE["gcm128"], "in", bench.spi())
    gateway.fill(other.line(), gone.line(), policy("out", "10.9.0.0-10.9.0.255", FAR_NET, "discard"),
                 f"sa-delete spi={gone.spi:#x} dst={gone.dst}")
    done = bundle(gateway, path)
    try:
        assert done.returncode == 0 and path in done.stdout, done
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        files = contents(path)
        assert EXPECTED <= set(files), EXPECTED - set(files)
        spis = {row["spi"] for row in json.loads(files["sad.json"])}
        assert spis == {f"{sa.spi:#010x}" for sa in (*gcm, other)}
        assert any(row["src"] == "10.9.0.0/24" for row in json.loads(files["spd.json"]))
        assert b"charon does not run" in files["health.txt"]
        info = json.loads(files["info.json"])[0]
        given = {(key["section"], key["key"]): key["given"] for key in info["configuration"]}
        assert given["port lan", "device"].startswith("/") and given["cygnetd", "routes"] is not None, given
        assert info["dpdk"].startswith("DPDK ") and info["abi"] == info["cygnetctl_abi"] and info["strongswan"] is None
        assert b"[port lan]" in files["cygnetd.conf"] and b"HugePages_Total" in files["memory.txt"]
        assert b"nr_hugepages" in files["hugepages.txt"] and b"no error found" in files["check.txt"]
        secrets = [key for sa in (*gcm, other, gone) for key in (sa.key, sa.akey) if key]
        assert len(secrets) >= 5
        with open(f"{gateway.work}/sadb", "rb") as sadb:
            in_use = sadb.read()
        assert all(sa.key in in_use for sa in (*gcm, other)), "these are not the keys"
        for secret in secrets:
            # Half of a key must not be there either.
            for part in (secret, secret[:len(secret) // 2]):
                for text in spellings(part):
                    for name, content in files.items():
                        assert text not in content, (name, text)
        again = bundle(gateway, path)
        assert again.returncode == 1 and "exists already" in again.stderr, again
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def test_bundle_without_cygnetd(bench):
    """Without cygnetd: the bundle has the databases, and each missing file's reason."""
    gateway, path = bench.gateway, f"{bench.gateway.work}/bundle.tar.gz"
    bench.tunnel()
    gateway.kill()
    try:
        assert bundle(gateway, path).returncode == 0
        files = contents(path)
        assert len(json.loads(files["sad.json"])) == 2
        assert b"CRITICAL: cygnetd does not answer" in files["health.txt"]
        assert b"does not answer" in files["ports.json"] and b"exit status 1" in files["ports.json"]
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        gateway.start()


def test_bundle_nowhere(bench):
    done = bundle(bench.gateway, "/no/such/folder/bundle.tar.gz")
    assert done.returncode == 1 and "/no/such/folder/bundle.tar.gz: No such file" in done.stderr, done
    assert not [name for name in os.listdir(bench.gateway.work) if name.startswith("cygnet-bundle-")]

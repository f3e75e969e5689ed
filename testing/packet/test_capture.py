# SPDX-License-Identifier: GPL-2.0-or-later
"""cygnetctl capture: the files contain exactly the packets that were asked for, and Scapy and tshark can read them."""
import contextlib
import os
import signal
import socket
import stat
import struct
import subprocess
import time

from scapy.layers.inet import IP
from scapy.layers.ipsec import ESP
from scapy.utils import PcapNgReader

from bench import IPV4, packet, policy, same_but_hop, to_far_host, to_host
from gateway import FAR_NET, HOST, LAN_NET
from network import PATIENCE, wait_until
from test_esp import cases
from test_reload import Dmz, reload, usual_again
from test_shortcut import inbound, known, known_tunnel, outbound

POINTS = {"rx", "tx", "drop", "decrypted", "to-protect"}
BEGUN = "capture: begun"


class Captured:
    """A packet of a file: the frame as Scapy reads it, the comment as tshark does. (Scapy 2.5 takes no comment
    without a newline in it.)"""

    def __init__(self, frame, comment):
        self.frame = bytes(frame)
        words = comment.split()
        self.point = words[0]
        self.words = dict(word.split("=") for word in words[1:])
        self.ip = IP(self.frame[14:]) if self.frame[12:14] == IPV4 else None

    def __repr__(self):
        return f"{self.point} {self.words} {self.ip.summary() if self.ip else self.frame.hex()}"


class Capture:
    """A running cygnetctl capture FILE."""

    def __init__(self, bench, *words, name="file.pcapng"):
        self.gateway = bench.gateway
        self.path = f"{bench.gateway.work}/{name}"
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.path)
        mark = os.path.getsize(self.gateway.log)
        self.process = subprocess.Popen(command(bench, self.path, *words), stderr=subprocess.PIPE, text=True)
        wait_until(lambda: self.process.poll() is not None or self.gateway.logged(BEGUN, mark), BEGUN)
        # Workers see the capture in their next turn; the current one may have begun before it.
        before = self.turns()
        wait_until(lambda: all(now - then >= 2 for now, then in zip(self.turns(), before)), "workers take notice")

    def turns(self):
        return [row["turns"] for row in self.gateway.ask("/cygnet/stats").values()]

    def wait(self):
        """Wait until a limit ends it. @return its output"""
        self.output = self.process.communicate(timeout=PATIENCE)[1]
        return self.output

    def end(self):
        """End it as Ctrl-C does. @return packets"""
        self.process.send_signal(signal.SIGINT)
        self.wait()
        assert self.process.returncode == 0, self.output
        return self.packets()

    def packets(self):
        with PcapNgReader(self.path) as reader:
            frames = list(reader)
        rows = self.tshark()
        assert [str(len(frame)) for frame in frames] == [length for _, length in rows], "Scapy and tshark disagree"
        assert self.output.startswith(f"{len(rows)} packets captured, 0 missed"), self.output
        return [Captured(frame, comment) for frame, (comment, _) in zip(frames, rows)]

    def tshark(self):
        """Read the file with tshark. @return comment and length of each packet"""
        rows = subprocess.run(["tshark", "-r", self.path, "-T", "fields", "-e", "frame.comment", "-e", "frame.len"],
                              check=True, capture_output=True, text=True).stdout
        return [row.split("\t") for row in rows.splitlines()]


def command(bench, path, *words):
    return [f"{bench.gateway.build}/root/bin/cygnetctl", "-p",
            f"/run/dpdk/{bench.gateway.prefix}/dpdk_telemetry.v2", "capture", path, *words]


def one_each_way(bench, out, inb):
    """Send a packet out, one in, and one that is dropped. @return the first two, as the hosts sent them"""
    there, back = to_far_host(), to_host()
    outbound(bench, out, there)
    inbound(bench, inb, back)
    before = bench.gateway.drops().get("policy-plaintext", 0)
    bench.from_wan(back)
    wait_until(lambda: bench.gateway.drops().get("policy-plaintext", 0) > before, "a drop")
    return there, back


def places(packets):
    return sorted((one.point, one.words["port"]) for one in packets if one.ip)


EACH = [("decrypted", "wan"), ("drop", "wan"), ("rx", "lan"), ("rx", "wan"), ("rx", "wan"),
        ("to-protect", "lan"), ("tx", "lan"), ("tx", "wan")]


def test_capture_all(bench):
    """Each capture point has the packet once, with port, SPI and drop reason; the content is what was sent."""
    out, inb = bench.tunnel()
    capture = Capture(bench)
    there, back = one_each_way(bench, out, inb)
    got = capture.end()
    assert places(got) == EACH, got
    assert stat.S_IMODE(os.stat(capture.path).st_mode) == 0o600
    assert {one.point for one in got} == POINTS
    by = {(one.point, one.words["port"], one.words.get("spi")): one for one in got}
    spi_out, spi_in = f"{out.spi:#010x}", f"{inb.spi:#010x}"
    assert bytes(by["rx", "lan", None].ip) == bytes(there)
    same_but_hop(by["to-protect", "lan", spi_out].ip, there)
    assert by["tx", "wan", spi_out].ip[ESP].spi == out.spi
    assert by["rx", "wan", spi_in].ip[ESP].spi == inb.spi
    assert bytes(by["decrypted", "wan", spi_in].ip) == bytes(back)
    same_but_hop(by["tx", "lan", None].ip, back)
    drop = by["drop", "wan", None]
    assert drop.words["reason"] == "policy-plaintext" and bytes(drop.ip) == bytes(back)


SELECTORS = {
    "at": (["at", "rx,tx"], [place for place in EACH if place[0] in ("rx", "tx")]),
    "port": (["port", "lan"], [place for place in EACH if place[1] == "lan"]),
    "drop": (["drop", "policy-plaintext"], [("drop", "wan")]),
    "other-drop": (["drop", "no-route"], []),
    "filter": (["filter", "src host 10.1.0.10 and udp dst port 2222"], [("rx", "lan"), ("to-protect", "lan")]),
    "filter-esp": (["filter", "esp"], [("rx", "wan"), ("tx", "wan")]),
    "filter-ether": (["at", "rx,tx", "filter", "ether proto 0x86dd"], []),
    "both": (["at", "tx", "port", "wan"], [("tx", "wan")]),
}


@cases(*SELECTORS)
def test_capture_some(bench, case):
    words, expected = SELECTORS[case]
    out, inb = bench.tunnel()
    capture = Capture(bench, *words)
    one_each_way(bench, out, inb)
    assert places(capture.end()) == expected


@cases("out", "in")
def test_capture_sa(bench, case):
    """By SPI: the SA's packets, protected and in plaintext, and its dropped packets with the reason."""
    out, inb = bench.tunnel()
    sa = {"out": out, "in": inb}[case]
    capture = Capture(bench, "spi", hex(sa.spi))
    one_each_way(bench, out, inb)
    replayed = inb.seal(to_host())
    with bench.dropped("replay"):
        bench.from_wan(replayed)
        bench.receive(bench.lan, 1)
        bench.from_wan(replayed)
    with bench.dropped("policy-inbound"):
        bench.from_wan(inb.seal(packet("10.9.0.1", HOST)))
    got = capture.end()
    assert all(one.words["spi"] == f"{sa.spi:#010x}" for one in got), got
    assert places(got) == ([("to-protect", "lan"), ("tx", "wan")] if case == "out" else
                           [("decrypted", "wan")] * 3 + [("drop", "wan")] * 2 + [("rx", "wan")] * 4)
    assert sorted(one.words["reason"] for one in got if one.point == "drop") == \
        ([] if case == "out" else ["policy-inbound", "replay"])


def test_capture_known(bench):
    """Packets of known flows are captured too; afterwards they take the fast path again."""
    out, inb = known_tunnel(bench)
    capture = Capture(bench)
    before = bench.gateway.counted("shortcut")
    for _ in range(3):
        one_each_way(bench, out, inb)
    assert bench.gateway.counted("shortcut") == before
    assert places(capture.end()) == sorted(3 * EACH)
    known(bench, outbound, out)
    known(bench, inbound, inb, ways=2)


def test_capture_drop_of_frame(bench):
    """Frames that are not IP, or are for other stations, are captured unchanged."""
    bench.tunnel()
    frame = bench.frame(bench.lan, "lan", to_far_host())
    other, tagged = b"\x02" * 6 + frame[6:], frame[:12] + b"\x81\x00\x00\x07" + frame[12:]
    capture = Capture(bench, "at", "drop")
    before = bench.gateway.drops()
    for one in (other, tagged):
        bench.lan.send(one)
    for reason in ("not-ours", "vlan-tag"):
        bench.wait_until_dropped(reason, before.get(reason, 0))
    got = {one.words["reason"]: one.frame for one in capture.end()}
    assert got["not-ours"] == other and got["vlan-tag"] == tagged, got


def test_capture_count(bench):
    """A capture with count ends after exactly so many packets."""
    bench.gateway.fill("flush", policy("out", LAN_NET, FAR_NET, "bypass"))
    capture = Capture(bench, "at", "rx", "port", "lan", "count", "5")
    for number in range(20):
        bench.from_lan(to_far_host(id=number))
    capture.wait()
    assert capture.process.returncode == 0
    got = capture.packets()
    assert [one.ip.id for one in got] == list(range(5)), got


def test_capture_seconds(bench):
    bench.tunnel()
    begun = time.monotonic()
    capture = Capture(bench, "port", "lan", "at", "rx", "seconds", "1")
    bench.from_lan(to_far_host())
    capture.wait()
    assert capture.process.returncode == 0 and time.monotonic() - begun >= 1
    assert places(capture.packets()) == [("rx", "lan")]


def test_capture_killed(bench):
    """cygnetctl is killed: cygnetd gets all buffers back, and serves the next capture."""
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    before = pools(bench)
    for _ in range(3):
        mark = os.path.getsize(bench.gateway.log)
        capture = Capture(bench)
        bench.expect_flow(out, inb)
        capture.process.kill()
        capture.process.communicate()
        wait_until(lambda: bench.gateway.logged(" missed", mark), "the end of the capture")
        assert not bench.gateway.logged("not given back", mark)
        bench.expect_flow(out, inb)
        assert pools(bench) == before
    capture = Capture(bench)
    one_each_way(bench, out, inb)
    assert places(capture.end()) == EACH


def test_capture_stopped_reader(bench):
    """A client that does not read: packets are missed, and nothing else waits for it."""
    out, inb = bench.tunnel()
    mark = os.path.getsize(bench.gateway.log)
    capture = Capture(bench, "seconds", "0", "count", "0")
    capture.process.send_signal(signal.SIGSTOP)
    sent = [to_far_host(1400)] * 50

    def ended():
        bench.from_lan(*sent)
        bench.receive(bench.wan, len(sent))
        return bench.gateway.logged("does not read", mark)
    bench.wan.drain()
    wait_until(ended, "the end of the capture")
    bench.expect_flow(out, inb)
    capture.process.send_signal(signal.SIGCONT)
    assert "cygnetd has ended" in capture.wait()
    assert capture.process.returncode == 1
    assert not bench.gateway.logged("not given back", mark)


def test_capture_reload(bench):
    """Ports are added and removed during a capture: it covers the ports that existed at its start."""
    def both_ways(capture):
        dmz.expect_both_ways()
        return {(one.point, one.words["port"]) for one in capture.end() if one.ip}

    with usual_again(bench) as usual, Dmz(bench) as dmz:
        bench.gateway.fill("flush")
        capture = Capture(bench, "at", "rx,tx")
        reload(bench, usual + dmz.section)
        dmz.set_up()
        assert both_ways(capture) == {("rx", "lan"), ("tx", "lan")}
        assert both_ways(Capture(bench, "at", "rx,tx")) == {("rx", "lan"), ("tx", "lan"), ("rx", "dmz"), ("tx", "dmz")}
        capture = Capture(bench)
        reload(bench, usual)
        bench.from_lan(to_far_host())
        bench.receive(bench.wan, 1)
        assert ("tx", "wan") in places(capture.end())


def test_capture_gateway_ends(bench):
    """SIGTERM to cygnetd ends the capture and leaves a whole file."""
    out, inb = bench.tunnel()
    capture = Capture(bench)
    one_each_way(bench, out, inb)
    assert bench.gateway.stop() == 0
    capture.wait()
    assert capture.process.returncode == 0
    assert places(capture.packets()) == EACH
    bench.gateway.start()


def pools(bench):
    """cygnetd's pools of buffers. (DPDK 22.11 does not tell how many of one are free; cygnetd warns if any
    of a capture's are not, before it frees the pool.)"""
    return sorted(bench.gateway.ask("/mempool/list"))


def refused(bench, *words, status=1, message, path=None):
    path = path or f"{bench.gateway.work}/refused.pcapng"
    result = subprocess.run(command(bench, path, *words), capture_output=True, text=True)
    assert result.returncode == status and message in result.stderr, (result.returncode, result.stderr)


def test_capture_refused(bench):
    """A capture that is refused prints the reason, and leaves no file."""
    refused(bench, "port", "dmz", message="no port of that name")
    refused(bench, "drop", "bad-luck", message="no drop reason of that name")
    refused(bench, "at", "rx,nowhere", status=2, message="at: cannot be rx,nowhere")
    refused(bench, "spi", "0", status=2, message="spi: cannot be 0")
    refused(bench, "count", "many", status=2, message="count: cannot be many")
    refused(bench, "count", status=2, message="count: no value")
    refused(bench, "colour", "red", status=2, message="no keyword colour")
    refused(bench, "filter", "udp and", message="filter 'udp and'")
    refused(bench, "filter", "ether host 02:00:00:00:00:01", message="ask for 'at rx,tx'")
    assert not os.path.exists(f"{bench.gateway.work}/refused.pcapng")
    there = f"{bench.gateway.work}/there.pcapng"
    with open(there, "w"):
        refused(bench, message="File exists", path=there)
    capture = Capture(bench)
    refused(bench, message="another capture is running")
    capture.end()


def test_capture_not_root(bench):
    """Other users are refused by the rights of the folder and, if folder and socket are opened to all, by cygnetd."""
    folder = f"/run/dpdk/{bench.gateway.prefix}"
    address = f"{folder}/cygnet_capture"
    assert stat.S_IMODE(os.stat(address).st_mode) == 0o600
    assert not stat.S_IMODE(os.stat(folder).st_mode) & 0o007
    before = [(name, stat.S_IMODE(os.stat(name).st_mode)) for name in ("/run/dpdk", folder, address)]
    try:
        assert as_nobody(address) == "EACCES"
        for name, mode in before:
            # All programs with DPDK share the first one. Where others can write to it, another cygnetd does not start.
            os.chmod(name, mode | (0o011 if name == "/run/dpdk" else 0o777))
        assert as_nobody(address) == "only root may capture packets\n"
    finally:
        for name, mode in before:
            os.chmod(name, mode)


def as_nobody(address):
    """@return cygnetd's answer to the request of an unprivileged user"""
    script = ("import socket,sys\ns = socket.socket(socket.AF_UNIX)\ntry:\n s.connect(sys.argv[1])\n"
              "except PermissionError:\n print('EACCES', end='')\nelse:\n print(s.recv(100).decode(), end='')\n")
    return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c",
                           script, address], check=True, capture_output=True, text=True).stdout


REQUEST = struct.Struct("=IIIIQ32s32sII")
VERSION = 0x43794301
JUMP_OUT = struct.pack("=HBBI", 0x05, 0, 0, 1000)  # ja +1000
RETURN = struct.pack("=HBBI", 0x06, 0, 0, 1)
STORE_OUT = struct.pack("=HBBI", 0x02, 0, 0, 1 << 20)  # st M[1 << 20]


def request(version=VERSION, points=1, port=b"", drop=b"", frame=0, ip=0):
    return REQUEST.pack(version, points, 0, 1, 1, port, drop, frame, ip)


HOSTILE = {
    "empty": b"",
    "short": request()[:-1],
    "version": request(version=1),
    "no-point": request(points=0),
    "points": request(points=1 << 31),
    "port": request(port=b"x" * 32),
    "drop": request(drop=b"x" * 32),
    "long-filter": request(frame=1 << 31),
    "both-long": request(frame=4096, ip=4097),
    "no-filter": request(frame=1),
    "jump-out": request(frame=1) + JUMP_OUT,
    "no-return": request(frame=1) + STORE_OUT,
    "store-out": request(frame=2) + STORE_OUT + RETURN,
    "ip-jump-out": request(frame=1, ip=1) + RETURN + JUMP_OUT,
    "noise": bytes(range(256)) * 200,
}


@cases(*HOSTILE)
def test_capture_hostile(bench, case):
    """Malformed requests, which cygnetctl never sends, are answered with a reason, and do no harm."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(f"/run/dpdk/{bench.gateway.prefix}/cygnet_capture")
        with contextlib.suppress(BrokenPipeError):
            client.sendall(HOSTILE[case])
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_WR)
        answer = client.recv(4096).decode()
    assert answer.endswith("\n") and not answer.startswith("capturing"), answer
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)

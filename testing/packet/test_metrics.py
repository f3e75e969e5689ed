# SPDX-License-Identifier: GPL-2.0-or-later
"""cygnet-exporter: its metrics agree with the counters, in formats that other programs can parse."""
import contextlib
import http.client
import json
import os
import re
import socket
import subprocess

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from bench import to_far_host, to_host
from gateway import PEER, WAN
from network import PATIENCE, inside, wait_until

OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
MONITORING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../dataplane/monitoring")


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class Exporter:
    """A running cygnet-exporter at a Unix socket."""

    def __init__(self, path):
        self.path = path

    def request(self, url="/metrics", method="GET", headers=None, body=None):
        connection = UnixConnection(self.path)
        with contextlib.closing(connection):
            connection.request(method, url, body, headers or {})
            response = connection.getresponse()
            return response.status, response.getheader("Content-Type"), response.read().decode()

    def metrics(self):
        """Samples as {(name, labels): value}; the parser refuses what is not OpenMetrics."""
        status, kind, text = self.request(headers={"Accept": OPENMETRICS})
        assert status == 200 and kind.startswith("application/openmetrics-text"), (status, kind)
        return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
                for family in text_string_to_metric_families(text) for sample in family.samples}

    def value(self, name, **labels):
        return self.metrics()[(name, tuple(sorted(labels.items())))]


def command(gateway, *arguments):
    return ["ip", "netns", "exec", gateway.network.gw, f"{gateway.build}/root/sbin/cygnet-exporter",
            "-p", gateway.prefix, *arguments]


def listens(path):
    """Whether a program accepts connections at a Unix socket; the file is there a moment before."""
    with contextlib.closing(UnixConnection(path)) as connection:
        try:
            connection.connect()
        except (FileNotFoundError, ConnectionRefusedError):
            return False
    return True


@contextlib.contextmanager
def exporter(gateway, *arguments):
    path = f"{gateway.work}/exporter"
    with open(gateway.log, "a") as log:
        process = subprocess.Popen(command(gateway, "-l", path, *arguments), stdout=log, stderr=log)
    try:
        wait_until(lambda: process.poll() is not None or listens(path), "cygnet-exporter")
        yield Exporter(path)
        assert process.poll() is None, "cygnet-exporter has ended"
    finally:
        process.terminate()
        try:
            status = process.wait(PATIENCE)
        finally:
            process.kill()
    assert status == 0, status
    assert not os.path.exists(path), "it leaves its socket"


def grown(after, before):
    return {key: after[key] - before.get(key, 0) for key in after if after[key] != before.get(key, 0)}


def test_metrics_count(bench):
    """A scrape before and one after packets: protected, unprotected, dropped."""
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    with exporter(bench.gateway) as export:
        before = export.metrics()
        for number in range(10):
            bench.from_lan(to_far_host(id=number))
        bench.receive(bench.wan, 10)
        for number in range(5):
            bench.from_wan(inb.seal(to_host(id=number)))
        bench.receive(bench.lan, 5)
        with bench.dropped("policy-plaintext", 3):
            for number in range(3):
                bench.from_wan(to_host(id=number))
        rose = grown(export.metrics(), before)

    def total(name, label=None, value=None):
        return sum(amount for (metric, labels), amount in rose.items()
                   if metric == name and (label is None or (label, value) in labels))
    assert total("cygnet_worker_encapsulated_packets_total") == 10
    assert total("cygnet_worker_decapsulated_packets_total") == 5
    assert total("cygnet_worker_dropped_packets_total") == 3
    assert total("cygnet_dropped_packets_total", "reason", "policy-plaintext") == 3
    assert total("cygnet_dropped_packets_total") == 3
    assert total("cygnet_port_receive_packets_total", "port", "lan") == 10
    assert total("cygnet_port_receive_packets_total", "port", "wan") == 8
    assert total("cygnet_port_transmit_packets_total", "port", "lan") >= 5
    assert total("cygnet_engine_encrypted_packets_total") == 10
    assert total("cygnet_engine_decrypted_packets_total") == 5
    assert total("cygnet_worker_turns_total") > 0
    assert 0 < total("cygnet_worker_busy_seconds_total") < PATIENCE * bench.gateway.workers
    assert not any(name.startswith(("cygnet_sa_", "cygnet_stage_")) for name, _ in before)


def test_metrics_state(bench):
    """Gauges: SAs, policies, charon, ports."""
    bench.tunnel()
    with exporter(bench.gateway) as export:
        assert export.value("cygnet_up") == 1
        assert export.value("cygnet_sas") == 2
        assert export.value("cygnet_policies") == 3
        assert export.value("cygnet_policies_held") == 0
        assert export.value("cygnet_charon_up") == 0
        with bench.gateway.charon():
            assert export.value("cygnet_charon_up") == 1
        ports = {labels: value for (name, labels), value in export.metrics().items() if name == "cygnet_port_up"}
        assert len(ports) == 2 and set(ports.values()) == {1}


def test_metrics_of_tunnels(bench):
    """A tunnel is up, also while it is rekeyed; an SA in one direction is none. Events by kind, buffers, huge pages."""
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    with exporter(bench.gateway) as export:
        metrics = export.metrics()
        up = {labels: value for (name, labels), value in metrics.items() if name == "cygnet_tunnel_up"}
        assert list(up.values()) == [1] and metrics[("cygnet_tunnels_up", ())] == 1, up
        labels = dict(next(iter(up)))
        assert labels["peer"] == PEER and labels["local"] == WAN and labels["connection"] == labels["child"] == "", labels
        assert 0 <= export.value("cygnet_tunnel_age_seconds", **labels) < 10 * PATIENCE
        kinds = {labels[0][1] for name, labels in metrics if name == "cygnet_events_by_kind_total"}
        assert kinds == {"acquire", "expire-soft", "expire-hard", "mapping", "audit"}, kinds
        worker = {"worker": "0"}
        assert 0 < export.value("cygnet_worker_buffers", **worker) < export.value("cygnet_worker_buffers_limit", **worker)
        assert export.value("cygnet_huge_pages", size="2097152") > 0
        assert export.value("cygnet_exporter_scrape_errors_total") == 0
        bench.gateway.kill()
        try:
            assert export.value("cygnet_up") == 0 and export.value("cygnet_exporter_scrape_errors_total") == 2
        finally:
            bench.gateway.start()
        assert export.value("cygnet_taken_over") == 0
    with exporter(bench.gateway, "--tunnels", "0") as export:
        assert not any(name.startswith("cygnet_tunnel") for name, _ in export.metrics())


def test_metrics_of_policies(bench):
    """Packets that a policy let pass or dropped, by its direction, action, selector and reqid."""
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    with exporter(bench.gateway, "--policies", "10") as export:
        before = export.metrics()
        with bench.dropped("policy-plaintext", 3):
            for number in range(3):
                bench.from_wan(to_host(id=number))
        rose = grown(export.metrics(), before)
    dropped = {labels: value for (name, labels), value in rose.items() if name == "cygnet_policy_dropped_packets_total"}
    assert list(dropped.values()) == [3], dropped
    assert dict(next(iter(dropped)))["action"] == "protect" and " === " in dict(next(iter(dropped)))["selector"], dropped
    assert not any(name.startswith("cygnet_policy_") for name, _ in exported(bench))


def exported(bench):
    with exporter(bench.gateway) as export:
        return export.metrics()


def test_metrics_of_sas(bench):
    """At most the configured number of SAs, and never a key."""
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    with exporter(bench.gateway, "--sas", "10") as export:
        text = export.request()[2]
        sas = {labels: value for (name, labels), value in export.metrics().items()
               if name == "cygnet_sa_packets_total"}
        assert {dict(labels)["spi"] for labels in sas} == {f"{sa.spi:#010x}" for sa in (out, inb)}
        assert set(sas.values()) == {1}
    for sa in (out, inb):
        assert sa.key.hex() not in text
    with exporter(bench.gateway, "--sas", "1") as export:
        assert sum(name == "cygnet_sa_packets_total" for name, _ in export.metrics()) == 1


def test_metrics_of_stages(bench):
    """With --stages workers count between scrapes."""
    out, inb = bench.tunnel()
    with exporter(bench.gateway, "--stages") as export:
        before = export.metrics()
        bench.expect_flow(out, inb)
        rose = grown(export.metrics(), before)
    counted = {dict(labels)["stage"] for name, labels in rose if name == "cygnet_stage_packets_total"}
    assert {"crypto", "finish"} <= counted, counted


def test_metrics_text(bench):
    """promtool reads Prometheus's own format and finds no fault with names and help."""
    with exporter(bench.gateway, "--sas", "10", "--stages") as export:
        status, kind, text = export.request()
    assert status == 200 and kind.startswith("text/plain; version=0.0.4"), (status, kind)
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
    assert checked.returncode == 0 and not checked.stderr, checked.stderr


def test_metrics_named(bench):
    """Each metric that the alert rules and the dashboard name is one."""
    bench.expect_flow(*bench.tunnel())
    with exporter(bench.gateway, "--sas", "10", "--stages", "--policies", "10") as export:
        names = {name for name, _ in export.metrics()}
        # There is no crypto core, and so no sample of one.
        names |= {f"{name}_total" for name in re.findall(r"# TYPE (cygnet_crypto_core_\w+) counter", export.request(
            headers={"Accept": OPENMETRICS})[2])}
    with open(f"{MONITORING}/cygnet-dashboard.json") as dashboard:
        panels = json.load(dashboard)["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    with open(f"{MONITORING}/cygnet-rules.yml") as rules:
        expressions += re.findall(r"expr: (.*)", rules.read())
    assert len(expressions) > 30
    for expression in expressions:
        used = set(re.findall(r"\bcygnet_\w+", expression))
        assert used and used <= names, (expression, used - names)


def test_metrics_dashboard(_):
    """What Grafana's published JSON Schema (grafana-foundation-sdk, jsonschema/dashboard.jsonschema.json), with which the
    dashboard has been validated, asks for beyond the panels, and what it cannot say: panels do not overlap."""
    with open(f"{MONITORING}/cygnet-dashboard.json") as file:
        dashboard = json.load(file)
    assert {"schemaVersion", "templating", "annotations"} <= dashboard.keys()
    assert all(isinstance(variable["query"], str) for variable in dashboard["templating"]["list"])
    assert all(note["expr"] and note["datasource"] for note in dashboard["annotations"]["list"])
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [(x, y) for grid in (panel["gridPos"] for panel in panels)
             for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])]
    assert len(set(cells)) == len(cells) and all(x < 24 for x, _ in cells)


def test_metrics_restart(bench):
    """Without cygnetd the exporter reports that it is down; afterwards the metrics are back."""
    with exporter(bench.gateway) as export:
        bench.gateway.kill()
        names = {name for name, _ in export.metrics()}
        assert export.value("cygnet_up") == 0
        assert {name for name in names if not name.startswith(("cygnet_exporter_", "cygnet_huge_"))} == {"cygnet_up"}, names
        bench.gateway.start()
        assert export.value("cygnet_up") == 1


def test_metrics_requests(bench):
    """Other requests, and malformed ones, are refused, and the exporter continues."""
    with exporter(bench.gateway) as export:
        assert export.request("/")[0] == 200
        assert export.request("/metricss")[0] == 404
        assert export.request("/../metrics")[0] == 404
        assert export.request("/metrics", "HEAD")[::2] == (200, "")
        assert export.request("/metrics", "POST", body=b"x" * 100000)[0] == 405
        assert export.request("/metrics", headers={"X": "x" * 60000})[0] in (413, 431)
        for junk in (b"\x00" * 100, b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"\xff\xfe /\r\n" * 50):
            with socket.socket(socket.AF_UNIX) as raw:
                raw.settimeout(PATIENCE)
                raw.connect(export.path)
                with contextlib.suppress(ConnectionError):
                    raw.send(junk)
                    raw.shutdown(socket.SHUT_WR)
                    raw.recv(100)
        # More idle clients than it serves at the same time.
        idle = [UnixConnection(export.path) for _ in range(15)]
        for connection in idle:
            connection.connect()
        assert export.value("cygnet_up") == 1
        for connection in idle:
            connection.close()


def test_metrics_loopback(bench):
    """TCP on the loopback address, in the gateway's namespace."""
    gateway = bench.gateway
    process = subprocess.Popen(command(gateway, "-l", "[::1]:9760"))

    def scrape():
        try:
            with inside(gateway.network.gw):
                connection = http.client.HTTPConnection("::1", 9760, timeout=PATIENCE)
                connection.connect()
        except ConnectionError:
            return None
        with contextlib.closing(connection):
            connection.request("GET", "/metrics")
            return connection.getresponse().read()
    try:
        wait_until(scrape, "cygnet-exporter at [::1]:9760")
        assert b"\ncygnet_up 1\n" in scrape()
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0


def test_metrics_refused(bench):
    """Addresses of other hosts, and bad options."""
    for arguments, status in ((["-l", "0.0.0.0:9760"], 1), (["-l", "nowhere"], 1), (["--sas", "-1"], 2),
                              (["--sas", "65537"], 2), (["x"], 2)):
        done = subprocess.run(command(bench.gateway, *arguments), capture_output=True, timeout=PATIENCE)
        assert done.returncode == status and done.stderr, (arguments, done)

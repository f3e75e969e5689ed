# SPDX-License-Identifier: GPL-2.0-or-later
"""cygnetctl schema: what each command prints with --json is as its schema says, and has no other fields."""
import json
import subprocess

import jsonschema

from gateway import FAR_HOST, HOST
from network import PATIENCE

THINGS = ("info", "sad", "tunnels", "spd", "ports", "routes", "ike", "engines", "stats", "drops", "stages")


def run(bench, *words):
    gateway = bench.gateway
    return subprocess.run([f"{gateway.build}/root/bin/cygnetctl", "--json", "-p", gateway.prefix, "-s",
                           f"{gateway.work}/sadb", "--vici", "none", *words], capture_output=True, text=True,
                          timeout=PATIENCE)


def closed(schema):
    """The schema without further fields."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    more = {"additionalProperties": False} if "properties" in schema else {}
    return {key: closed(value) for key, value in schema.items()} | more


def schemas(bench):
    made = json.loads(run(bench, "schema").stdout)
    for schema in made.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    return {name: jsonschema.Draft202012Validator(closed(schema)) for name, schema in made.items()}


def check(validator, value):
    errors = [f"{list(error.absolute_path)}: {error.message}" for error in validator.iter_errors(value)]
    assert not errors, errors


def test_schema_things(bench):
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    known = schemas(bench)
    for thing in THINGS:
        rows = json.loads(run(bench, "show", thing).stdout)
        assert rows, thing
        check(known[thing], rows)
        assert json.loads(run(bench, "schema", thing).stdout)["type"] == "array"
    broken = json.loads(run(bench, "show", "sad").stdout)
    del broken[0]["spi"]
    assert not known["sad"].is_valid(broken)
    assert not known["ike"].is_valid([{"family": "ipv4", "port": "500", "passes": "ike"}])


def test_schema_commands(bench):
    out, inb = bench.tunnel()
    bench.expect_flow(out, inb)
    known = schemas(bench)
    for words in (("check",), ("health",), ("doctor",), ("--count", "1", "top", "0.1"), ("--count", "1", "watch"),
                  ("trace", "src", HOST, "dst", FAR_HOST), ("bundle", f"{bench.gateway.work}/schema.tar.gz")):
        name = next(word for word in words if word in known)
        check(known[name], json.loads(run(bench, *words).stdout))
    path = f"{bench.gateway.work}/schema.pcapng"
    check(known["capture"], json.loads(run(bench, "capture", path, "seconds", "1").stderr))
    for words in (("show", "sda"), ("shwo",), ("trace", "scr"), ("top", "x"), ("--nope",), ("capture",), ("bundle",), (),
                  ("show", "drops", "x"), ("capture", path), ("-s", "/no/such/file", "check")):
        done = run(bench, *words)
        answer = json.loads(done.stderr)
        check(known["error"], answer)
        assert done.returncode == answer["status"] and not done.stdout, (words, done)

#!/usr/bin/env python3
"""Requests a second and CPU microseconds a request: pass-through, first seen, replay. See README.md beside this file."""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "system"))
sys.path.insert(0, HERE)

from cpu import cpu_seconds  # noqa: E402
from harness.client import keyed  # noqa: E402
from harness.postgres import Postgres  # noqa: E402
from harness.proxy import Oncegate  # noqa: E402
from nginx import BARE, SAME_WORK, Nginx  # noqa: E402

KEYS = 200
REQUEST_BODY = b'{"amount":100,"currency":"eur"}'


class Case:
    """One row: who is driven, how, and whose CPU counts."""

    def __init__(self, name, front, mode, store=None):
        self.name, self.front, self.mode, self.store = name, front, mode, store
        self.runs = []

    def run(self, options, number):
        script = [self.mode, "/plain" if self.mode == "get" else f"r{number}" if self.mode == "first" else "kept", str(KEYS)]
        pids = [self.front.pid, self.store.pid if self.store else None]
        before = [cpu_seconds(pid) if pid else 0 for pid in pids]
        wrk = subprocess.run(["wrk", "-t", "1", "-c", str(options.connections), "-d", f"{options.seconds}s", "--latency", "-s",
                              os.path.join(HERE, "load.lua"), f"http://127.0.0.1:{self.front.port}", "--", *script],
                             capture_output=True, text=True, check=True, timeout=options.seconds + 60)
        after = [cpu_seconds(pid) if pid else 0 for pid in pids]
        result = json.loads(next(line for line in wrk.stdout.splitlines() if line.startswith("JSON "))[5:])
        if result["failed"] or not result["requests"]:
            raise SystemExit(f"{self.name}: {result['failed']} of {result['requests']} requests failed")
        costs = [(end - start) * 1e6 / result["requests"] for start, end in zip(before, after)]
        self.runs.append({"rate": result["requests"] / result["seconds"], "p50": result["p50_us"] / 1000,
                          "p99": result["p99_us"] / 1000, "front": costs[0], "store": costs[1]})

    def median(self, column):
        return statistics.median(run[column] for run in self.runs)


class Front:
    """The proxy under measurement as something with a pid and a port."""

    def __init__(self, directory, upstream, name, store_url, threads):
        self._proxy = Oncegate(directory, {
            "server": {"threads": threads}, "store": {"url": store_url}, "log": {"file": os.devnull},
            "upstreams": {"app": {"servers": [f"http://127.0.0.1:{upstream.port}"]}},
            "routes": [{"name": "pay", "match": {"methods": ["POST"], "path": "/pay"}, "upstream": "app",
                        "idempotency": {"scope": ["route"], "ttl": "1h"}},
                       {"name": "plain", "match": {"path": "/**"}, "upstream": "app"}]}, name).start()
        self.pid, self.port, self.stop = self._proxy.process.pid, self._proxy.port, self._proxy.stop

    def record_keys(self):
        with self._proxy.connect() as connection:
            for number in range(KEYS):
                answer = connection.ask("POST", "/pay", keyed(f'"kept-{number}"'), REQUEST_BODY)
                if answer.status != 200:
                    raise SystemExit(f"cannot record keys: {answer}")


def measure(options, directory, stoppers):
    def owned(part):
        stoppers.append(part.stop)
        return part

    upstream = owned(Nginx(directory, "upstream"))
    peer = owned(Nginx(directory, "bare", upstream.port, BARE))
    equal = owned(Nginx(directory, "same-work", upstream.port, SAME_WORK))
    postgres = Postgres()
    stoppers.append(postgres.remove)
    postgres.start()
    embedded = owned(Front(directory, upstream, "sqlite", f"sqlite:{directory}/bench.db", options.threads))
    shared = owned(Front(directory, upstream, "postgres", postgres.new_database(), options.threads))
    for front in (embedded, shared):
        front.record_keys()
    cases = [Case("nginx, bare", peer, "get"), Case("nginx, the same work", equal, "get"), Case("pass-through", embedded, "get"),
             Case("first seen, SQLite", embedded, "first"), Case("replay, SQLite", embedded, "replay"),
             Case("first seen, PostgreSQL", shared, "first", postgres), Case("replay, PostgreSQL", shared, "replay", postgres)]
    if options.pass_through:
        cases = cases[:3]
    for number in range(options.rounds):
        for case in cases:
            case.run(options, number)
            print(f"round {number + 1}/{options.rounds}: {case.name}: {case.runs[-1]['rate']:.0f} requests/s", file=sys.stderr)
    return cases


def report(cases):
    yardstick = cases[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, medians of {len(yardstick.runs)} interleaved runs\n")
    print("| case | requests/s | x nginx | proxy CPU us | x nginx | store CPU us | p50 ms | p99 ms |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for case in cases:
        rate, front = case.median("rate"), case.median("front")
        store = f"{case.median('store'):.0f}" if case.store else "in the proxy" if "SQLite" in case.name else ""
        print(f"| {case.name} | {rate:.0f} | {rate / yardstick.median('rate'):.2f} | {front:.0f} "
              f"| {front / max(yardstick.median('front'), 0.1):.2f} | {store} | {case.median('p50'):.2f} | {case.median('p99'):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=os.environ.get("ONCEGATE_BIN"), help="the program (default: $ONCEGATE_BIN)")
    parser.add_argument("--seconds", type=int, default=5, help="of each run")
    parser.add_argument("--rounds", type=int, default=5, help="of all cases in turn")
    parser.add_argument("--connections", type=int, default=32, help="kept alive by the load generator")
    parser.add_argument("--pass-through", action="store_true", help="only the cases without a key")
    parser.add_argument("--threads", type=int, default=1, help="of the proxy; nginx has one worker")
    options = parser.parse_args()
    missing = [program for program in ("nginx", "wrk") if not shutil.which(program)]
    if missing or not options.binary:
        parser.error(f"needs {' and '.join(missing) or '--binary'}")
    os.environ["ONCEGATE_BIN"] = os.path.abspath(options.binary)
    directory = tempfile.mkdtemp(prefix="oncegate-bench-")
    stoppers = []
    try:
        cases = measure(options, directory, stoppers)
    finally:
        for stop in reversed(stoppers):
            stop()
        shutil.rmtree(directory, ignore_errors=True)
    report(cases)


if __name__ == "__main__":
    main()

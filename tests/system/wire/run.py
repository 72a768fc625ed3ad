"""Plays the raw cases.

    python3 -B tests/system/wire/run.py GROUP...
        Oncegate as built (ONCEGATE_BIN): every case, on a plain route and on a keyed one; exits 1 on a fault

    python3 -B tests/system/wire/run.py --proxy HOST:PORT --upstream-port N [GROUP...]
        any other proxy of this machine that forwards everything to 127.0.0.1:N: a table, and the counts by level

Without GROUP all groups are played. `--only ID` plays single cases, `--list` shows them."""

import argparse
import collections
import importlib
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness.proxy import Oncegate
from harness.waiting import PATIENCE
from wire.player import Player
from wire.recorder import Recorder

GROUPS = ("request_framing", "chunked_requests", "request_lines", "request_fields", "hosts_and_targets", "hop_by_hop",
          "expectations", "trailers", "interim_responses", "response_heads", "response_framing", "connections", "segments", "damaged",
          "damaged_answers")
SANITIZER_WORDS = ("AddressSanitizer", "LeakSanitizer", "ThreadSanitizer", "runtime error:")
OTHERS_PATIENCE = 1.0


def cases_of(groups, only):
    """(group, case) in order."""
    found = [(group, case) for group in groups for case in importlib.import_module(f"wire.cases_{group}").CASES]
    repeated = [name for name, count in collections.Counter(case.id for _, case in found).items() if count > 1]
    assert not repeated, f"two cases of one id: {repeated}"
    return [(group, case) for group, case in found if not only or case.id in only]


def configuration(directory, upstream_port):
    upstream = f"http://127.0.0.1:{upstream_port}"
    policy = {"key": {"required": True}, "scope": ["route"], "ttl": "1h"}
    return {
        # One thread: which upstream connection is used again is then the pool's choice alone.
        "server": {"threads": 1, "limits": {"request_head": "64KiB", "request_body": "1MiB"}, "timeouts": {"drain": "2s"}},
        "store": {"url": f"sqlite:{directory}/records.db"},
        "upstreams": {"app": {"servers": [upstream]}},
        "routes": [{"name": "keyed", "match": {"methods": ["POST"], "path": "/keyed/**"}, "upstream": "app", "idempotency": policy},
                   {"name": "plain", "match": {"path": "/**"}, "upstream": "app"}],
    }


def play_own(cases):
    """Faults by case, against a proxy started here."""
    directory = tempfile.mkdtemp(prefix="oncegate-wire-")
    recorder = Recorder(PATIENCE)
    proxy = Oncegate(directory, configuration(directory, recorder.port))
    failed = 0
    try:
        proxy.start()
        player = Player(proxy.port, recorder, PATIENCE, own=True)
        for group, case in cases:
            for keyed in (False, True) if case.has_key() and case.keyed is not None else (False,):
                faults = player.play(case, keyed)
                failed += bool(faults)
                if faults:
                    print(f"FAILED {group} {case.id} ({'keyed' if keyed else 'plain'} route; {case.source}; {case.level})")
                    print("\n".join(f"  {fault}" for fault in faults), flush=True)
            if not proxy.running():
                print(f"FAILED the program ended during {case.id}\n{proxy.stderr_text()[-6000:]}")
                return failed + 1
        end = proxy.stop()
        said = proxy.stderr_text()
        end = end or next((word for word in SANITIZER_WORDS if word in said), None)
        if end:
            print(f"FAILED {end}\n{said[-6000:]}")
        return failed + bool(end)
    finally:
        proxy.stop()
        recorder.stop()
        shutil.rmtree(directory, ignore_errors=True)


def play_others(cases, address, upstream_port, verbose):
    host, _, port = address.rpartition(":")
    assert host in ("127.0.0.1", "localhost"), "cases are played against loopback only"
    recorder = Recorder(OTHERS_PATIENCE, upstream_port)
    player = Player(int(port), recorder, OTHERS_PATIENCE, own=False)
    counts = collections.Counter()
    for group, case in cases:
        faults = player.play(case, keyed=False)
        counts[case.level, bool(faults)] += 1
        print(f"{'failed' if faults else 'passed'}  {case.level:6}  {group:18} {case.id:45} {case.source:40} {faults[0] if faults else ''}")
        if faults and verbose:
            print("\n".join(f"    {fault}" for fault in faults[1:]))
    recorder.stop()
    for level in ("MUST", "SHOULD", "STRICT"):
        print(f"{level:6} {counts[level, False]} passed, {counts[level, True]} failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=" ".join(GROUPS))
    parser.add_argument("--proxy", metavar="HOST:PORT")
    parser.add_argument("--upstream-port", type=int, metavar="N")
    parser.add_argument("--only", action="append", metavar="ID")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="with --proxy: show the bytes of what failed")
    chosen = parser.parse_args()
    cases = cases_of(chosen.groups or GROUPS, chosen.only)
    if chosen.list:
        for group, case in cases:
            print(json.dumps({"group": group, "id": case.id, "source": case.source, "level": case.level}))
        return 0
    if chosen.proxy:
        play_others(cases, chosen.proxy, chosen.upstream_port, chosen.verbose)
        return 0
    failed = play_own(cases)
    print(f"{len(cases)} cases, {failed} faults")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())

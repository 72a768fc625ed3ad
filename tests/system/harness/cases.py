"""The test case the others build on: owns what it starts, ends it whatever happens, shows the logs of what failed."""

import json
import shutil
import sys
import tempfile
import unittest

from .client import MARKER
from .postgres import shared_postgres
from .proxy import Oncegate
from .upstream import DeafListener, RecordingUpstream
from .waiting import wait_until

SANITIZER_WORDS = ("AddressSanitizer", "LeakSanitizer", "ThreadSanitizer", "runtime error:")

PROBLEM_STATUS = {
    "key-missing": 400, "key-invalid": 400, "principal-missing": 400, "key-reused": 422, "in-flight": 409,
    "outcome-unknown": 409, "not-replayable": 409, "key-expired": 412, "store-unavailable": 503,
    "upstream-unreachable": 502, "upstream-failed": 502, "upstream-timeout": 504, "body-too-large": 413,
    "head-too-large": 431, "overloaded": 503, "no-route": 404, "bad-request": 400, "unauthorized": 401,
}


class SystemCase(unittest.TestCase):
    maxDiff = 4000

    def run(self, result=None):
        trouble_before = len(result.failures) + len(result.errors) if result else 0
        self.directory = tempfile.mkdtemp(prefix="oncegate-test-")
        self._proxies, self._upstreams, self._stores = [], [], 0
        try:
            return super().run(result)
        finally:
            if result and len(result.failures) + len(result.errors) > trouble_before:
                for proxy in self._proxies:
                    print(f"--- {self.id()}: {proxy.name} said\n{proxy.stderr_text()[-6000:]}", file=sys.stderr)
            shutil.rmtree(self.directory, ignore_errors=True)

    def tearDown(self):
        for upstream in self._upstreams:  # first, so that a held-back answer does not hold up the drain
            upstream.stop()
        faults = [fault for proxy in self._proxies if (fault := self._end(proxy))]
        self.assertEqual(faults, [])

    def _end(self, proxy):
        fault = proxy.stop()
        said = proxy.stderr_text()
        return fault or next((f"{proxy.name}: {word}" for word in SANITIZER_WORDS if word in said), None)

    # --- parts

    def upstream(self, *steps, port=0):
        self._upstreams.append(RecordingUpstream(*steps, port=port))
        return self._upstreams[-1]

    def deaf_listener(self):
        self._upstreams.append(DeafListener())
        return self._upstreams[-1]

    def proxy(self, config, name=None, until="ready"):
        self._proxies.append(Oncegate(self.directory, config, name or f"proxy{len(self._proxies) + 1}"))
        return self._proxies[-1].start(until)

    def store_url(self):
        """Of the test's present store; overridden for other stores, see on_both_stores."""
        return f"sqlite:{self.directory}/records{self._stores}.db"

    def use_new_store(self):
        self._stores += 1

    def config(self, upstream, policy=None, **sections):
        """One enforced route `/pay/**` for POST and PATCH, everything else passed through. `policy` and `sections` are
        laid over the defaults, one level deep; None takes a key out."""
        idempotency = {"key": {"syntax": "any"}, "scope": ["route"], "lease": "60s", "ttl": "1h"}
        server = {"threads": 2, "timeouts": {"drain": "2s"}}
        store = {"url": self.store_url(), "timeout": "2s"}
        base = {"server": server, "store": store,
                "upstreams": {"app": {"servers": [f"http://127.0.0.1:{upstream.port}"]}},
                "routes": [
                    {"name": "pay", "match": {"methods": ["POST", "PATCH"], "path": "/pay/**"}, "upstream": "app",
                     "idempotency": laid_over(idempotency, policy or {})},
                    {"name": "rest", "match": {"path": "/**"}, "upstream": "app"}]}
        for name, section in sections.items():
            base[name] = laid_over(base.get(name, {}), section)
        return base

    def setup_pair(self, *steps, policy=None, **sections):
        """An upstream and a proxy in front of it, on a store of their own."""
        self.use_new_store()
        upstream = self.upstream(*steps)
        return upstream, self.proxy(self.config(upstream, policy, **sections))

    # --- expectations

    def assert_problem(self, response, fragment, status=None):
        """R95-R99: a complete problem document of this kind."""
        self.assertIsNotNone(response, f"connection closed instead of #{fragment}")
        self.assertEqual(response.summary(), (status or PROBLEM_STATUS[fragment], fragment), response)
        self.assertEqual(response.get("Cache-Control"), "no-store")
        self.assertIn('rel="describedby"', response.get("Link") or "")
        self.assertFalse(response.all("Idempotent-Replayed"))
        document = response.json()
        self.assertEqual(document["status"], response.status)
        for text in (document["title"], document["detail"], document["message"], document["code"],
                     document["error"]["type"], document["error"]["code"], document["error"]["message"]):
            self.assertIsInstance(text, str)
            self.assertTrue(text, document)
        if fragment in ("in-flight", "outcome-unknown", "store-unavailable", "overloaded"):
            self.assertRegex(response.get("Retry-After") or "", r"^[1-9][0-9]*$")

    def assert_metric(self, proxy, value, name, **labels):
        """A request is counted when its answer is out, so the count may come a moment after the answer."""
        wait_until(lambda: proxy.metric(name, **labels) >= value, f"{name} {labels} is {value}")
        self.assertEqual(proxy.metric(name, **labels), value)

    def assert_replay_of(self, first, replay):
        """R74, R81: the same response but for the marker and the connection's own fields."""
        self.assertEqual(replay.start_line, first.start_line)
        self.assertEqual(replay.end_to_end(), first.end_to_end())
        self.assertEqual(replay.body, first.body)
        markers = [line for line in replay.lines if line.partition(b":")[0].lower() == MARKER]
        self.assertEqual(markers, [b"Idempotent-Replayed: true"])

    def settle(self, ask, seconds=None):
        """Repeats `ask()` while the answer is 'in flight'; returns the first other answer."""
        def other():
            response = ask()
            return response if response.summary() != (409, "in-flight") else None

        return wait_until(other, "an answer other than in-flight", *([seconds] if seconds else []))


def laid_over(base, extra):
    merged = dict(base)
    for key, value in extra.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = {**merged[key], **value}
        else:
            merged[key] = value
    return merged


class OnPostgres:
    """Mixed into a case: a database of its own on a real server."""

    def setUp(self):
        super().setUp()
        self.postgres = shared_postgres()
        self.addCleanup(self.postgres.resume)
        self.use_new_store()

    def store_url(self):
        return self._url

    def use_new_store(self):
        self._url = self.postgres.new_database()


def on_both_stores(case):
    """Class decorator: the case runs as NameOnSqlite and as NameOnPostgres."""
    module = sys.modules[case.__module__]
    for suffix, bases in (("OnSqlite", (case,)), ("OnPostgres", (OnPostgres, case))):
        made = type(case.__name__ + suffix, bases, {"__module__": case.__module__, "__doc__": case.__doc__})
        setattr(module, made.__name__, made)

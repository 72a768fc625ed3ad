"""`mode: shadow`: every request is forwarded, nothing is refused or replayed, and what would have been can be counted."""

import unittest

from harness.cases import SystemCase
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.ports import free_port
from harness.upstream import CLOSE, Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'


class Shadow(SystemCase):
    def shadow(self, *steps, policy=None, **sections):
        return self.setup_pair(*steps, policy={"mode": "shadow", **(policy or {})}, **sections)

    def assert_forwarded(self, answer, body=None):
        """The upstream's own answer: nothing of the proxy's is to be seen."""
        self.assertIsNone(answer.problem(), answer)
        self.assertEqual([name for name, _ in answer.pairs() if name.lower().startswith(b"idempoten")], [])
        if body is not None:
            self.assertEqual(answer.body, body)

    def assert_counted(self, proxy, **wanted):
        """So many requests of each kind, and none of any other."""
        families = proxy.admin("/metrics").body.decode().splitlines()
        counted = {}
        for line in families:
            if line.startswith("oncegate_shadow_total{"):
                series, _, value = line.rpartition(" ")
                self.assertIn('route="pay"', series)
                counted[series.partition('would_be="')[2].partition('"')[0]] = int(float(value))
        self.assertEqual({kind: count for kind, count in counted.items() if count}, wanted)

    def assert_logged(self, proxy, *wanted):
        """What the access log says of the requests so far, one on each connection: their lines may come in any order."""
        said = [entry.get("shadow") for entry in proxy.access_log(len(wanted))]
        self.assertEqual(sorted(said, key=str), sorted(wanted, key=str))


class WouldBe(Shadow):
    def test_retry(self):
        """Each one reaches the upstream and gets the upstream's own answer."""
        upstream, proxy = self.shadow()
        for number in range(3):
            answer = response_bytes(201, b"answer %d" % number, [("X-Order", "1"), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")])
            upstream.answer_next(answer)
            got = proxy.post('"k"', BODY)
            self.assert_forwarded(got, b"answer %d" % number)
            self.assertEqual(got.end_to_end(), [b"X-Order: 1", b"Date: Sun, 06 Nov 1994 08:49:37 GMT"])
        self.assertEqual(upstream.hits('"k"'), 3)
        self.assert_counted(proxy, replayed=2)
        self.assert_logged(proxy, None, "replayed", "replayed")

    def test_another_request_under_the_key(self):
        """[R41] Not refused; the record stays as it was."""
        upstream, proxy = self.shadow()
        for body in (BODY, b"other", BODY):
            self.assert_forwarded(proxy.post('"k"', body))
        self.assertEqual([request.body for request in upstream.requests], [BODY, b"other", BODY])
        self.assert_counted(proxy, key_reused=1, replayed=1)
        self.assert_logged(proxy, None, "key_reused", "replayed")

    def test_while_the_first_runs(self):
        """[R56] Both run, also where the route would make the second one wait."""
        for policy in ({}, {"in_flight": {"action": "wait", "wait": "15s"}}):
            gate = Gate()
            upstream, proxy = self.shadow(policy=policy)
            upstream.answer_next(gate, response_bytes(201, b"first"))
            with proxy.connect() as first:
                first.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
                upstream.wait_for(1)
                upstream.answer(response_bytes(201, b"second"))
                self.assert_forwarded(proxy.post('"k"', BODY), b"second")
                gate.set()
                self.assert_forwarded(first.receive(), b"first")
            self.assert_counted(proxy, in_flight=1)

    def test_unknown_outcome(self):
        """[R62] The broken attempt is a 502 as without a policy; the next is forwarded."""
        upstream, proxy = self.shadow()
        upstream.answer_next(CLOSE)
        self.assertEqual(proxy.post('"k"', BODY).status, 502)
        self.assert_forwarded(proxy.post('"k"', BODY))
        self.assertEqual(upstream.hits(), 2)
        self.assert_counted(proxy, outcome_unknown=1)

    def test_nobody_is_asked(self):
        """[R62] `ask` and `refresh` put no questions of the proxy's own to the upstream."""
        policy = {"unknown_outcome": "ask", "ask": {"get": "/payments/by-key/{key}"}, "replay": {"mode": "refresh"}}
        upstream, proxy = self.shadow(response_bytes(201, b"made", [("Location", "/pay/7")]), policy=policy)
        upstream.answer_next(CLOSE)
        proxy.post('"broken"', BODY)
        proxy.post('"broken"', BODY)
        proxy.post('"made"', BODY)
        proxy.post('"made"', BODY)
        self.assertEqual([request.method for request in upstream.requests], ["POST"] * 4)
        self.assert_counted(proxy, outcome_unknown=1, refreshed=1)

    def test_not_replayable(self):
        """[R86] An answer over the limit."""
        upstream, proxy = self.shadow(response_bytes(201, b"x" * 2000), policy={"record": {"body_limit": "1KiB"}})
        for _ in range(2):
            self.assert_forwarded(proxy.post('"k"', BODY), b"x" * 2000)
        self.assertEqual(upstream.hits(), 2)
        self.assert_counted(proxy, not_replayable=1)

    def test_expired_key(self):
        """[R106] Under `after_ttl: reject` the use of an expired key would be refused."""
        upstream, proxy = self.shadow(policy={"lease": "1s", "ttl": "1s", "after_ttl": "reject", "tombstone": "1h"})
        proxy.post('"k"', BODY)

        def expired():
            self.assert_forwarded(proxy.post('"k"', BODY))
            return proxy.metric("oncegate_shadow_total", route="pay", would_be="key_expired")

        wait_until(expired, "the key has expired")
        self.assertEqual(upstream.hits() - 1, proxy.metric("oncegate_shadow_total", would_be="replayed") + 1)


class Refusals(Shadow):
    def test_keys_that_would_be_refused(self):
        """[R4] Missing, malformed, too long, doubled: forwarded with the field as it came."""
        upstream, proxy = self.shadow(policy={"key": {"syntax": "string", "max_length": 10}})
        cases = [([], "key_missing"), ([("Idempotency-Key", "bare")], "key_invalid"),
                 ([("Idempotency-Key", '"12345678901"')], "key_invalid"),
                 ([("Idempotency-Key", '"a"'), ("Idempotency-Key", '"b"')], "key_invalid")]
        for fields, _ in cases:
            for _ in range(2):
                self.assert_forwarded(proxy.ask("POST", "/pay", fields, BODY))
                self.assertEqual(upstream.requests[-1].all("Idempotency-Key"), [value for _, value in fields])
        self.assertEqual(upstream.hits(), 8)
        self.assert_counted(proxy, key_missing=2, key_invalid=6)
        self.assert_logged(proxy, *[kind for _, kind in cases for _ in range(2)])

    def test_missing_part_of_the_scope(self):
        """[R37] Forwarded; not shared with anybody."""
        upstream, proxy = self.shadow(policy={"scope": ["route", "header:Authorization"]})
        for _ in range(2):
            self.assert_forwarded(proxy.post('"k"', BODY))
        self.assertEqual(upstream.hits(), 2)
        self.assert_counted(proxy, principal_missing=2)

    def test_store_away(self):
        """[R70] Trying a policy out never stops a request, whatever `store_down` says."""
        url = f"postgresql://nobody@127.0.0.1:{free_port()}/none"
        upstream = self.upstream()
        proxy = self.proxy(self.config(upstream, {"mode": "shadow"}, store={"url": url}), until="alive")
        for _ in range(2):
            self.assert_forwarded(proxy.post('"k"', BODY))
        self.assertEqual(upstream.hits(), 2)
        self.assert_counted(proxy, store_unavailable=2)


class RollOut(Shadow):
    def test_what_was_recorded_is_replayed_once_the_policy_is_enforced(self):
        """[R41] The first answer was recorded, later ones were not."""
        upstream = self.upstream()
        proxy = self.proxy(self.config(upstream, {"mode": "shadow"}))
        for body in (b"first", b"second"):
            upstream.answer_next(response_bytes(201, body))
            proxy.post('"k"', BODY)
        proxy.reload(self.config(upstream))
        replay = proxy.post('"k"', BODY)
        self.assertEqual((replay.status, replay.body, replay.replayed), (201, b"first", True))
        self.assert_problem(proxy.post('"k"', b"other"), "key-reused")
        self.assertEqual(upstream.hits(), 2)

    def test_large_bodies_go_through(self):
        """A request over the memory limit and an answer that streams, retried: both whole."""
        big = bytes(range(256)) * 12000
        upstream, proxy = self.shadow(response_bytes(201, big))
        for _ in range(2):
            answer = proxy.post('"k"', big)
            self.assert_forwarded(answer)
            self.assertTrue(answer.body == big)
        self.assertTrue(all(request.body == big for request in upstream.requests))
        self.assertEqual(upstream.hits(), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)

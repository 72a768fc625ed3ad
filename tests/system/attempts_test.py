"""What an upstream is told about attempts, how many requests may wait for one, and keys that will be required from a date on."""

import datetime
import json
import time
import unittest

from harness.cases import SystemCase
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.upstream import CLOSE, Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'
TOKEN = {"expose_token": True, "unknown_outcome": "retry"}


class Tokens(SystemCase):
    def test_each_attempt_has_its_own(self):
        """[R63] With every attempt a new opaque token; the number of the attempt from the second one on."""
        upstream, proxy = self.setup_pair(policy=TOKEN)
        for _ in range(2):
            upstream.answer_next(CLOSE)
            proxy.post('"some-key"', BODY)
        answer = proxy.post('"some-key"', BODY)
        proxy.post('"another-key"', BODY)
        tokens = [request.get("Idempotency-Token") for request in upstream.requests]
        self.assertEqual(len(set(tokens)), 4)
        self.assertTrue(all(token and "some-key" not in token for token in tokens), tokens)
        self.assertEqual([request.all("Idempotency-Attempt") for request in upstream.requests], [[], ["2"], ["3"], []])
        self.assertEqual(answer.all("Idempotency-Token"), [])
        self.assertTrue(proxy.post('"some-key"', BODY).replayed)
        self.assertEqual(upstream.hits(), 4)

    def test_freed_key(self):
        """[R92] A new life of a key is a new attempt with a new token, and counts from one."""
        upstream, proxy = self.setup_pair(policy=TOKEN)
        upstream.answer_next(response_bytes(429, b"later"))
        proxy.post('"k"', BODY)
        proxy.post('"k"', BODY)
        first, second = upstream.requests
        self.assertNotEqual(first.get("Idempotency-Token"), second.get("Idempotency-Token"))
        self.assertEqual((first.all("Idempotency-Attempt"), second.all("Idempotency-Attempt")), ([], []))

    def test_a_clients_own_is_removed(self):
        """[R10] With or without `expose_token`; the key itself stays as it came."""
        own = [("Idempotency-Token", "forged"), ("Idempotency-Attempt", "9")]
        for exposed in (True, False):
            upstream, proxy = self.setup_pair(policy={"expose_token": exposed})
            proxy.post('"k"', BODY, fields=own)
            request = upstream.requests[0]
            self.assertNotIn("forged", request.all("Idempotency-Token"))
            self.assertEqual((len(request.all("Idempotency-Token")), request.all("Idempotency-Attempt")), (int(exposed), []))
            self.assertEqual(request.all("Idempotency-Key"), ['"k"'])


class Waiters(SystemCase):
    def wait_for_in_flight(self, proxy, count):
        """Until the proxy holds so many requests of the route: the last one has come as far as it can."""
        wait_until(lambda: proxy.metric("oncegate_requests_in_flight", route="pay") == count, f"{count} requests in flight")

    def test_only_so_many_wait_for_one_key(self):
        """[R58][R59] `waiters: 2`: two wait, the next is refused at once, and another key is not concerned."""
        gate = Gate()
        upstream, proxy = self.setup_pair(policy={"in_flight": {"action": "wait", "wait": "15s", "waiters": 2}})
        upstream.answer_next(gate, response_bytes(201, b"first"))
        connections = []
        for count in range(1, 4):
            connections.append(proxy.connect())
            self.addCleanup(connections[-1].close)
            connections[-1].send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            self.wait_for_in_flight(proxy, count)
            upstream.wait_for(1)
        self.assert_problem(proxy.post('"k"', BODY), "in-flight")
        self.assertEqual(proxy.post('"other"', BODY).status, 201)
        gate.set()
        original = connections[0].receive()
        for waiter in connections[1:]:
            self.assert_replay_of(original, waiter.receive())
        self.assertEqual(upstream.hits('"k"'), 1)

    def test_a_place_that_becomes_free_is_taken(self):
        """[R59] A waiter whose time is over makes room: the next one waits its whole time too, and is not refused at once."""
        gate = Gate()
        upstream, proxy = self.setup_pair(policy={"in_flight": {"action": "wait", "wait": "300ms", "waiters": 1}})
        upstream.answer_next(gate, response_bytes(201, b"first"))
        with proxy.connect() as first:
            first.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
            for _ in range(3):
                began = time.monotonic()
                self.assert_problem(proxy.post('"k"', BODY), "in-flight")
                self.assertGreater(time.monotonic() - began, 0.28)
            gate.set()
            self.assertEqual(first.receive().status, 201)


class RequiredFromADate(SystemCase):
    def keyless(self, proxy):
        return proxy.ask("POST", "/pay", [("Content-Type", "application/json")], BODY)

    def test_before_it(self):
        """[R4][R5] Forwarded, counted, and announced in the program's log, though not by a line a request."""
        later = (datetime.date.today() + datetime.timedelta(days=400)).isoformat()
        upstream, proxy = self.setup_pair(policy={"key": {"required": later}})
        began = time.monotonic()
        for _ in range(50):
            self.assertEqual(self.keyless(proxy).status, 201)
        seconds = time.monotonic() - began
        self.assertEqual((upstream.hits(), proxy.metric("oncegate_keyless_requests_total", route="pay")), (50, 50))
        lines = wait_until(lambda: [line for line in proxy.stderr_text().splitlines() if "key.required" in line], "it is announced")
        self.assertLess(len(lines), min(50, 3 + seconds), "one a second at most")
        self.assertIn("pay", lines[0])
        self.assertIn(json.loads(lines[0]).get("level"), ("warning", "warn"))
        first = proxy.post('"k"', BODY)
        self.assert_replay_of(first, proxy.post('"k"', BODY))
        self.assert_problem(proxy.post('"a" b', BODY), "key-invalid")

    def test_after_it(self):
        """[R4] Required like any other."""
        upstream, proxy = self.setup_pair(policy={"key": {"required": "2020-02-29"}})
        self.assert_problem(self.keyless(proxy), "key-missing")
        self.assertEqual(upstream.hits(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Which methods a policy holds for, which requests have no key, and streams of events under a policy."""

import unittest

from harness.cases import SystemCase
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.upstream import Gate

BODY = b'{"amount":100}'
EVERY_METHOD = ["GET", "HEAD", "OPTIONS", "TRACE", "POST", "PUT", "PATCH", "DELETE", "PURGE"]
SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")


class Methods(SystemCase):
    def routes(self, methods):
        return [{"name": "pay", "match": {"methods": methods, "path": "/pay/**"}, "upstream": "app",
                 "idempotency": {"scope": ["route"], "key": {"syntax": "any"}}}]

    def test_methods_that_a_route_lists(self):
        """[R2][R6] PUT, DELETE and any other are enforced when they are listed; safe methods never are, listed or not."""
        upstream = self.upstream()
        proxy = self.proxy({**self.config(upstream), "routes": self.routes(EVERY_METHOD)})
        for method in EVERY_METHOD:
            with self.subTest(method):
                body = None if method in SAFE else BODY
                before = upstream.hits()
                answers = [proxy.ask(method, "/pay", [("Idempotency-Key", f'"{method}"')], body) for _ in range(2)]
                self.assertEqual([answer.replayed for answer in answers], [False, method not in SAFE])
                self.assertEqual(upstream.hits() - before, 2 if method in SAFE else 1)

    def test_method_under_the_same_key(self):
        """[R6][R44] DELETE after PUT with one key is another request."""
        upstream = self.upstream()
        proxy = self.proxy({**self.config(upstream), "routes": self.routes(["PUT", "DELETE"])})
        first = proxy.ask("PUT", "/pay/7", keyed('"k"'), BODY)
        self.assert_problem(proxy.ask("DELETE", "/pay/7", keyed('"k"'), BODY), "key-reused")
        self.assert_replay_of(first, proxy.ask("PUT", "/pay/7", keyed('"k"'), BODY))
        self.assertEqual(upstream.hits(), 1)


    def test_mode_off(self):
        """[R1] The policy is only checked: any key passes, nothing is recorded, and the page promises nothing."""
        upstream, proxy = self.setup_pair(policy={"mode": "off"})
        for key in ('"k"', '"k"', "a, b", ""):
            answer = proxy.post(key, BODY)
            self.assertEqual((answer.status, answer.replayed), (201, False))
        self.assertEqual(upstream.hits(), 4)
        page = proxy.ask("GET", "/.well-known/idempotency", [("Accept", "application/json")]).json()
        self.assertEqual(page["routes"], [])


class Keys(SystemCase):
    def test_keyless_requests_are_counted(self):
        """[R5] Where the key is optional they pass, and can be seen."""
        upstream, proxy = self.setup_pair(policy={"key": {"required": False}})
        for _ in range(3):
            self.assertEqual(proxy.ask("POST", "/pay", (), BODY).status, 201)
        proxy.post('"k"', BODY)
        self.assertEqual((upstream.hits(), proxy.metric("oncegate_keyless_requests_total", route="pay")), (4, 3))

    def test_string_with_many_parameters(self):
        """[R21][R23] 256 parameters of 64 characters: read, and no part of the key."""
        upstream, proxy = self.setup_pair(policy={"key": {"syntax": "string"}})
        parameters = "".join(f";{'p' * 61}{number:03}" for number in range(256))
        first = proxy.post('"k"' + parameters, BODY)
        self.assertEqual(first.status, 201)
        self.assert_replay_of(first, proxy.post('"k"', BODY))
        self.assertEqual(upstream.hits(), 1)

    def test_keys_that_differ_in_case_only(self):
        """[R27] Are two keys."""
        upstream, proxy = self.setup_pair()
        self.assertEqual([proxy.post(key, BODY).replayed for key in ('"abc"', '"ABC"', '"abc"')], [False, False, True])
        self.assertEqual(upstream.hits(), 2)

    def test_fields_that_signers_and_tracers_change(self):
        """[R45] Each try has others; it is the same request."""
        upstream, proxy = self.setup_pair()
        names = ("Date", "traceparent", "tracestate", "Authorization", "User-Agent", "webhook-timestamp", "webhook-signature",
                 "Signature", "Signature-Input", "Content-Digest", "X-Request-Id")
        first, second = (proxy.post('"k"', BODY, fields=[(name, f"try-{number}") for name in names]) for number in (1, 2))
        self.assert_replay_of(first, second)
        self.assertEqual(upstream.hits(), 1)


class Errors(SystemCase):
    def test_whatever_the_client_accepts(self):
        """[R95][R96][R99] A whole problem document with its Link, for browsers and for those who want something else."""
        _, proxy = self.setup_pair(policy={"key": {"max_length": 10}})
        proxy.post('"k"', BODY)
        for accept in ("text/html", "application/xml;q=1, */*;q=0", "image/*"):
            wanted = [("Accept", accept)]
            self.assert_problem(proxy.ask("POST", "/pay", wanted, BODY), "key-missing")
            self.assert_problem(proxy.post('"12345678901"', BODY, fields=wanted), "key-invalid")
            self.assert_problem(proxy.post('"k"', b"other", fields=wanted), "key-reused")


class EventStreams(SystemCase):
    def test_events_pass_as_they_come_and_are_replayed_as_one_answer(self):
        """[R76][R89] The client gets each event at once, although the answer is being recorded; the retry gets them all."""
        gates = [Gate(), Gate()]
        event = b"data: %d\n\n"
        chunk = b"A\r\n" + event + b"\r\n"
        upstream, proxy = self.setup_pair(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
                                          chunk % 11, gates[0], chunk % 12, gates[1], b"0\r\n\r\n")
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            self.assertEqual(connection.receive_head().get("Content-Type"), "text/event-stream")
            for number, gate in zip((11, 12), gates):
                connection.input.until(event % number)  # it is here although the answer has not ended
                gate.set()
            connection.input.until(b"0\r\n\r\n")
        replay = self.settle(lambda: proxy.post('"k"', BODY))
        self.assertEqual((replay.replayed, replay.body, replay.get("Content-Length")), (True, event % 11 + event % 12, "20"))
        self.assertEqual(upstream.hits(), 1)

    def test_stream_over_the_limit(self):
        """[R86][R89] Delivered whole, and the retry is told that it cannot be given again."""
        pieces = [b"3e8\r\n" + b"x" * 1000 + b"\r\n" for _ in range(100)]
        upstream, proxy = self.setup_pair(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
                                          *pieces, b"0\r\n\r\n", policy={"record": {"body_limit": "64KiB"}})
        self.assertEqual(proxy.post('"k"', BODY).body, b"x" * 100_000)
        self.assert_problem(self.settle(lambda: proxy.post('"k"', BODY)), "not-replayable")
        self.assertEqual(upstream.hits(), 1)

    def test_not_a_stream(self):
        """[R89] Any other answer under the limit is recorded before its end is delivered."""
        upstream, proxy = self.setup_pair(response_bytes(200, b"x" * 500_000))
        first = proxy.post('"k"', BODY)
        self.assert_replay_of(first, proxy.post('"k"', BODY))
        self.assertEqual(upstream.hits(), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)

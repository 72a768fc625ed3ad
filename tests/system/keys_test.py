"""What is a key and whose: syntax, scope and fingerprint as a client meets them."""

import unittest

from harness.cases import SystemCase
from harness.client import keyed

GOOD_STRINGS = {
    '"8e03978e-40d5-43e8-bc93-6894a57f9324"': '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
    '"a";p=1;q': '"a"',
    r'"a\"b"': r'"a\"b"',
    '\t "padded" \t': '"padded"',
    "\"'; DROP TABLE x; --\"": "\"'; DROP TABLE x; --\"",
}
BAD_STRINGS = [
    "8e03978e-40d5-43e8-bc93-6894a57f9324", "ae03978e-40d5-43e8-bc93-6894a57f9324", "'abc'", '"abc', 'abc"', '"a" b', '"a"x',
    ":YWJj:", "?1", "42", "4.2", '("a")', "@1659578233", '%"abc"', r'"a\nb"', b'"caf\xe9"', b'"a\tb"',
    '"a" ;p=1', '"a";P=1', '"a";', '"a";p=', '""', "", '"a", "b"', '"' + "k" * 256 + '"',
]
GOOD_BARE = ["8e03978e-40d5-43e8-bc93-6894a57f9324", "a+b/c==", "run-event name with spaces-1", "k" * 255, "stripe-node-retry-x"]
BAD_BARE = ["a,b", 'a"b', "a\\b", b"caf\xe9", b"a\tb", "", "k" * 256]


class Keys(SystemCase):
    def test_strict_syntax(self):
        """[R4][R11][R15]-[R22][R24][R25] `syntax: string`: Structured Field Strings only; refusals never reach the upstream."""
        upstream, proxy = self.setup_pair(policy={"key": {"syntax": "string"}})
        for value, same in GOOD_STRINGS.items():
            with self.subTest(value):
                first = proxy.post(value)
                self.assertEqual(first.status, 201)
                self.assert_replay_of(first, proxy.post(same))
        self.assertEqual(upstream.hits(), len(GOOD_STRINGS))
        for value in BAD_STRINGS:
            with self.subTest(value):
                self.assert_problem(proxy.post(value), "key-invalid")
        self.assertEqual(upstream.hits(), len(GOOD_STRINGS))

    def test_lenient_syntax(self):
        """[R29]-[R31][R142] `syntax: any`: bare and quoted name one record; what begins with a quote is strict."""
        upstream, proxy = self.setup_pair()
        for value in GOOD_BARE:
            with self.subTest(value):
                first = proxy.post(value)
                self.assertEqual(first.status, 201)
                self.assert_replay_of(first, proxy.post(f'"{value}"'))
        hits = upstream.hits()
        for value in [*BAD_BARE, '"abc', '"a" b', '"a"x', '"a", "b"', '""']:
            with self.subTest(value):
                self.assert_problem(proxy.post(value), "key-invalid")
        self.assertEqual((hits, upstream.hits()), (len(GOOD_BARE), len(GOOD_BARE)))

    def test_repeated_field_lines(self):
        """[R12][R13][R14][R32] Two lines are never one key, whatever they hold."""
        upstream, proxy = self.setup_pair()
        for pair in (('"a"', '"b"'), ('"a"', '"a"'), ('"a', 'b"'), ("a", "a")):
            fields = [("Idempotency-Key", pair[0]), ("X-Between", "1"), ("idempotency-key", pair[1])]
            self.assert_problem(proxy.ask("POST", "/pay", fields, b"{}"), "key-invalid")
        self.assertEqual(upstream.hits(), 0)

    def test_missing_key(self):
        """[R4][R5][R9] 400 where required, in the trailers it does not count; forwarded where not required."""
        upstream, proxy = self.setup_pair()
        self.assert_problem(proxy.ask("POST", "/pay", (), b"{}"), "key-missing")
        with proxy.connect() as connection:
            connection.send(b"POST /pay HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: Idempotency-Key\r\n\r\n"
                            b"2\r\n{}\r\n0\r\nIdempotency-Key: \"k\"\r\n\r\n")
            self.assert_problem(connection.receive(), "key-missing")
        self.assertEqual(upstream.hits(), 0)
        upstream, proxy = self.setup_pair(policy={"key": {"required": False}})
        for _ in range(2):
            self.assertEqual(proxy.ask("POST", "/pay", (), b"{}").summary(), (201, None))
        self.assertEqual(upstream.hits(), 2)

    def test_length_and_pattern(self):
        """[R26][R27] Limits of the route, compared case-sensitively."""
        upstream, proxy = self.setup_pair(policy={"key": {"min_length": 4, "max_length": 8, "pattern": "[a-z]+"}})
        for value in ('"abc"', '"abcdefghi"', '"abcd1"', '"ABCD"'):
            self.assert_problem(proxy.post(value), "key-invalid")
        self.assertEqual(upstream.hits(), 0)
        self.assertEqual(proxy.post('"abcd"').status, 201)

    def test_other_field_name(self):
        """[R7][R10] The key's field is the route's choice, found whatever its case, and forwarded unchanged."""
        upstream, proxy = self.setup_pair(policy={"key": {"from": "header:PayPal-Request-Id", "syntax": "bare"}})
        first = proxy.ask("POST", "/pay", [("paypal-request-ID", "k1")], b"{}")
        self.assert_replay_of(first, proxy.ask("POST", "/pay", [("PAYPAL-REQUEST-ID", "k1")], b"{}"))
        self.assertIn((b"paypal-request-ID", b"k1"), upstream.requests[0].pairs())
        self.assertEqual(upstream.hits(), 1)

    def test_other_methods_and_routes_are_left_alone(self):
        """[R1][R2][R3] GET, OPTIONS, HEAD and plain routes: forwarded with the field as it came, nothing stored."""
        upstream, proxy = self.setup_pair()
        for method, target in (("GET", "/pay"), ("OPTIONS", "/pay"), ("HEAD", "/pay"), ("PUT", "/pay"), ("POST", "/free")):
            for _ in range(2):
                proxy.ask(method, target, [("Idempotency-Key", '"a", b'), ("Idempotency-Key", "c")], None)
                self.assertEqual(upstream.requests[-1].all("Idempotency-Key"), ['"a", b', "c"])
        self.assertEqual(upstream.hits(), 10)

    def test_key_named_in_connection_is_still_enforced(self):
        """[R121] Naming the key in Connection does not switch protection off."""
        upstream, proxy = self.setup_pair()
        fields = [("Connection", "Idempotency-Key, close")]
        answers = [proxy.post('"k"', fields=fields) for _ in range(2)]
        if answers[0].status == 400:
            self.assertEqual(upstream.hits(), 0)
        else:
            self.assert_replay_of(*answers)
            self.assertEqual(upstream.hits(), 1)


class Scope(SystemCase):
    def test_principal(self):
        """[R34][R37] Another Authorization is another key space; without it the request is refused."""
        upstream, proxy = self.setup_pair(policy={"scope": ["route", "header:Authorization"]})
        alice, bob = [("Authorization", "Bearer alice")], [("Authorization", "Bearer bob")]
        first = proxy.post('"k"', fields=alice)
        self.assertFalse(proxy.post('"k"', b'{"other":1}', fields=bob).replayed)
        self.assert_replay_of(first, proxy.post('"k"', fields=alice))
        self.assert_problem(proxy.post('"k"'), "principal-missing")
        self.assertEqual(upstream.hits(), 2)
        self.assertEqual(upstream.requests[0].get("Authorization"), "Bearer alice")

    def test_optional_part(self):
        """[R37] `header:X-Tenant?` may be absent, which is a scope of its own."""
        upstream, proxy = self.setup_pair(policy={"scope": ["header:X-Tenant?"]})
        self.assertFalse(proxy.post('"k"').replayed)
        self.assertFalse(proxy.post('"k"', fields=[("X-Tenant", "t")]).replayed)
        self.assertTrue(proxy.post('"k"').replayed)
        self.assertTrue(proxy.post('"k"', fields=[("X-Tenant", "t")]).replayed)
        self.assertEqual(upstream.hits(), 2)


class Fingerprint(SystemCase):
    def test_other_request_under_the_same_key(self):
        """[R41][R43][R44][R52] 422 for another body, query, path, method or content type; the record stays as it was."""
        upstream, proxy = self.setup_pair()
        first = proxy.post('"k"')
        others = [("POST", "/pay", b'{"amount":999}', "application/json"),
                  ("POST", "/pay?a=1", b'{"amount":100}', "application/json"),
                  ("POST", "/pay/other", b'{"amount":100}', "application/json"),
                  ("PATCH", "/pay", b'{"amount":100}', "application/json"), ("POST", "/pay", b'{"amount":100}', "text/plain")]
        for method, target, body, content_type in others:
            with self.subTest(f"{method} {target} {content_type}"):
                fields = [("Idempotency-Key", '"k"'), ("Content-Type", content_type)]
                self.assert_problem(proxy.ask(method, target, fields, body), "key-reused")
        self.assert_replay_of(first, proxy.post('"k"'))
        self.assertEqual(upstream.hits(), 1)

    def test_what_changes_between_honest_attempts_does_not_count(self):
        """[R42][R45] Framing, tracing, dates, authorisation and agents differ; it is the same request."""
        upstream, proxy = self.setup_pair()
        first = proxy.post('"k"', fields=[("User-Agent", "a/1"), ("Authorization", "Bearer 1"), ("traceparent", "00-1")])
        second = proxy.post('"k"', fields=[("User-Agent", "b/2"), ("Authorization", "Bearer 2"), ("X-Retry", "1"), ("Date", "x")])
        self.assert_replay_of(first, second)
        with proxy.connect() as connection:
            connection.send(b"POST /pay HTTP/1.1\r\nHost: api.example.com\r\nIdempotency-Key: \"k\"\r\n"
                            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                            b"4\r\n{\"am\r\nA\r\nount\":100}\r\n0\r\n\r\n")
            self.assert_replay_of(first, connection.receive())
        self.assertEqual(upstream.hits(), 1)

    def test_mismatch_status_and_switched_off(self):
        """[R55] `mismatch_status` keeps the type; `fingerprint: off` never refuses."""
        _, proxy = self.setup_pair(policy={"fingerprint": {"mismatch_status": 409}})
        proxy.post('"k"')
        self.assert_problem(proxy.post('"k"', b"other"), "key-reused", 409)
        _, proxy = self.setup_pair(policy={"fingerprint": "off"})
        first = proxy.post('"k"')
        self.assert_replay_of(first, proxy.post('"k"', b"other"))

    def test_client_cannot_speak_for_the_proxy(self):
        """[R81] Idempotency-Attempt, -Token and -Recovery-Point of a client are removed."""
        upstream, proxy = self.setup_pair()
        own = [("Idempotency-Attempt", "7"), ("Idempotency-Token", "x"), ("Idempotency-Recovery-Point", "y")]
        proxy.ask("POST", "/pay", keyed('"k"', own), b"{}")
        for name, _ in own:
            self.assertEqual(upstream.requests[0].all(name), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""What clients do beside their keyed requests is left alone: the GET after a 303, and the token endpoint that knows no keys."""

import unittest

from harness.cases import SystemCase
from harness.http import response_bytes

BODY = b'{"amount":100}'


class Undisturbed(SystemCase):
    def test_get_after_a_303(self):
        """[R88][R144][R151] The 303 is recorded and never followed; the client's own GET carries the key and is not enforced."""
        upstream, proxy = self.setup_pair(policy={"key": {"syntax": "any"}})
        upstream.answer_next(response_bytes(303, b"", [("Location", "/pay/7")]))
        first = proxy.post("client-key", BODY)
        self.assertEqual((first.status, first.get("Location"), upstream.hits()), (303, "/pay/7", 1))
        for number in range(2):
            upstream.answer_next(response_bytes(200, b"state %d" % number))
            got = proxy.ask("GET", "/pay/7", [("Idempotency-Key", "client-key")])
            self.assertEqual((got.status, got.body, got.replayed), (200, b"state %d" % number, False))
            self.assertEqual(upstream.requests[-1].all("Idempotency-Key"), ["client-key"])
        self.assert_replay_of(first, proxy.post("client-key", BODY))
        self.assertEqual(upstream.hits(), 3)

    def test_token_endpoint(self):
        """[R5][R151] POSTed to without a key, by its own route or under one whose key is optional: forwarded each time, never recorded."""
        grant = b"grant_type=client_credentials"
        fields = [("Content-Type", "application/x-www-form-urlencoded"), ("Authorization", "Basic YTpi")]
        for target, policy in (("/oauth/token", None), ("/pay/token", {"key": {"required": False}})):
            with self.subTest(target):
                upstream, proxy = self.setup_pair(policy=policy)
                for number in range(2):
                    upstream.answer_next(response_bytes(200, b'{"access_token":"t%d"}' % number, [("Cache-Control", "no-store")]))
                    answer = proxy.ask("POST", target, fields, grant)
                    self.assertEqual((answer.status, answer.body, answer.replayed), (200, b'{"access_token":"t%d"}' % number, False))
                    self.assertEqual((upstream.requests[-1].body, upstream.requests[-1].get("Authorization")), (grant, "Basic YTpi"))
                self.assertEqual(upstream.hits(), 2)

    def test_redirected_post(self):
        """[R144][R151] 307 and 308: the client repeats body and key at the new target, where they are a first request."""
        for status in (307, 308):
            with self.subTest(status):
                upstream, proxy = self.setup_pair()
                upstream.answer_next(response_bytes(status, b"", [("Location", "/pay/eu")]))
                self.assertEqual(proxy.post('"k"', BODY).status, status)
                moved = proxy.post('"k"', BODY, target="/pay/eu")
                self.assertEqual((moved.status, moved.replayed), (201, False))
                self.assert_replay_of(moved, proxy.post('"k"', BODY, target="/pay/eu"))
                self.assertEqual([request.target for request in upstream.requests], ["/pay", "/pay/eu"])


if __name__ == "__main__":
    unittest.main(verbosity=2)

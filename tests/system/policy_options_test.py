"""What a policy may say about recording, replaying and presets: whatever is accepted has its effect."""

import gzip
import unittest

from harness.cases import SystemCase, on_both_stores
from harness.http import response_bytes
from harness.upstream import CLOSE

OLD_DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


class Recording(SystemCase):
    def test_excluded_headers(self):
        """[R82] `record.exclude_headers` and `replay.exclude_headers`: on the first delivery, not on replays."""
        for section in ("record", "replay"):
            with self.subTest(section):
                cookies = [("Set-Cookie", "a=1"), ("X-Kept", "1"), ("set-cookie", "b=2")]
                _, proxy = self.setup_pair(response_bytes(201, b"ok", cookies),
                                           policy={section: {"exclude_headers": ["Set-Cookie"]}})
                first, replay = proxy.post('"k"'), proxy.post('"k"')
                self.assertEqual(first.all("Set-Cookie"), ["a=1", "b=2"])
                self.assertEqual((replay.all("Set-Cookie"), replay.get("X-Kept")), ([], "1"))

    def test_no_store(self):
        """[R83] Recorded all the same; with `respect_no_store` it is not, and the retry is told so."""
        answer = response_bytes(201, b"ok", [("Cache-Control", "private, no-store")])
        _, proxy = self.setup_pair(answer)
        self.assert_replay_of(proxy.post('"k"'), proxy.post('"k"'))
        upstream, proxy = self.setup_pair(answer, policy={"record": {"respect_no_store": True}})
        self.assertEqual(proxy.post('"k"').body, b"ok")
        self.assert_problem(proxy.post('"k"'), "not-replayable")
        self.assertEqual(upstream.hits(), 1)

    def test_identity_encoding(self):
        """[R84] `accept_encoding: identity` asks the upstream for what any retry can read; `as-is` leaves the field alone."""
        accepts = [("Accept-Encoding", "gzip, br")]
        upstream, proxy = self.setup_pair(policy={"record": {"accept_encoding": "identity"}})
        proxy.post('"k"', fields=accepts)
        self.assertEqual(upstream.requests[0].get("Accept-Encoding"), "identity")
        upstream, proxy = self.setup_pair(response_bytes(200, gzip.compress(b"x"), [("Content-Encoding", "gzip")]))
        first = proxy.post('"k"', fields=accepts)
        self.assertEqual(upstream.requests[0].get("Accept-Encoding"), "gzip, br")
        self.assert_replay_of(first, proxy.post('"k"'))

    def test_upstream_decides(self):
        """[R91] `Idempotency-Outcome` of the upstream overrules the table, and never reaches the client."""
        upstream, proxy = self.setup_pair(policy={"record": {"upstream_decides": True}})
        for word, status, expected in (("free", 201, (201, False)), ("record", 503, (503, True)),
                                       ("unknown", 200, (409, False)), ("nonsense", 200, (200, True))):
            with self.subTest(word):
                upstream.answer_next(response_bytes(status, b"first", [("Idempotency-Outcome", word)]))
                first = proxy.post(f'"{word}"')
                self.assertEqual((first.status, first.all("Idempotency-Outcome")), (status, []))
                second = proxy.post(f'"{word}"')
                self.assertEqual((second.status, second.replayed), expected)
                self.assertEqual(second.all("Idempotency-Outcome"), [])

    def test_upstream_does_not_decide_unless_allowed(self):
        """[R91] By default the field is removed and has no say."""
        _, proxy = self.setup_pair(response_bytes(201, b"ok", [("Idempotency-Outcome", "free")]))
        first = proxy.post('"k"')
        self.assertEqual(first.all("Idempotency-Outcome"), [])
        self.assert_replay_of(first, proxy.post('"k"'))


class Replaying(SystemCase):
    def test_marker(self):
        """[R81] Another name, or none at all."""
        _, proxy = self.setup_pair(policy={"replay": {"marker": "X-Replayed"}})
        first, replay = proxy.post('"k"'), proxy.post('"k"')
        self.assertEqual((first.all("X-Replayed"), replay.all("X-Replayed")), ([], ["true"]))
        self.assertEqual(replay.all("Idempotent-Replayed"), [])
        _, proxy = self.setup_pair(policy={"replay": {"marker": ""}})
        first, replay = proxy.post('"k"'), proxy.post('"k"')
        self.assertEqual(replay.lines, first.lines)

    def test_date(self):
        """[R80] The original by default; `date: now` for clients that set their clock by it."""
        for choice, kept in (("original", True), ("now", False)):
            _, proxy = self.setup_pair(response_bytes(201, b"", [("Date", OLD_DATE)]), policy={"replay": {"date": choice}})
            proxy.post('"k"')
            self.assertEqual(proxy.post('"k"').get("Date") == OLD_DATE, kept, choice)

    def test_documentation(self):
        """[R95][R96] `documentation` is what problem types and Link lead to."""
        url = "https://docs.example.com/idempotency"
        _, proxy = self.setup_pair(policy={"documentation": url})
        refused = proxy.ask("POST", "/pay", (), b"{}")
        self.assert_problem(refused, "key-missing")
        self.assertEqual(refused.json()["type"], f"{url}#key-missing")
        self.assertIn(f"<{url}>", refused.get("Link"))


@on_both_stores
class Presets(SystemCase):
    def preset(self, name, **more):
        """A route with nothing but the preset and a scope."""
        return self.setup_pair(policy={"preset": name, "key": None, "lease": None, "ttl": None, **more})

    def test_stripe_v1(self):
        """Bare keys, mismatch 400, 500 recorded, 409 frees, a broken attempt is its own result."""
        upstream, proxy = self.preset("stripe-v1")
        upstream.answer_next(response_bytes(500, b"oops"))
        self.assert_replay_of(proxy.post("key-500"), proxy.post("key-500"))
        self.assert_problem(proxy.post("key-500", b"other"), "key-reused", 400)
        upstream.answer_next(response_bytes(409, b"busy"))
        proxy.post("key-409")
        self.assertEqual(proxy.post("key-409").status, 201)
        upstream.answer_next(CLOSE)
        self.assertEqual(proxy.post("key-broken").status, 502)
        self.assertTrue(proxy.post("key-broken").replayed)

    def test_stripe_v2(self):
        """Only success is recorded; what failed is tried again with the same key."""
        upstream, proxy = self.preset("stripe-v2")
        for steps in ((response_bytes(500, b"oops"),), (response_bytes(404, b"no"),), (CLOSE,)):
            upstream.answer_next(*steps)
            proxy.post("key")
        self.assertEqual(proxy.post("key").status, 201)
        self.assertTrue(proxy.post("key").replayed)
        self.assertEqual(upstream.hits(), 4)

    def test_toss(self):
        """[R25] Bare keys of up to 300 characters."""
        _, proxy = self.preset("toss")
        self.assertEqual(proxy.post("k" * 300).status, 201)
        self.assert_problem(proxy.post("k" * 301), "key-invalid")

    def test_webhook(self):
        """[R109][R110][R111][R113] webhook-id, the body alone decides, 200 stays 200, failures free the key."""
        upstream, proxy = self.preset("webhook")
        upstream.answer(response_bytes(200, b"", [("X-Receiver", "1")]))

        def deliver(timestamp, body=b'{"id":"evt_1"}', path="/pay/hook"):
            fields = [("webhook-id", "msg_1"), ("webhook-timestamp", timestamp), ("webhook-signature", f"v1,{timestamp}")]
            return proxy.ask("POST", path, fields, body)

        upstream.answer_next(response_bytes(500, b"later"))
        self.assertEqual(deliver("1").status, 500)
        first = deliver("2")
        self.assertEqual((first.status, first.replayed), (200, False))
        self.assert_replay_of(first, deliver("3"))
        self.assertEqual(upstream.hits(), 2)
        self.assertEqual(proxy.ask("POST", "/pay/hook", (), b"no id").status, 200)

    def test_brandur(self):
        """[R55] Mismatch 409, a broken attempt is tried again."""
        upstream, proxy = self.preset("brandur", expose_token=False)
        upstream.answer_next(CLOSE)
        self.assertEqual(proxy.post('"k"').status, 502)
        self.assertEqual(proxy.post("k").status, 201)
        self.assert_problem(proxy.post("k", b"other"), "key-reused", 409)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""`replay.mode: refresh`: a retry of a completed create is told how that what was created stands today."""

import unittest

from harness.cases import SystemCase
from harness.client import MARKER
from harness.http import response_bytes
from harness.upstream import CLOSE, Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'
REFRESH = {"replay": {"mode": "refresh"}}
JSON = ("Content-Type", "application/json")


def created(location="/pay/7", status=201, body=b'{"id":7,"state":"new"}'):
    return response_bytes(status, body, [JSON, ("Location", location), ("X-Created", "yes")])


def current(body=b'{"id":7,"state":"settled"}', status=200):
    return response_bytes(status, body, [JSON, ("ETag", '"v2"'), ("Cache-Control", "max-age=5")])


class Refreshing(SystemCase):
    def created_once(self, answer=None, policy=None, **sections):
        """An upstream and a proxy; the create is done and recorded."""
        upstream, proxy = self.setup_pair(answer or created(), policy={**REFRESH, **(policy or {})}, **sections)
        first = proxy.post('"k"', BODY)
        self.assertEqual([name for name, _ in first.pairs() if name.lower().startswith(b"idempoten")], [])
        return upstream, proxy, first

    def gets(self, upstream):
        return [request for request in upstream.requests if request.method == "GET"]

    def assert_marked(self, answer, refreshed):
        markers = [line for line in answer.lines if line.partition(b":")[0].lower() == MARKER]
        self.assertEqual(markers, [b"Idempotent-Replayed: true"])
        self.assertEqual(answer.all("Idempotency-Refreshed"), ["true" if refreshed else "false"])

    def assert_stored(self, first, answer):
        """As it was recorded, and it says that it is not today's."""
        self.assert_marked(answer, refreshed=False)
        self.assertEqual((answer.status, answer.body), (first.status, first.body))
        recorded = [line for line in answer.end_to_end() if not line.startswith(b"Idempotency-Refreshed:")]
        self.assertEqual(recorded, first.end_to_end())


class Current(Refreshing):
    def test_todays_state(self):
        """[R81] Status and Location as recorded, everything else from the GET; anew for each retry; executed once."""
        upstream, proxy, _ = self.created_once()
        for state in (b'{"id":7,"state":"settled"}', b'{"id":7,"state":"refunded","by":"someone"}'):
            upstream.answer(current(state))
            answer = proxy.post('"k"', BODY)
            self.assert_marked(answer, refreshed=True)
            self.assertEqual((answer.status, answer.get("Location"), answer.body), (201, "/pay/7", state))
            self.assertEqual((answer.get("ETag"), answer.get("Cache-Control"), answer.all("X-Created")), ('"v2"', "max-age=5", []))
        self.assertEqual([request.target for request in self.gets(upstream)], ["/pay/7"] * 2)
        self.assertEqual(upstream.hits(), 3)
        wait_until(lambda: proxy.metric("oncegate_requests_total", route="pay", outcome="refreshed") == 2, "two are counted")
        outcomes = [entry["outcome"] for entry in proxy.access_log(3)]
        self.assertEqual(sorted(outcomes), ["forwarded", "refreshed", "refreshed"])

    def test_what_was_recorded_stays(self):
        """[R74] After a refreshed answer the stored one is still there when today's cannot be had."""
        upstream, proxy, first = self.created_once()
        upstream.answer_next(current())
        self.assert_marked(proxy.post('"k"', BODY), refreshed=True)
        upstream.answer(CLOSE)
        self.assert_stored(first, proxy.post('"k"', BODY))


class FallBack(Refreshing):
    def test_get_that_does_not_help(self):
        """[R74] Not found, refused, broken, cut off, redirected: what is stored."""
        upstream, proxy, first = self.created_once(upstreams={"app": {"timeouts": {"response": "1500ms"}}})
        useless = {"404": (current(status=404),), "403": (current(status=403),), "500": (current(status=500),),
                   "304": (current(status=304),),
                   "302": (response_bytes(302, b"", [("Location", "/pay/7")]),), "204": (response_bytes(204),),
                   "closed": (CLOSE,), "cut off": (current()[:-3], CLOSE), "not HTTP": (b"hello\r\n\r\n", CLOSE), "late": (Gate(),)}
        for name, steps in useless.items():
            with self.subTest(name):
                before = len(self.gets(upstream))
                upstream.answer(*steps)
                self.assert_stored(first, proxy.post('"k"', BODY))
                # A GET may be sent again when a kept connection turns out to be dead.
                self.assertIn(len(self.gets(upstream)) - before, (1, 2))
        self.assertEqual(upstream.hits() - len(self.gets(upstream)), 1)

    def test_location_elsewhere(self):
        """[R88][R101] Another host is never asked, and never gets the caller's credentials."""
        for location in ("http://other.example.com/pay/7", "//other.example.com/pay/7", "https://api.example.com:444/pay/7",
                         "http://api.example.com@127.0.0.1/7", "ftp://api.example.com/7", "not a reference"):
            with self.subTest(location):
                upstream, proxy, first = self.created_once(created(location))
                self.assert_stored(first, proxy.post('"k"', BODY, fields=[("Authorization", "Bearer a")]))
                self.assertEqual(upstream.hits(), 1)

    def test_no_location(self):
        """[R74] Nowhere to ask."""
        upstream, proxy, first = self.created_once(response_bytes(201, b"made"))
        answer = proxy.post('"k"', BODY)
        self.assertEqual((answer.status, answer.body, answer.replayed), (201, b"made", True))
        self.assertNotEqual(answer.get("Idempotency-Refreshed"), "true")
        self.assertEqual(upstream.hits(), 1)

    def test_what_is_no_create(self):
        """[R74][R88] Errors and redirects are replayed as recorded, Location or not."""
        for status in (303, 302, 400, 422, 500):
            with self.subTest(status):
                upstream, proxy, first = self.created_once(created(status=status))
                answer = proxy.post('"k"', BODY)
                self.assertEqual((answer.status, answer.body, answer.replayed), (status, first.body, True))
                self.assertNotEqual(answer.get("Idempotency-Refreshed"), "true")
                self.assertEqual(upstream.hits(), 1)


class Asking(Refreshing):
    def test_where_a_location_leads(self):
        """Paths with a query, this host by name, and references relative to the request's own target (RFC 3986 section 5)."""
        for location, target in (("/orders/7?full=1", "/orders/7?full=1"), ("http://api.example.com/pay/7", "/pay/7"),
                                 ("//API.example.com/pay/7#part", "/pay/7"), ("pay/7", "/pay/7"), ("./a%2Fb", "/a%2Fb")):
            with self.subTest(location):
                upstream, proxy, _ = self.created_once(created(location))
                upstream.answer_next(current())
                answer = proxy.post('"k"', BODY)
                self.assert_marked(answer, refreshed=True)
                self.assertEqual(answer.get("Location"), location)
                self.assertEqual([get.target for get in self.gets(upstream)], [target])

    def test_it_is_asked_with_the_callers_credentials(self):
        """Those of the retry; no content, and the host that was asked for."""
        upstream, proxy, _ = self.created_once()
        upstream.answer_next(current())
        proxy.post('"k"', BODY, fields=[("Authorization", "Bearer second"), ("Cookie", "session=1")])
        get = self.gets(upstream)[0]
        self.assertEqual((get.get("Authorization"), get.get("Cookie"), get.get("Host")), ("Bearer second", "session=1", "api.example.com"))
        self.assertEqual((get.body, get.all("Content-Length"), get.all("Transfer-Encoding")), (b"", [], []))

    def test_conditions_of_the_client_are_not_passed_on(self):
        """[R137] A 304 or 206 of the GET would be no answer to a POST."""
        upstream, proxy, _ = self.created_once()
        upstream.answer_next(current())
        conditions = [("If-None-Match", '"v2"'), ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
                      ("Range", "bytes=0-1"), ("If-Match", '"v1"')]
        self.assert_marked(proxy.post('"k"', BODY, fields=conditions), refreshed=True)
        for name, _ in conditions:
            self.assertEqual(self.gets(upstream)[0].all(name), [], name)

    def test_another_request_under_the_key(self):
        """[R41] Refused without asking."""
        upstream, proxy, _ = self.created_once()
        self.assert_problem(proxy.post('"k"', b"other"), "key-reused")
        self.assertEqual(upstream.hits(), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)

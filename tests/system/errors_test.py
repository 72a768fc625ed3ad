"""The proxy's own errors: in the API's own format where the policy says so, and telling nothing of the inside anywhere."""

import json
import os
import unittest
import xml.etree.ElementTree

from harness.cases import SystemCase
from harness.http import response_bytes
from harness.ports import free_port
from harness.proxy import run_command
from harness.upstream import CLOSE, Gate
from harness.waiting import wait_until

HOUSE = {"content_type": "application/vnd.api+json",
         "body": '{"errors": [{"code": "{code}", "status": "{status}", "detail": "{detail}"}]}'}


def house(*names):
    return {"errors": {name: HOUSE for name in names}}


class Templates(SystemCase):
    def assert_house(self, response, fragment, status):
        """The template's body and type; status and the other fields as of a problem document."""
        self.assertEqual((response.status, response.get("Content-Type")), (status, "application/vnd.api+json"), response)
        error = response.json()["errors"][0]
        self.assertEqual((error["code"], error["status"]), (fragment, str(status)))
        self.assertTrue(error["detail"])
        self.assertEqual(response.get("Cache-Control"), "no-store")
        self.assertIn('rel="describedby"', response.get("Link"))

    def test_refusals(self):
        """[R95][R143] Kinds with a template have its body, all others are problem documents."""
        upstream, proxy = self.setup_pair(policy=house("key-missing", "key-reused"))
        self.assert_house(proxy.ask("POST", "/pay", (), b"{}"), "key-missing", 400)
        proxy.post('"k"')
        self.assert_house(proxy.post('"k"', b"other"), "key-reused", 422)
        self.assert_problem(proxy.post("", b"{}"), "key-invalid")
        self.assertEqual(upstream.hits(), 1)

    def test_default_content_type(self):
        """[R143] JSON; values are the inside of a string."""
        body = '{"error": {"type": "invalid_request_error", "code": "{code}", "message": "{detail}"}, "status": {status}}'
        _, proxy = self.setup_pair(policy={"errors": {"key-missing": {"body": body}}})
        answer = proxy.ask("POST", "/pay", (), b"{}")
        self.assertEqual((answer.get("Content-Type"), answer.json()["status"]), ("application/json", 400))
        self.assertEqual(answer.json()["error"]["code"], "key-missing")

    def test_markup(self):
        """[R95] Values are escaped for what they stand in."""
        policy = {"errors": {"key-invalid": {"content_type": "text/xml", "body": "<e status='{status}'>{detail}</e>"}}}
        _, proxy = self.setup_pair(policy={**policy, "key": {"syntax": "string"}})
        answer = proxy.post("bare")
        element = xml.etree.ElementTree.fromstring(answer.body)
        self.assertEqual((answer.get("Content-Type"), element.get("status")), ("text/xml", "400"))
        self.assertIn('"', element.text)  # an example in quotes, which had to be escaped

    def test_retry_after_stays(self):
        """[R58] Templates change the content alone."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"{}"), policy=house("in-flight"))
        self.addCleanup(gate.set)
        with proxy.connect() as first:
            first.send(b'POST /pay HTTP/1.1\r\nHost: a\r\nIdempotency-Key: "k"\r\nContent-Length: 2\r\n\r\n{}')
            upstream.wait_for(1)
            refused = proxy.ask("POST", "/pay", [("Idempotency-Key", '"k"')], b"{}")
            gate.set()
            first.receive()
        self.assert_house(refused, "in-flight", 409)
        self.assertEqual(refused.get("Retry-After"), "1")

    def test_upstream_failures(self):
        """[R95] Also for requests of the route that the policy does not hold for."""
        self.use_new_store()
        upstream = self.upstream(CLOSE)
        config = self.config(upstream, house("upstream-failed"))
        config["routes"][0]["match"] = {"methods": ["POST", "GET"], "path": "/pay/**"}
        proxy = self.proxy(config)
        self.assert_house(proxy.post('"k"'), "upstream-failed", 502)
        self.assert_house(proxy.ask("GET", "/pay"), "upstream-failed", 502)
        self.assert_problem(proxy.ask("GET", "/elsewhere"), "upstream-failed")

    def test_recorded_failures(self):
        """[R95] A failure that is the result of its key has the route's format, and is replayed with it."""
        upstream, proxy = self.setup_pair(CLOSE, policy={**house("upstream-failed"), "unknown_outcome": "fail"})
        first, again = proxy.post('"k"'), proxy.post('"k"')
        self.assert_house(first, "upstream-failed", 502)
        self.assert_replay_of(first, again)
        self.assertEqual(upstream.hits(), 1)

    def test_before_the_policy(self):
        """[R95] Limits that are met before the policy is looked at."""
        gate = Gate()
        limits = {"request_body": "1KiB", "in_flight": 1}
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"{}"), policy=house("body-too-large", "overloaded"),
                                          server={"limits": limits})
        self.addCleanup(gate.set)
        self.assert_house(proxy.post('"large"', b"x" * 2000), "body-too-large", 413)
        with proxy.connect() as first:
            first.send(b'POST /pay HTTP/1.1\r\nHost: a\r\nIdempotency-Key: "k"\r\nContent-Length: 2\r\n\r\n{}')
            upstream.wait_for(1)
            refused, elsewhere = proxy.post('"other"'), proxy.ask("GET", "/elsewhere")
            gate.set()
            first.receive()
        self.assert_house(refused, "overloaded", 503)
        self.assert_problem(elsewhere, "overloaded")

    def test_off(self):
        """A policy that is off does nothing, its templates neither."""
        upstream = self.upstream(CLOSE)
        proxy = self.proxy(self.config(upstream, {**house("upstream-failed"), "mode": "off"}))
        self.assert_problem(proxy.post('"k"'), "upstream-failed")

    def test_explained(self):
        """`explain` shows the templates and where they came from."""
        _, proxy = self.setup_pair(policy=house("key-missing"))
        shown = run_command("explain", "-c", proxy.config_path, "POST", "/pay").stdout
        line = next(line for line in shown.splitlines() if line.strip().startswith("errors"))
        self.assertIn("key-missing: { content_type: ", line)
        self.assertIn("route pay", line)


class Documents(SystemCase):
    def test_told_from_the_upstreams(self):
        """[R98] Whose error it is can be read from its type; the upstream's own passes as it is."""
        theirs = b'{"type":"https://upstream.example/conflict","title":"theirs","status":409}'
        upstream, proxy = self.setup_pair(response_bytes(422, theirs, [("Content-Type", "application/problem+json")]))
        first, own = proxy.post('"k"'), proxy.post('"k"', b"other")
        self.assertEqual((first.status, first.body), (422, theirs))
        self.assertIsNone(first.get("Link"))
        self.assert_problem(own, "key-reused")
        self.assertIn("/.well-known/idempotency#", own.json()["type"])

    def test_documentation(self):
        """[R95][R96] `documentation` is where type and Link point, on that route alone."""
        page = "https://docs.example/idempotency"
        _, proxy = self.setup_pair(policy={"documentation": page})
        refused = proxy.ask("POST", "/pay", (), b"{}")
        self.assertEqual(refused.json()["type"], page + "#key-missing")
        self.assertEqual(refused.get("Link"), f'<{page}>; rel="describedby"; type="text/html"')
        published = proxy.ask("GET", "/.well-known/idempotency", [("Accept", "application/json")]).json()
        self.assertEqual(published["routes"][0]["documentation"], page)

    def test_nothing_of_the_inside(self):
        """[R101] No address of the upstream, no store's words, nothing of the stored response."""
        secret = b"stored-secret-" * 100
        upstream = self.upstream(response_bytes(201, secret, [("X-Secret", "stored-secret")]))
        config = self.config(upstream, {"record": {"body_limit": "100B"}})
        gone = free_port()
        config["upstreams"]["gone"] = {"servers": [f"http://127.0.0.1:{gone}", f"http://localhost:{gone}"]}
        config["routes"].insert(1, {"name": "gone-route", "match": {"path": "/gone"}, "upstream": "gone"})
        proxy = self.proxy(config)
        proxy.post('"k"')
        answers = {"not-replayable": proxy.post('"k"'), "key-reused": proxy.post('"k"', b"request-secret"),
                   "upstream-unreachable": proxy.ask("GET", "/gone"), "key-invalid": proxy.post('"key-secret')}
        upstream.answer(CLOSE)
        answers["upstream-failed"] = proxy.post('"b"')
        answers["outcome-unknown"] = proxy.post('"b"')
        for fragment, answer in answers.items():
            with self.subTest(fragment):
                self.assert_problem(answer, fragment)
                text = json.dumps([answer.json(), answer.raw.decode("latin-1")])
                for word in ("secret", str(gone), str(upstream.port), "localhost", "gone-route", "sqlite", "SELECT",
                             self.directory, os.sep + "tmp"):
                    self.assertNotIn(word, text.replace("api.example.com", ""))

    def test_expired_is_never_gone(self):
        """[R102] 410 would tell senders of webhooks to stop for ever."""
        for rule, status in (("execute", 201), ("reject", 412)):
            with self.subTest(rule):
                policy = {"ttl": "1s", "lease": "1s", "after_ttl": rule, "tombstone": "1h"}
                _, proxy = self.setup_pair(policy=policy)
                self.assertEqual(proxy.post('"k"').status, 201)
                seen = []

                def expired():
                    seen.append(proxy.post('"k"'))
                    return not seen[-1].replayed

                wait_until(expired, "the key has expired")
                self.assertEqual(seen[-1].status, status)
                self.assertNotIn(410, [answer.status for answer in seen])


if __name__ == "__main__":
    unittest.main(verbosity=2)

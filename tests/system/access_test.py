"""Whose key it is, and who may use it: verified tokens, and a service that is asked about every request."""

import os
import select
import time
import unittest

from harness.cases import SystemCase, laid_over
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.ports import free_port
from harness.tokens import RsaSigner, SecretSigner, bearer
from harness.upstream import CLOSE, Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'


class AccessCase(SystemCase):
    def route_config(self, upstream, route, policy=None):
        """The enforced route with `route` laid over it."""
        config = self.config(upstream, policy=policy)
        config["routes"][0] = laid_over(config["routes"][0], route)
        return config


class Tokens(AccessCase):
    """R36: `scope: jwt:CLAIM`."""

    def setUp(self):
        self.signer = RsaSigner(self.directory)
        self.app = self.upstream()
        self.token_config = self.route_config(
            self.app, {"jwt": {"keys": [self.signer.public_key], "issuer": "https://issuer.example"}},
            policy={"scope": ["route", "jwt:sub"]})

    def token(self, **claims):
        return self.signer.token(**{"iss": "https://issuer.example", "sub": "alice", **claims})

    def assert_refused(self, response, words):
        self.assert_problem(response, "unauthorized", status=401)
        challenge = response.get("WWW-Authenticate")
        self.assertTrue(challenge.startswith('Bearer error="invalid_token", error_description="'), challenge)
        self.assertIn(words, challenge)

    def test_a_refreshed_token_finds_the_record_of_the_first_try(self):
        """R36: the two tries carry different Authorization values of one subject."""
        proxy = self.proxy(self.token_config)
        first = proxy.post('"k"', BODY, fields=bearer(self.token(jti="one")))
        retry = proxy.post('"k"', BODY, fields=bearer(self.token(jti="two", exp=int(time.time()) + 7200)))
        self.assertEqual(first.status, 201)
        self.assert_replay_of(first, retry)
        self.assertEqual(self.app.hits(), 1)

    def test_another_subject_is_another_caller(self):
        """R34: the same key of somebody else is a first request."""
        proxy = self.proxy(self.token_config)
        proxy.post('"k"', BODY, fields=bearer(self.token()))
        other = proxy.post('"k"', BODY, fields=bearer(self.token(sub="bob")))
        self.assertEqual((other.status, other.replayed), (201, False))
        self.assertEqual(self.app.hits(), 2)

    def test_a_bad_token_is_refused_and_nothing_is_done(self):
        proxy = self.proxy(self.token_config)
        stranger = RsaSigner(self.directory, "stranger").token(iss="https://issuer.example", sub="alice")
        now = int(time.time())
        for token, words in ((stranger, "signature"), (self.token(exp=now - 3600), "expired"),
                             (self.token(nbf=now + 3600), "not valid yet"), (self.token(iss="https://evil.example"), "issued"),
                             ("not.a.token", "malformed"), ("", "malformed"), ("A" * 20_000, "too long")):
            with self.subTest(words):
                refused = proxy.post('"k"', BODY, fields=bearer(token))
                self.assert_refused(refused, words)
                self.assertTrue(len(token) < 20 or token.encode() not in refused.raw + refused.body, "the token is echoed")
        twice = bearer(self.token()) * 2
        self.assert_refused(proxy.post('"k"', BODY, fields=twice), "more than one")
        self.assertEqual(self.app.hits(), 0)
        self.assert_metric(proxy, 8, "oncegate_requests_total", route="pay", outcome="unauthorized")
        self.assertEqual(proxy.post('"k"', BODY, fields=bearer(self.token())).replayed, False)

    def test_a_request_without_a_token_lacks_its_principal(self):
        """R37: never a shared empty scope; credentials of another kind are no token."""
        proxy = self.proxy(self.token_config)
        self.assert_problem(proxy.post('"k"', BODY), "principal-missing")
        self.assert_problem(proxy.post('"k"', BODY, fields=[("Authorization", "Basic YTpi")]), "principal-missing")
        no_subject = self.signer.token(iss="https://issuer.example")
        self.assert_problem(proxy.post('"k"', BODY, fields=bearer(no_subject)), "principal-missing")
        self.assertEqual(self.app.hits(), 0)

    def test_an_optional_claim_may_be_absent_but_not_wrong(self):
        self.token_config["routes"][0]["idempotency"]["scope"] = ["route", "jwt:sub?"]
        proxy = self.proxy(self.token_config)
        self.assertEqual(proxy.post('"k"', BODY).status, 201)
        self.assertTrue(proxy.post('"k"', BODY).replayed)
        self.assert_refused(proxy.post('"k"', BODY, fields=bearer("x.y.z")), "malformed")

    def test_the_scheme_is_compared_without_case_and_another_header_needs_none(self):
        self.token_config["routes"][0]["jwt"]["header"] = "X-Token"
        proxy = self.proxy(self.token_config)
        first = proxy.post('"k"', BODY, fields=[("X-Token", self.token())])
        self.assertEqual(first.status, 201)
        self.assert_replay_of(first, proxy.post('"k"', BODY, fields=[("X-Token", "bEARER " + self.token(jti="2"))]))

    def test_replaced_key_files_count_without_a_signal(self):
        """The old key and the new one stand side by side while tokens of both are about."""
        secret = SecretSigner(self.directory)
        self.token_config["routes"][0]["jwt"] = {"keys": [self.signer.public_key, secret.jwks]}
        proxy = self.proxy(self.token_config)
        next_secret = SecretSigner(self.directory, "next", kid="two")
        token = next_secret.token(sub="alice")
        self.assertEqual(proxy.post('"k"', BODY, fields=bearer(secret.token(sub="alice"))).status, 201)
        self.assert_refused(proxy.post('"k"', BODY, fields=bearer(token)), "signature")
        os.replace(next_secret.jwks, secret.jwks)
        wait_until(lambda: proxy.post('"k"', BODY, fields=bearer(token)).replayed, "the new key is in force")
        self.assert_refused(proxy.post('"k"', BODY, fields=bearer(secret.token(sub="alice"))), "signature")
        self.assertTrue(proxy.post('"k"', BODY, fields=bearer(self.token())).replayed)

    def test_a_key_file_that_is_no_key_changes_nothing(self):
        proxy = self.proxy(self.token_config)
        self.assertEqual(proxy.post('"k"', BODY, fields=bearer(self.token())).status, 201)
        with open(self.signer.public_key, "w", encoding="ascii") as file:
            file.write("no key\n")
        proxy.reload(expect="refused")
        self.assertIn(f"route pay: jwt: {self.signer.public_key}: it is neither PEM nor JSON", proxy.stderr_text())
        self.assertTrue(proxy.post('"k"', BODY, fields=bearer(self.token())).replayed)


class Authorisation(AccessCase):
    """R35, R38: `authorize` and `scope: auth:HEADER`."""

    def setUp(self):
        self.app = self.upstream()
        self.service = self.upstream(response_bytes(200, b"", [("X-Tenant", "acme"), ("X-Other", "unlisted")]))

    def asked(self, policy=None, **authorize):
        url = f"http://127.0.0.1:{self.service.port}/check?for=pay"
        return self.proxy(self.route_config(self.app, {"authorize": {"url": url, **authorize}}, policy))

    def test_a_refusal_is_passed_on_as_it_is_and_nothing_is_claimed(self):
        proxy = self.asked()
        self.service.answer_next(response_bytes(401, b"who are you?", [("WWW-Authenticate", 'Basic realm="pay"'),
                                                                       ("Content-Type", "text/plain"), ("Set-Cookie", "a=1")]))
        refused = proxy.post('"k"', BODY)
        self.assertEqual((refused.status, refused.body), (401, b"who are you?"))
        self.assertEqual((refused.get("WWW-Authenticate"), refused.get("Content-Type"), refused.get("Set-Cookie")),
                         ('Basic realm="pay"', "text/plain", "a=1"))
        self.assertEqual(self.app.hits(), 0)
        self.assertEqual(proxy.access_log(1)[0]["outcome"], "unauthorized")
        self.assertEqual(proxy.post('"k"', BODY).replayed, False)  # the key was free
        self.assertEqual(self.app.hits(), 1)

    def test_it_is_asked_before_a_replay_too(self):
        """A response is never replayed to somebody whose access was withdrawn."""
        proxy = self.asked()
        first = proxy.post('"k"', BODY)
        self.assert_replay_of(first, proxy.post('"k"', BODY))
        self.service.answer_next(response_bytes(403, b"gone"))
        withdrawn = proxy.post('"k"', BODY)
        self.assertEqual((withdrawn.status, withdrawn.body, withdrawn.replayed), (403, b"gone", False))
        self.assert_replay_of(first, proxy.post('"k"', BODY))
        self.assertEqual((self.app.hits(), self.service.hits()), (1, 4))

    def test_it_is_asked_about_plain_requests_too(self):
        url = f"http://127.0.0.1:{self.service.port}"
        config = self.config(self.app)
        config["routes"][1]["authorize"] = {"url": url}
        proxy = self.proxy(config)
        self.service.answer_next(response_bytes(403))
        self.assertEqual(proxy.ask("GET", "/reports").status, 403)
        self.assertEqual((proxy.ask("GET", "/reports").status, proxy.ask("DELETE", "/reports").status), (201, 201))
        self.assertEqual((self.app.hits(), self.service.hits()), (2, 3))

    def test_its_word_names_the_tenant(self):
        """R34, R35: one key of two tenants is two operations; what the client says about itself counts for nothing."""
        proxy = self.asked(policy={"scope": ["route", "auth:X-Tenant"]})
        proxy.post('"k"', BODY)
        self.assertTrue(proxy.post('"k"', BODY, fields=[("X-Tenant", "zebra")]).replayed)
        self.service.answer_next(response_bytes(200, b"", [("X-Tenant", "zebra")]))
        self.assertEqual(proxy.post('"k"', BODY).replayed, False)
        self.service.answer_next(response_bytes(200, b"", [("X-Tenant", "")]))
        self.assert_problem(proxy.post('"k"', BODY), "principal-missing")
        self.service.answer_next(response_bytes(204))
        self.assert_problem(proxy.post('"k"', BODY, fields=[("X-Tenant", "acme")]), "principal-missing")
        self.assertEqual(self.app.hits(), 2)

    def test_forwarded_fields_replace_what_the_client_sent(self):
        proxy = self.asked(forward=["X-Tenant", "X-User"])
        proxy.post('"k"', BODY, fields=[("x-tenant", "spoofed"), ("X-USER", "root"), ("X-Other", "the client's")])
        sent = self.app.wait_for(1)
        self.assertEqual((sent.all("X-Tenant"), sent.all("X-User"), sent.all("X-Other")), (["acme"], [], ["the client's"]))
        self.assertEqual((sent.key, sent.body), ('"k"', BODY))

    def test_what_it_is_asked(self):
        """Without content, with the client's credentials, and with the names that such services look for."""
        proxy = self.asked()
        proxy.post('"k"', BODY, target="/pay/7?a=b", fields=[("Authorization", "Bearer x"), ("X-Forwarded-Uri", "/spoofed"),
                                                             ("If-Match", "*"), ("Range", "bytes=0-1")])
        question = self.service.wait_for(1)
        self.assertEqual((question.method, question.target, question.body), ("GET", "/check?for=pay", b""))
        self.assertEqual(question.all("Host"), [f"127.0.0.1:{self.service.port}"])
        for name, value in (("Authorization", "Bearer x"), ("X-Forwarded-Method", "POST"), ("X-Original-Method", "POST"),
                            ("X-Forwarded-Uri", "/pay/7?a=b"), ("X-Original-URI", "/pay/7?a=b"),
                            ("X-Forwarded-Host", "api.example.com"), ("X-Forwarded-Proto", "http"), ("X-Forwarded-For", "127.0.0.1")):
            self.assertEqual(question.all(name), [value], name)
        for name in ("Content-Length", "Content-Type", "If-Match", "Range", "Transfer-Encoding", "Connection"):
            self.assertEqual(question.all(name), [], name)

    def test_the_client_cannot_speak_for_the_proxy(self):
        """Names that some service decides by, in the spellings that servers make one variable with."""
        proxy = self.asked(forward=["X-Tenant"])
        proxy.post('"k"', BODY, target="/pay/7", fields=[
            ("X-Original-URL", "https://free.example/public"), ("X_Original_URL", "https://free.example/public"),
            ("X-Rewrite-URL", "/public"), ("X-Real-IP", "10.0.0.1"), ("X_Forwarded_For", "10.0.0.1"), ("X_Tenant", "zebra"),
            ("Idempotency_Token", "mine"), ("X_Other", "stays")])
        question, sent = self.service.wait_for(1), self.app.wait_for(1)
        self.assertEqual(question.all("X-Original-URL"), ["http://api.example.com/pay/7"])
        self.assertEqual(question.all("X-Real-IP"), ["127.0.0.1"])
        for name in ("X_Original_URL", "X-Rewrite-URL", "X_Forwarded_For", "Idempotency_Token"):
            self.assertEqual(question.all(name), [], name)
        for name in ("X_Forwarded_For", "X_Tenant", "Idempotency_Token"):
            self.assertEqual(sent.all(name), [], name)
        self.assertEqual((sent.all("X-Tenant"), sent.all("X_Other")), (["acme"], ["stays"]))

    def test_trailers_do_not_bring_what_the_head_must_not(self):
        config = self.config(self.app)
        config["routes"][1].update({"authorize": {"url": f"http://127.0.0.1:{self.service.port}", "forward": ["X-Tenant"]},
                                    "headers": {"request": {"remove": ["X-Client-DN"], "set": {"X-In": "1"}}}})
        proxy = self.proxy(config)
        with proxy.connect() as connection:
            connection.send(b"PUT /reports HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
                            b"X-Tenant: zebra\r\nx_client_dn: CN=root\r\nX-In: 2\r\nX-Checksum: 7\r\n\r\n")
            self.assertEqual(connection.receive().status, 201)
        sent = self.app.wait_for(1)
        self.assertEqual(sent.body, b"ok")
        trailers = repr(sent.trailers).lower()
        self.assertIn("x-checksum", trailers)
        for name in ("x-tenant", "x_client_dn", "x-in"):
            self.assertNotIn(name, trailers)
        self.assertEqual((sent.all("X-Tenant"), sent.all("X-In")), (["acme"], ["1"]))

    def test_an_answer_in_drips_is_late_all_the_same(self):
        """`timeout` is for the whole answer."""
        proxy = self.asked(timeout="400ms")
        gates = [Gate() for _ in range(40)]
        drips = [step for gate in gates for step in (gate, b"x")]
        self.service.answer_next(b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n", *drips)
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            for gate in gates:  # each well within the timeout, all of them far beyond it
                gate.set()
                if select.select([connection.sock], [], [], 0.1)[0]:
                    break
            self.assert_problem(connection.receive(), "upstream-timeout")
        self.assertEqual(self.app.hits(), 0)

    def test_whoever_waited_is_asked_about_once_more(self):
        """Access that is withdrawn while a request waits for another's answer is withdrawn."""
        gate = Gate()
        self.app.answer_next(gate, response_bytes(201, b"secret"))
        config = self.route_config(self.app, {"authorize": {"url": f"http://127.0.0.1:{self.service.port}"}},
                                   {"in_flight": {"action": "wait", "wait": "30s"}})
        config["server"]["threads"] = 1
        proxy = self.proxy(config)
        with proxy.connect() as first, proxy.connect() as second:
            first.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            self.app.wait_for(1)
            second.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            wait_until(lambda: self.service.delivered(2), "both have passed")
            self.app.answer(response_bytes(204))
            for _ in range(3):  # on the proxy's one thread: the second has come to its wait by then
                self.assertEqual(proxy.ask("GET", "/other").status, 204)
            self.service.answer(response_bytes(403, b"gone"))
            gate.set()
            self.assertEqual(first.receive().body, b"secret")
            refused = second.receive()
        self.assertEqual((refused.status, refused.body, self.service.hits()), (403, b"gone", 3))

    def test_a_refreshed_replay_shows_nothing_that_a_get_would_not(self):
        """The service is asked about the GET; where it refuses, the answer is the recorded one."""
        self.app.answer_next(response_bytes(201, b"created", [("Location", "/orders/7")]))
        url = f"http://127.0.0.1:{self.service.port}"
        config = self.route_config(self.app, {"authorize": {"url": url}}, {"replay": {"mode": "refresh"}})
        config["routes"][1]["authorize"] = {"url": url}
        proxy = self.proxy(config)
        self.assertEqual(proxy.post('"k"', BODY).body, b"created")
        self.app.answer(response_bytes(200, b"state of now"))
        shown = proxy.post('"k"', BODY)
        self.assertEqual((shown.body, shown.get("Idempotency-Refreshed")), (b"state of now", "true"))
        asked = self.service.requests[-1]
        self.assertEqual((asked.get("X-Forwarded-Method"), asked.get("X-Forwarded-Uri")), ("GET", "/orders/7"))
        self.service.answer_next(response_bytes(200))
        self.service.answer_next(response_bytes(403))
        stored = proxy.post('"k"', BODY)
        self.assertEqual((stored.body, stored.get("Idempotency-Refreshed")), (b"created", "false"))

    def test_only_listed_fields_are_sent_when_there_is_a_list(self):
        proxy = self.asked(headers=["authorization"])
        proxy.post('"k"', BODY, fields=[("Authorization", "Bearer x"), ("Cookie", "a=1"), ("X-Original-Method", "GET")])
        question = self.service.wait_for(1)
        self.assertEqual((question.all("Authorization"), question.all("Cookie"), question.key), (["Bearer x"], [], None))
        self.assertEqual((question.all("X-Forwarded-For"), question.all("X-Original-Method")), (["127.0.0.1"], ["POST"]))

    def test_a_service_that_is_down_lets_nobody_pass(self):
        """Fail closed; the key is not claimed."""
        dead = free_port()
        config = self.route_config(self.app, {"authorize": {"url": f"http://127.0.0.1:{dead}/check"}})
        proxy = self.proxy(config)
        down = proxy.post('"k"', BODY)
        self.assert_problem(down, "upstream-unreachable")
        self.assertIn("authorisation service could not be asked. Nothing was done", down.json()["detail"])
        self.assertEqual(proxy.metric("oncegate_upstream_failures_total", upstream=f"authorize http://127.0.0.1:{dead}", kind="connect"), 1)
        self.upstream(response_bytes(200), port=dead)
        first = wait_until(lambda: (answer := proxy.post('"k"', BODY)).status == 201 and answer, "the service is asked again")
        self.assertFalse(first.replayed)
        self.assertEqual(self.app.hits(), 1)

    def test_an_answer_that_breaks_off_or_never_comes_lets_nobody_pass(self):
        proxy = self.asked(timeout="300ms")
        self.service.answer_next(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", CLOSE)
        self.assert_problem(proxy.post('"k"', BODY), "upstream-unreachable")
        self.service.answer_next(response_bytes(200, b"x" * (64 << 10) + b"x"))
        self.assert_problem(proxy.post('"k"', BODY), "upstream-unreachable")
        gate = Gate()
        self.service.answer_next(gate, response_bytes(200))
        late = proxy.post('"k"', BODY)
        gate.set()
        self.assert_problem(late, "upstream-timeout")
        self.assertIn("Nothing was done", late.json()["detail"])
        self.assertEqual(self.app.hits(), 0)
        self.assertEqual(proxy.post('"k"', BODY).replayed, False)

    def test_it_is_asked_before_the_body_is_invited(self):
        """A client that waits for 100 Continue is refused without its body."""
        proxy = self.asked()
        self.service.answer_next(response_bytes(403, b"no"))
        with proxy.connect() as connection:
            head = request_bytes("POST", "/pay", keyed('"k"', [("Expect", "100-continue"), ("Content-Length", "14")]))
            connection.send(head)
            refused = connection.receive()
        self.assertEqual((refused.status, refused.interim), (403, []))


if __name__ == "__main__":
    unittest.main()

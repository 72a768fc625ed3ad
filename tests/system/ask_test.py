"""`unknown_outcome: ask`: the upstream itself says what became of a request that broke off."""

import unittest
from urllib.parse import unquote

from harness.cases import SystemCase, on_both_stores
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.ports import free_port
from harness.upstream import CLOSE, RESET, Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'
PREFIX = "/payments/by-key/"
POLICY = {"unknown_outcome": "ask", "ask": {"get": PREFIX + "{key}", "done": 200, "not_done": 404}}
FOUND = response_bytes(200, b'{"id":"pay_7","state":"done"}', [("Content-Type", "application/json"), ("X-Payment", "7")])


class Asking(SystemCase):
    def broken(self, key='"k"', policy=None, first=(CLOSE,)):
        """An upstream and a proxy; the request with this key reached the upstream and got no answer."""
        upstream, proxy = self.setup_pair(policy={**POLICY, **(policy or {})})
        upstream.answer_next(*first)
        self.assertGreaterEqual(proxy.post(key, BODY).status, 502)
        return upstream, proxy

    def forwards(self, upstream):
        return [request for request in upstream.requests if request.method == "POST"]

    def questions(self, upstream):
        return [request for request in upstream.requests if request.method == "GET"]


@on_both_stores
class Answers(Asking):
    def test_done(self):
        """[R62][R68] Its answer to the question is the result: given, recorded, replayed, and asked for once."""
        upstream, proxy = self.broken()
        upstream.answer_next(FOUND)
        answer = proxy.post('"k"', BODY)
        self.assertEqual((answer.status, answer.body, answer.get("X-Payment")), (200, b'{"id":"pay_7","state":"done"}', "7"))
        replay = proxy.post('"k"', BODY)
        self.assertTrue(replay.replayed)
        self.assertEqual((replay.status, replay.body, replay.get("X-Payment")), (200, answer.body, "7"))
        self.assertEqual((len(self.forwards(upstream)), len(self.questions(upstream))), (1, 1))

    def test_not_done(self):
        """[R92] The key is free: the request is forwarded as a first one, and its answer is recorded."""
        upstream, proxy = self.broken()
        upstream.answer_next(response_bytes(404, b"never heard of it"))
        answer = proxy.post('"k"', BODY)
        self.assertEqual((answer.status, answer.replayed), (201, False))
        self.assertEqual([request.all("Idempotency-Attempt") for request in self.forwards(upstream)], [[], []])
        self.assert_replay_of(answer, proxy.post('"k"', BODY))
        self.assertEqual((len(self.forwards(upstream)), len(self.questions(upstream))), (2, 1))

    def test_anything_else(self):
        """[R62] No answer that settles it: held, asked again by the next retry, never forwarded."""
        upstream, proxy = self.broken()
        unclear = ((response_bytes(500, b"oops"),), (response_bytes(401, b"who?"),), (response_bytes(202, b"not yet"),), (CLOSE,),
                   (RESET,), (FOUND[:-3], CLOSE), (b"SSH-2.0\r\n\r\n", CLOSE))
        for steps in unclear:
            with self.subTest(steps):
                before = len(self.questions(upstream))
                upstream.answer(*steps)
                self.assert_problem(proxy.post('"k"', BODY), "outcome-unknown")
                # A question may be put again when a kept connection turns out to be dead: it is a GET.
                self.assertIn(len(self.questions(upstream)) - before, (1, 2))
                self.assertEqual(len(self.forwards(upstream)), 1)
        upstream.answer(FOUND)
        self.assertEqual(proxy.post('"k"', BODY).status, 200)

    def test_the_owner_died(self):
        """[R57][R66] The process was killed in mid-request; once its lease is over the next retry asks."""
        gate = Gate()
        upstream, proxy = self.setup_pair(policy={**POLICY, "lease": "1s"})
        upstream.answer_next(gate)
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
            proxy.kill()
        proxy.restart()
        upstream.answer(FOUND)
        answer = self.settle(lambda: proxy.post('"k"', BODY))
        self.assertEqual((answer.status, answer.get("X-Payment")), (200, "7"))
        self.assertEqual((len(self.forwards(upstream)), len(self.questions(upstream))), (1, 1))

    def test_one_question_at_a_time(self):
        """[R56] Retries that come meanwhile are told to come back; they neither ask nor run."""
        gate = Gate()
        upstream, proxy = self.broken()
        upstream.answer_next(gate, FOUND)
        with proxy.connect() as first:
            first.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(2)
            for _ in range(3):
                meanwhile = proxy.post('"k"', BODY)
                self.assertEqual(meanwhile.status, 409)
                self.assertIn(meanwhile.problem(), ("in-flight", "outcome-unknown"))
            gate.set()
            self.assertEqual(first.receive().status, 200)
        self.assertTrue(proxy.post('"k"', BODY).replayed)
        self.assertEqual((len(self.forwards(upstream)), len(self.questions(upstream))), (1, 1))


    def test_who_waits_for_the_answer(self):
        """[R59] Where the route waits, retries that come meanwhile get what was found."""
        gate = Gate()
        upstream, proxy = self.broken(policy={"in_flight": {"action": "wait", "wait": "15s"}})
        upstream.answer_next(gate, FOUND)
        with proxy.connect() as first, proxy.connect() as second:
            first.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(2)
            second.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            wait_until(lambda: proxy.metric("oncegate_requests_in_flight", route="pay") == 2, "the second waits")
            gate.set()
            answer, waited = first.receive(), second.receive()
        self.assertEqual((answer.status, waited.status, waited.body, waited.replayed), (200, 200, answer.body, True))
        self.assertEqual((len(self.forwards(upstream)), len(self.questions(upstream))), (1, 1))


class Questions(Asking):
    def test_the_key_is_percent_encoded(self):
        """Whatever the key holds, it is one segment of the path: what the upstream decodes is the key."""
        keys = {'"a b/c?d#e%f"': "a b/c?d#e%f", '"../x;y=1&z,+"': "../x;y=1&z,+", r'"q\"\\"': 'q"\\', "8e03978e-40d5": "8e03978e-40d5"}
        for value, key in keys.items():
            with self.subTest(value):
                upstream, proxy = self.broken(value)
                upstream.answer_next(FOUND)
                self.assertEqual(proxy.post(value, BODY).status, 200)
                target = self.questions(upstream)[0].target
                self.assertTrue(target.startswith(PREFIX), target)
                segment = target.removeprefix(PREFIX)
                self.assertRegex(segment, r"^[A-Za-z0-9._~!$&'()*+,;=:@%-]+$")
                self.assertEqual(unquote(segment), key)
        self.assertEqual(self.questions(upstream)[0].target, PREFIX + "8e03978e-40d5")

    def test_it_is_asked_with_the_callers_credentials(self):
        """Those of the request that comes back, without its content."""
        upstream, proxy = self.broken()
        upstream.answer_next(FOUND)
        proxy.post('"k"', BODY, fields=[("Authorization", "Bearer second"), ("Cookie", "session=1")])
        question = self.questions(upstream)[0]
        self.assertEqual((question.get("Authorization"), question.get("Cookie")), ("Bearer second", "session=1"))
        self.assertEqual((question.body, question.all("Content-Length"), question.all("Transfer-Encoding")), (b"", [], []))

    def test_which_statuses_say_what(self):
        """A status, a range or a class, as written; {key} may stand in the query."""
        policy = {"ask": {"get": "/status?of={key}", "done": "200-202", "not_done": "4xx"}}
        for status, expected in ((202, (202, None)), (410, (201, None)), (204, (409, "outcome-unknown"))):
            with self.subTest(status):
                upstream, proxy = self.broken(policy=policy)
                upstream.answer_next(response_bytes(status, b"" if status == 204 else b"x"))
                self.assertEqual(proxy.post('"k"', BODY).summary(), expected)
                self.assertEqual(self.questions(upstream)[0].target, "/status?of=k")

    def test_a_gateways_502_is_asked_about(self):
        """[R62][R91] So is every status that leaves the outcome unknown."""
        upstream, proxy = self.broken(first=(response_bytes(504, b"gateway says"),))
        upstream.answer_next(FOUND)
        self.assertEqual(proxy.post('"k"', BODY).status, 200)

    def test_another_request_under_the_key_does_not_ask(self):
        """[R41] It is refused as ever."""
        upstream, proxy = self.broken()
        self.assert_problem(proxy.post('"k"', b"other"), "key-reused")
        self.assertEqual(len(self.questions(upstream)), 0)

    def test_nobody_to_ask(self):
        """[R61][R62] The upstream is away: held; when it is back, asked."""
        port = free_port()
        upstream = self.upstream(CLOSE, port=port)
        proxy = self.proxy(self.config(upstream, POLICY))
        self.assertEqual(proxy.post('"k"', BODY).status, 502)
        upstream.stop()
        self.assert_problem(proxy.post('"k"', BODY), "outcome-unknown")
        back = self.upstream(FOUND, port=port)
        self.assertEqual(proxy.post('"k"', BODY).status, 200)
        self.assertEqual((len(self.forwards(back)), len(self.questions(back))), (0, 1))

    def test_large_answer(self):
        """[R74] What is found may be large: given whole, replayed whole."""
        upstream, proxy = self.broken()
        upstream.answer_next(response_bytes(200, b"x" * 400_000))
        answer = proxy.post('"k"', BODY)
        self.assertEqual((answer.status, len(answer.body)), (200, 400_000))
        replay = proxy.post('"k"', BODY)
        self.assertEqual((replay.replayed, replay.body == answer.body), (True, True))


if __name__ == "__main__":
    unittest.main(verbosity=2)

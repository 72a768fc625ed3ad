"""`kill -9` at every step of an exchange, restart, retry: no second execution under `hold`, always a definite answer."""

import itertools
import random
import unittest

from harness.blocked import blocked_store
from harness.cases import SystemCase, on_both_stores
from harness.client import keyed
from harness.http import Broken, request_bytes, response_bytes
from harness.upstream import Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'
SHORT_LEASE = {"lease": "1s"}


@on_both_stores
class KilledAtEveryStep(SystemCase):
    def assert_held(self, proxy, upstream, key, hits):
        """While the lease stands 409 in-flight, then 409 outcome-unknown, and the upstream sees nothing more."""
        first = proxy.post(key, BODY)
        self.assertIn(first.summary(), {(409, "in-flight"), (409, "outcome-unknown")})
        settled = self.settle(lambda: proxy.post(key, BODY))
        self.assert_problem(settled, "outcome-unknown")
        self.assert_problem(proxy.post(key, BODY), "outcome-unknown")
        if upstream is not None:
            self.assertEqual(upstream.hits(), hits)

    def assert_replayed_or_unknown(self, proxy, upstream, key, body):
        """What was sent to the store before the kill may have reached it or not; nothing runs twice in either case."""
        settled = self.settle(lambda: proxy.post(key, BODY))
        if settled.status == 201:
            self.assertTrue(settled.replayed)
            self.assertTrue(settled.body == body)
            self.assertEqual(settled.all("Idempotency-Recorded"), [])
        else:
            self.assert_problem(settled, "outcome-unknown")
        self.assertEqual(upstream.hits(), 1)

    def begin(self, proxy, key, body=BODY):
        connection = proxy.connect()
        self.addCleanup(connection.close)
        connection.send(request_bytes("POST", "/pay", keyed(key), body))
        return connection

    def test_before_the_claim(self):
        """[R57][R65] Killed while the request's body is still arriving: nothing happened, the retry is the first request."""
        upstream, proxy = self.setup_pair(policy=SHORT_LEASE)
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"early"'), BODY)[:-5])
            # The answer on a second connection shows that the proxy is at work.
            self.assertEqual(proxy.ask("GET", "/").status, 201)
            proxy.kill()
        proxy.restart()
        self.assertEqual(proxy.post('"early"', BODY).summary(), (201, None))
        self.assertTrue(proxy.post('"early"', BODY).replayed)
        self.assertEqual(upstream.hits('"early"'), 1)

    def test_after_the_claim_and_before_the_first_upstream_byte(self):
        """[R57][R66] Killed while the connect to the upstream hangs."""
        upstream = self.deaf_listener()
        proxy = self.proxy(self.config(upstream, SHORT_LEASE, upstreams={"app": {"timeouts": {"connect": "60s"}}}))
        self.begin(proxy, '"claimed"')
        wait_until(lambda: upstream.connects_under_way() > 0, "the proxy connects to the upstream")
        proxy.kill()
        proxy.restart()
        self.assert_held(proxy, None, '"claimed"', hits=0)

    def test_after_the_first_upstream_byte(self):
        """[R57][R62][R66] Killed while the upstream works on the request."""
        upstream, proxy = self.setup_pair(Gate(), policy=SHORT_LEASE)
        self.begin(proxy, '"working"')
        upstream.wait_for(1)
        proxy.kill()
        proxy.restart()
        self.assert_held(proxy, upstream, '"working"', hits=1)

    def test_in_the_middle_of_the_request_to_the_upstream(self):
        """[R62][R66] Killed when the upstream has the head and only part of the body."""
        upstream, proxy = self.setup_pair(policy=SHORT_LEASE)
        upstream.before_body = Gate()
        body = b"x" * (24 << 20)
        self.begin(proxy, '"half"', body)
        upstream.wait_for_head(1)
        proxy.kill()
        proxy.restart()
        settled = self.settle(lambda: proxy.post('"half"', body))
        self.assert_problem(settled, "outcome-unknown")
        self.assertEqual(upstream.hits(), 1)

    def test_after_the_response_and_before_it_is_recorded(self):
        """[R62][R72] Killed while the store does not take the response: never executed again."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"done"), policy=SHORT_LEASE)
        connection = self.begin(proxy, '"answered"')
        upstream.wait_for(1)
        with blocked_store(self):
            gate.set()
            # The client gets its answer in spite of the store, which proves that the response has arrived.
            answer = connection.receive()
            self.assertEqual((answer.status, answer.body), (201, b"done"))
            self.assertEqual(answer.get("Idempotency-Recorded"), "false")
            proxy.kill()
        proxy.restart()
        self.assert_replayed_or_unknown(proxy, upstream, '"answered"', b"done")

    def test_while_the_response_is_being_recorded(self):
        """[R62][R72] Killed with the completion under way: unknown, or recorded and replayed."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"done"), policy=SHORT_LEASE,
                                          store={"timeout": "10s"})
        self.begin(proxy, '"recording"')
        upstream.wait_for(1)
        with blocked_store(self):
            gate.set()
            wait_until(lambda: upstream.delivered(1), "the response is in the proxy's hands")
            proxy.kill()
        proxy.restart()
        self.assert_replayed_or_unknown(proxy, upstream, '"recording"', b"done")

    def test_after_the_response_is_recorded(self):
        """[R57][R74] Killed as soon as the client has the answer: the retry gets the recorded bytes."""
        upstream, proxy = self.setup_pair(response_bytes(201, b"done", [("X-Order", "7")]), policy=SHORT_LEASE)
        first = self.begin(proxy, '"done"').receive()
        proxy.kill()
        proxy.restart()
        self.assert_replay_of(first, proxy.post('"done"', BODY))
        self.assertEqual(upstream.hits(), 1)

    def test_while_the_client_is_being_answered(self):
        """[R62][R87] Killed in the middle of a large answer: cut off for the client, never executed again."""
        body = bytes(range(256)) * (96 << 10)  # 24 MiB: more than the sockets on the way hold
        upstream, proxy = self.setup_pair(response_bytes(201, body), policy=SHORT_LEASE)
        connection = self.begin(proxy, '"answering"')
        self.assertEqual(connection.receive_head().status, 201)
        proxy.kill()
        with self.assertRaises((Broken, ConnectionResetError)):
            connection.input.exactly(len(body))
        proxy.restart()
        self.assert_replayed_or_unknown(proxy, upstream, '"answering"', body)

    def test_during_a_replay(self):
        """[R74] Killed in the middle of a replay: the next one is whole."""
        body = bytes(range(256)) * (96 << 10)
        upstream, proxy = self.setup_pair(response_bytes(201, body), policy=SHORT_LEASE)
        first = proxy.post('"replaying"', BODY)
        connection = self.begin(proxy, '"replaying"')
        self.assertEqual(connection.receive_head().status, 201)
        proxy.kill()
        proxy.restart()
        self.assert_replay_of(first, proxy.post('"replaying"', BODY))
        self.assertEqual(upstream.hits(), 1)

    def test_under_retry_the_key_is_taken_over_after_the_lease(self):
        """[R63][R66] `unknown_outcome: retry` is the explicit policy: the second forward says that it is one."""
        upstream, proxy = self.setup_pair(Gate(), policy={**SHORT_LEASE, "unknown_outcome": "retry"})
        self.begin(proxy, '"again"')
        upstream.wait_for(1)
        proxy.kill()
        upstream.answer(response_bytes(201, b"second"))
        proxy.restart()
        settled = self.settle(lambda: proxy.post('"again"', BODY))
        self.assertEqual((settled.status, settled.body), (201, b"second"))
        self.assertEqual(upstream.wait_for(2).get("Idempotency-Attempt"), "2")
        self.assertEqual(upstream.requests[0].all("Idempotency-Attempt"), [])
        self.assertTrue(proxy.post('"again"', BODY).replayed)
        self.assertEqual(upstream.hits(), 2)

    def test_under_fail_the_retry_gets_a_recorded_failure(self):
        """[R62][R66] `unknown_outcome: fail`: after the lease the failure is the result, and nothing is forwarded."""
        upstream, proxy = self.setup_pair(Gate(), policy={**SHORT_LEASE, "unknown_outcome": "fail"})
        self.begin(proxy, '"failed"')
        upstream.wait_for(1)
        proxy.kill()
        proxy.restart()
        settled = self.settle(lambda: proxy.post('"failed"', BODY))
        self.assertIn(settled.status, (502, 504))
        again = proxy.post('"failed"', BODY)
        self.assertEqual((again.status, again.body, again.replayed), (settled.status, settled.body, True))
        self.assertEqual(upstream.hits(), 1)

    def test_killed_again_and_again_under_load(self):
        """[R56][R57][R62] Ten kills amid bursts of keyed requests; every key runs at most once and has one answer."""
        numbers = itertools.count(1)
        upstream, proxy = self.setup_pair(lambda request: response_bytes(201, b"%d" % next(numbers)), policy=SHORT_LEASE)
        chance = random.Random(10)
        seen = {f'"key-{number}"': set() for number in range(60)}
        for _ in range(10):
            connections = {key: self.begin(proxy, key) for key in chance.sample(list(seen), 30)}
            for key in chance.sample(list(connections), chance.randrange(30)):
                self.note(seen[key], connections[key].receive())
            proxy.kill()
            proxy.restart()
        for key, bodies in seen.items():
            self.note(bodies, self.settle(lambda name=key: proxy.post(name, BODY)))
            self.assertLessEqual(upstream.hits(key), 1, key)
            self.assertLessEqual(len(bodies), 1, key)

    def note(self, bodies, answer):
        """Collects what a key was answered; refusals must be the two that are allowed."""
        if answer.status == 201:
            bodies.add(answer.body)
        else:
            self.assertIn(answer.summary(), {(409, "in-flight"), (409, "outcome-unknown")})


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""A second request while the first runs: refused, made to wait, or told apart."""

import unittest

from harness.cases import OnPostgres, SystemCase, on_both_stores
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.upstream import CLOSE, Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'
WAIT = {"in_flight": {"action": "wait", "wait": "15s"}}


class Flights(SystemCase):
    def begin(self, proxy, key='"k"', body=BODY):
        """Sends and does not wait."""
        connection = proxy.connect()
        self.addCleanup(connection.close)
        connection.send(request_bytes("POST", "/pay", keyed(key), body))
        return connection

    def running(self, policy=None):
        """An upstream that holds its answer, a proxy, and a first request that has reached the upstream."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"first", [("X-Order", "1")]), policy=policy)
        first = self.begin(proxy)
        upstream.wait_for(1)
        return upstream, proxy, first, gate

    def wait_for_in_flight(self, proxy, count):
        """Until the proxy holds so many requests of the route: the later ones have come as far as they can."""
        wait_until(lambda: proxy.metric("oncegate_requests_in_flight", route="pay") >= count, f"{count} requests in flight")


@on_both_stores
class Reject(Flights):
    def test_refused_at_once_with_retry_after(self):
        """[R56][R58] 409 #in-flight and the route's Retry-After, in whole seconds."""
        upstream, proxy, first, gate = self.running({"in_flight": {"retry_after": "2500ms"}})
        refused = proxy.post('"k"', BODY)
        self.assert_problem(refused, "in-flight")
        self.assertEqual(refused.get("Retry-After"), "3")
        gate.set()
        self.assert_replay_of(first.receive(), proxy.post('"k"', BODY))
        self.assertEqual(upstream.hits(), 1)

    def test_other_payload_while_the_first_runs(self):
        """[R53] 422, not 409; the first is undisturbed."""
        upstream, proxy, first, gate = self.running()
        self.assert_problem(proxy.post('"k"', b"other"), "key-reused")
        gate.set()
        self.assert_replay_of(first.receive(), proxy.post('"k"', BODY))
        self.assertEqual(upstream.hits(), 1)

    def test_other_keys_are_not_held_up(self):
        """[R34] Another key runs beside it."""
        upstream, proxy, first, gate = self.running()
        upstream.answer(response_bytes(201, b"other"))
        self.assertEqual(proxy.post('"other"', BODY).body, b"other")
        gate.set()
        self.assertEqual(first.receive().body, b"first")


@on_both_stores
class Wait(Flights):
    def test_waiters_get_the_first_ones_response(self):
        """[R59] Several waiters, one execution, the same bytes."""
        upstream, proxy, first, gate = self.running(WAIT)
        waiters = [self.begin(proxy) for _ in range(5)]
        self.wait_for_in_flight(proxy, 6)
        gate.set()
        original = first.receive()
        for waiter in waiters:
            self.assert_replay_of(original, waiter.receive())
        self.assertEqual(upstream.hits(), 1)

    def test_wait_ends_with_409(self):
        """[R59] Not longer than `wait`, and nothing of the proxy's own making but the refusal."""
        upstream, proxy, first, gate = self.running({"in_flight": {"action": "wait", "wait": "300ms"}})
        self.assert_problem(proxy.post('"k"', BODY), "in-flight")
        gate.set()
        self.assertEqual(first.receive().status, 201)
        self.assertEqual(upstream.hits(), 1)

    def test_waiter_takes_its_turn_after_a_freed_key(self):
        """[R59][R92] The first ended in 429: one of the waiters runs, the others get its response."""
        gate = Gate()
        upstream, proxy = self.setup_pair(policy=WAIT)
        upstream.answer_next(gate, response_bytes(429, b"not now"))
        first = self.begin(proxy)
        upstream.wait_for(1)
        waiters = [self.begin(proxy) for _ in range(3)]
        self.wait_for_in_flight(proxy, 4)
        upstream.answer(response_bytes(201, b"second"))
        gate.set()
        self.assertEqual(first.receive().status, 429)
        answers = [waiter.receive() for waiter in waiters]
        self.assertEqual([answer.body for answer in answers], [b"second"] * 3)
        self.assertEqual(sorted(answer.replayed for answer in answers), [False, True, True])
        self.assertEqual(upstream.hits(), 2)
        self.assertEqual(upstream.requests[1].all("Idempotency-Attempt"), [])

    def test_waiter_learns_that_the_outcome_is_unknown(self):
        """[R59][R62] The first broke off: the waiter is told, not forwarded."""
        gate = Gate()
        upstream, proxy = self.setup_pair(policy=WAIT)
        upstream.answer(gate, CLOSE)
        first = self.begin(proxy)
        upstream.wait_for(1)
        waiter = self.begin(proxy)
        self.wait_for_in_flight(proxy, 2)
        gate.set()
        self.assert_problem(first.receive(), "upstream-failed")
        self.assert_problem(waiter.receive(), "outcome-unknown")
        self.assertEqual(upstream.hits(), 1)

    def test_other_payload_does_not_wait(self):
        """[R53] 422 at once although the route waits."""
        _, proxy, first, gate = self.running(WAIT)
        self.assert_problem(proxy.post('"k"', b"other"), "key-reused")
        gate.set()
        self.assertEqual(first.receive().status, 201)

    def test_waiter_that_goes_away(self):
        """[R59] Leaves nothing behind: the first is answered, the next gets the replay."""
        upstream, proxy, first, gate = self.running(WAIT)
        waiter = self.begin(proxy)
        self.wait_for_in_flight(proxy, 2)
        waiter.reset()
        gate.set()
        self.assert_replay_of(first.receive(), proxy.post('"k"', BODY))
        self.assertEqual(upstream.hits(), 1)


class TwoInstances(OnPostgres, Flights):
    def two(self, policy=None, *steps):
        upstream = self.upstream(*steps)
        config = self.config(upstream, policy)
        return upstream, self.proxy(config, "one"), self.proxy(config, "two")

    def test_rejected_by_the_other_instance(self):
        """[R56][R53] In flight here is in flight there; another payload is told apart there too."""
        gate = Gate()
        upstream, one, two = self.two(None, gate, response_bytes(201, b"first"))
        first = self.begin(one)
        upstream.wait_for(1)
        self.assert_problem(two.post('"k"', BODY), "in-flight")
        self.assert_problem(two.post('"k"', b"other"), "key-reused")
        gate.set()
        self.assert_replay_of(first.receive(), two.post('"k"', BODY))
        self.assertEqual(upstream.hits(), 1)

    def test_waiter_on_the_other_instance(self):
        """[R59] Waits for a request that another process runs, and gets its bytes."""
        gate = Gate()
        upstream, one, two = self.two(WAIT, gate, response_bytes(201, b"first"))
        first = self.begin(one)
        upstream.wait_for(1)
        waiters = [self.begin(two) for _ in range(3)]
        self.wait_for_in_flight(two, 3)
        gate.set()
        original = first.receive()
        for waiter in waiters:
            self.assert_replay_of(original, waiter.receive())
        self.assertEqual(upstream.hits(), 1)

    def test_waiter_on_the_other_instance_takes_its_turn(self):
        """[R59][R92] The key was freed by the other process: the waiter claims afresh."""
        gate = Gate()
        upstream, one, two = self.two(WAIT)
        upstream.answer_next(gate, response_bytes(503, b"down"))
        first = self.begin(one)
        upstream.wait_for(1)
        waiter = self.begin(two)
        self.wait_for_in_flight(two, 1)
        gate.set()
        self.assertEqual(first.receive().status, 503)
        answer = waiter.receive()
        self.assertEqual((answer.status, answer.replayed), (201, False))
        self.assertEqual(upstream.hits(), 2)

    def test_instance_that_dies(self):
        """[R66] Its key becomes unknown for the other one after the lease, not free."""
        upstream, one, two = self.two({"lease": "1s"}, Gate())
        self.begin(one)
        upstream.wait_for(1)
        one.kill()
        self.assert_problem(self.settle(lambda: two.post('"k"', BODY)), "outcome-unknown")
        self.assertEqual(upstream.hits(), 1)

    def test_record_of_one_is_replayed_by_the_other(self):
        """[R74] Small and large bodies."""
        upstream, one, two = self.two()
        for size in (10, 2 << 20):
            upstream.answer(response_bytes(201, b"x" * size))
            self.assert_replay_of(one.post(f'"{size}"'), two.post(f'"{size}"'))


if __name__ == "__main__":
    unittest.main(verbosity=2)

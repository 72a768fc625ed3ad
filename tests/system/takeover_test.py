"""Attempts that lose their key, and those that take it over."""

import signal
import unittest

from harness.cases import OnPostgres, SystemCase, on_both_stores
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.upstream import CLOSE, Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'


class SuspendedOwner(OnPostgres, SystemCase):
    def test_late_completion(self):
        """[R68] The owner's lease passed while it was suspended: the truth that arrives late still completes the record."""
        gate = Gate()
        upstream = self.upstream(gate, response_bytes(201, b"late"))
        config = self.config(upstream, {"lease": "1s"})
        owner = self.proxy(config)
        observer = self.proxy(config)
        with owner.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
            owner.process.send_signal(signal.SIGSTOP)
            try:
                self.assert_problem(self.settle(lambda: observer.post('"k"', BODY)), "outcome-unknown")
                gate.set()
            finally:
                owner.process.send_signal(signal.SIGCONT)
            first = connection.receive()
        self.assertEqual(first.body, b"late")
        replay = wait_until(lambda: (answer := observer.post('"k"', BODY)).status == 201 and answer, "completed late")
        self.assertEqual((replay.body, replay.replayed), (b"late", True))
        self.assertEqual(upstream.hits(), 1)

    def test_late_completion_of_a_key_that_was_taken_over(self):
        """[R68] Under `retry` another instance has taken over and completed: the late result changes nothing."""
        gate = Gate()
        upstream = self.upstream(response_bytes(201, b"second"))
        upstream.answer_next(gate, response_bytes(201, b"late"))
        config = self.config(upstream, {"lease": "1s", "unknown_outcome": "retry"})
        owner, other = self.proxy(config), self.proxy(config)
        with owner.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
            owner.process.send_signal(signal.SIGSTOP)
            try:
                taken_over = self.settle(lambda: other.post('"k"', BODY))
                self.assertEqual((taken_over.status, taken_over.body), (201, b"second"))
                gate.set()
            finally:
                owner.process.send_signal(signal.SIGCONT)
            self.assertEqual(connection.receive().status, 201)
        self.assertEqual(upstream.wait_for(2).get("Idempotency-Attempt"), "2")
        self.assert_replay_of(taken_over, other.post('"k"', BODY))
        self.assert_replay_of(taken_over, self.settle(lambda: owner.post('"k"', BODY)))
        self.assertEqual(upstream.hits(), 2)
        self.assertEqual(owner.metric("oncegate_stale_completions_total", route="pay"), 1)
        self.assertEqual(other.metric("oncegate_takeovers_total", route="pay"), 1)


@on_both_stores
class TakingOver(SystemCase):
    def test_only_one_of_many_takes_over(self):
        """[R56][R63] Fifty retries of an unknown attempt at once: one second attempt, no third."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"second"), policy={"unknown_outcome": "retry"})
        upstream.answer_next(CLOSE)
        self.assert_problem(proxy.post('"k"', BODY), "upstream-failed")
        connections = [proxy.connect() for _ in range(50)]
        for connection in connections:
            self.addCleanup(connection.close)
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
        upstream.wait_for(2)
        gate.set()
        answers = [connection.receive() for connection in connections]
        self.assertEqual([answer.status for answer in answers if not answer.replayed and answer.status != 409], [201])
        self.assertLessEqual({answer.summary() for answer in answers}, {(201, None), (409, "in-flight")})
        self.assertEqual(upstream.hits(), 2)
        self.assertEqual(upstream.requests[1].get("Idempotency-Attempt"), "2")

    def test_other_payload_does_not_take_over(self):
        """[R41][R63] The unknown record keeps its fingerprint."""
        upstream, proxy = self.setup_pair(policy={"unknown_outcome": "retry"})
        upstream.answer_next(CLOSE)
        proxy.post('"k"', BODY)
        self.assert_problem(proxy.post('"k"', b"other"), "key-reused")
        self.assertEqual(upstream.hits(), 1)

    def test_second_attempt_that_never_reaches_the_upstream(self):
        """[R61][R62] Nothing was sent this time, but the first attempt may have acted: unknown, not free."""
        upstream, proxy = self.setup_pair(policy={"unknown_outcome": "retry"})
        upstream.answer_next(CLOSE)
        proxy.post('"k"', BODY)
        upstream.stop()
        self.assert_problem(proxy.post('"k"', BODY), "upstream-unreachable")
        self.assert_problem(proxy.post('"k"', b"other"), "key-reused")
        revived = self.upstream(port=upstream.port)
        self.assertEqual(proxy.post('"k"', BODY).status, 201)
        self.assertIn(revived.requests[0].get("Idempotency-Attempt"), ("2", "3"))


if __name__ == "__main__":
    unittest.main(verbosity=2)

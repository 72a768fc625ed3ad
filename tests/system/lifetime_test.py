"""How long a key lives: ttl, tombstones, renewal of a running request's lease."""

import time
import unittest

from harness.cases import SystemCase, on_both_stores
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.upstream import Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'


@on_both_stores
class Lifetime(SystemCase):
    def test_key_is_free_after_its_ttl(self):
        """[R104][R105][R106] Replays do not extend it; afterwards it is a first request, counted, for any payload."""
        # Remembered after its ttl, so that the removal in the background cannot take away what is to be counted.
        upstream, proxy = self.setup_pair(policy={"lease": "1s", "ttl": "2s", "tombstone": "1h"})
        began = time.monotonic()
        proxy.post('"k"', BODY)
        # Replayed all the time until it expires: each replay must leave the lifetime as it is.
        wait_until(lambda: not proxy.post('"k"', BODY).replayed, "the key expires although it is used")
        self.assertGreaterEqual(time.monotonic() - began, 1.9)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(upstream.hits(), 2)
        self.assertEqual(upstream.requests[1].all("Idempotency-Attempt"), [])
        self.assertEqual(proxy.metric("oncegate_expired_key_retries_total", route="pay"), 1)
        wait_until(lambda: proxy.post('"k"', b"other").status == 201, "free for another payload too")

    def test_tombstone(self):
        """[R102][R106] `after_ttl: reject`: 412 #key-expired, never 410, nothing forwarded."""
        upstream, proxy = self.setup_pair(
            policy={"lease": "1s", "ttl": "1s", "after_ttl": "reject", "tombstone": "1h"})
        proxy.post('"k"', BODY)
        refused = wait_until(lambda: (answer := proxy.post('"k"', BODY)).status != 201 and answer, "the key expires")
        self.assert_problem(refused, "key-expired")
        self.assert_problem(proxy.post('"k"', b"other"), "key-expired")
        self.assertEqual(upstream.hits(), 1)

    def test_tombstone_executed(self):
        """[R106] `after_ttl: execute` with a tombstone: executed again, and counted."""
        upstream, proxy = self.setup_pair(policy={"lease": "1s", "ttl": "1s", "tombstone": "1h"})
        proxy.post('"k"', BODY)
        wait_until(lambda: not proxy.post('"k"', BODY).replayed, "the key expires")
        self.assertEqual(upstream.hits(), 2)
        self.assertEqual(proxy.metric("oncegate_expired_key_retries_total", route="pay"), 1)

    def test_lease_of_a_running_request_is_renewed(self):
        """[R66] The upstream takes several leases long: the key stays in flight and is completed."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"slow"), policy={"lease": "1s"})
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
            began = time.monotonic()
            self.assertEqual(proxy.post('"k"', BODY).summary(), (409, "in-flight"))

            def still_in_flight():
                self.assertEqual(proxy.post('"k"', BODY).summary(), (409, "in-flight"))
                return time.monotonic() - began > 3.5

            wait_until(still_in_flight, "three leases and a half")
            gate.set()
            first = connection.receive()
        self.assertEqual(first.body, b"slow")
        self.assert_replay_of(first, proxy.post('"k"', BODY))
        self.assertEqual(upstream.hits(), 1)

    def test_ttl_does_not_end_a_running_request(self):
        """[R104][R107] Older than its ttl and still in flight: refused, not executed a second time."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"slow"), policy={"lease": "1s", "ttl": "1s"})
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
            began = time.monotonic()

            def still_in_flight():
                self.assertEqual(proxy.post('"k"', BODY).summary(), (409, "in-flight"))
                return time.monotonic() - began > 2.5

            wait_until(still_in_flight, "twice the ttl")
            gate.set()
            self.assertEqual(connection.receive().body, b"slow")
        self.assertEqual(upstream.hits(), 1)

    def test_expired_records_are_removed_in_the_background(self):
        """[R107] Removal is somebody's own work, and counted."""
        _, proxy = self.setup_pair(policy={"lease": "1s", "ttl": "1s"})
        for number in range(50):
            proxy.post(f'"{number}"', BODY)
        wait_until(lambda: proxy.metric("oncegate_reaped_total") >= 50, "expired records are removed", 90)


if __name__ == "__main__":
    unittest.main(verbosity=2)

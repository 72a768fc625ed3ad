"""Large answers on a keyed route: recorded in pieces up to the limit, replayed in pieces, delivered whole beyond it, and
never more of them in memory than a few pieces."""

import hashlib
import unittest

from harness.cases import SystemCase, on_both_stores
from harness.client import keyed
from harness.http import request_bytes
from harness.proxy import sanitized

MIB = 1 << 20


SANITIZED = sanitized()
RECORDED = (24 if SANITIZED else 96) * MIB
OVER_THE_LIMIT = (32 if SANITIZED else 1024) * MIB
GROWTH = (96 if SANITIZED else 24) * MIB


@on_both_stores
class LargeRecords(SystemCase):
    def answers(self, size):
        """201 with `size` bytes, each MiB another, and the SHA-256 of all of them."""
        pieces = [bytes([n % 251]) * MIB for n in range(size // MIB)]
        whole = hashlib.sha256()
        for piece in pieces:
            whole.update(piece)
        return (b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n" % size, *pieces), whole.hexdigest()

    def fetch(self, proxy, key, size):
        """Reads without keeping: the head, and the SHA-256 of the body."""
        seen = hashlib.sha256()
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay/large", keyed(key), b"{}"))
            head = connection.receive_head()
            left = size
            while left > 0:
                if not connection.input.data:
                    self.assertTrue(connection.input.fill(), f"{left} bytes are missing")
                taken = connection.input.take(min(left, len(connection.input.data)))
                seen.update(taken)
                left -= len(taken)
        return head, seen.hexdigest()

    def warmed(self, steps, **policy):
        upstream, proxy = self.setup_pair(policy=policy, store={"timeout": "20s"})
        proxy.ask("POST", "/pay/warm", keyed("warm"), b"{}")
        upstream.answer(*steps)
        return upstream, proxy, proxy.memory_bytes()

    def test_recorded_and_replayed_in_constant_memory(self):
        """[R74] [R84] What is far larger than memory should be is recorded whole and replayed byte for byte."""
        steps, digest = self.answers(RECORDED)
        upstream, proxy, rest = self.warmed(steps, record={"body_limit": "2GiB"})
        first, seen = self.fetch(proxy, "big", RECORDED)
        self.assertEqual((first.status, seen), (201, digest))
        self.assertLess(proxy.memory_peak_bytes() - rest, GROWTH)
        replay, seen = self.fetch(proxy, "big", RECORDED)
        self.assertEqual((replay.status, replay.get("Idempotent-Replayed"), seen), (201, "true", digest))
        self.assertLess(proxy.memory_peak_bytes() - rest, GROWTH)
        self.assertEqual(len(upstream.requests), 2)  # the warm-up, and this one once

    def test_over_the_limit(self):
        """[R86] A GiB is delivered whole and recorded as not replayable; the retry hears so and reaches nobody."""
        steps, digest = self.answers(OVER_THE_LIMIT)
        upstream, proxy, rest = self.warmed(steps, record={"body_limit": "8MiB"})
        first, seen = self.fetch(proxy, "huge", OVER_THE_LIMIT)
        self.assertEqual((first.status, seen), (201, digest))
        self.assertLess(proxy.memory_peak_bytes() - rest, GROWTH)
        self.assert_problem(proxy.ask("POST", "/pay/large", keyed("huge"), b"{}"), "not-replayable")
        self.assertEqual(len(upstream.requests), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""`suspect_window`: the same request under a new key is served, counted and named in the log; it is a client that loses its protection."""

import json
import time
import unittest

from harness.cases import SystemCase
from harness.waiting import wait_until

BODY = b'{"amount":100}'


class Suspects(SystemCase):
    def suspects(self, proxy):
        return proxy.metric("oncegate_suspected_duplicates_total", route="pay")

    def log_lines(self, proxy, hashes):
        """Lines of the program's own log that name all of these."""
        return [line for line in proxy.stderr_text().splitlines() if all(name in line for name in hashes)]

    def test_new_key_for_the_same_request(self):
        """[R40] Served normally, counted, and one line with both key hashes, not the keys."""
        upstream, proxy = self.setup_pair(policy={"suspect_window": "1h"})
        answers = [proxy.post(f'"first-key-{number}"', BODY) for number in (1, 2)]
        seen = [(answer.status, answer.replayed, answer.all("Idempotency-Suspected")) for answer in answers]
        self.assertEqual(seen, [(201, False, [])] * 2)
        self.assertEqual((upstream.hits(), self.suspects(proxy)), (2, 1))
        hashes = [entry["key_hash"] for entry in proxy.access_log(2)]
        self.assertNotEqual(hashes[0], hashes[1])
        line = wait_until(lambda: self.log_lines(proxy, hashes), "a line with both hashes")
        self.assertEqual(len(line), 1)
        json.loads(line[0])
        self.assertNotIn("first-key", proxy.stderr_text())
        self.assertTrue(proxy.post('"first-key-1"', BODY).replayed, "each key keeps its own record")

    def test_what_is_not_suspected(self):
        """Another request, another caller, and a retry with the same key."""
        _, proxy = self.setup_pair(policy={"suspect_window": "1h", "scope": ["route", "header:Authorization"]})
        alice, bob = [("Authorization", "Bearer alice")], [("Authorization", "Bearer bob")]
        proxy.post('"1"', BODY, fields=alice)
        proxy.post('"1"', BODY, fields=alice)
        proxy.post('"2"', b"other", fields=alice)
        proxy.post('"3"', BODY, target="/pay/other", fields=alice)
        proxy.post('"4"', BODY, fields=bob)
        self.assertEqual(self.suspects(proxy), 0)
        proxy.post('"5"', BODY, fields=alice)
        proxy.post('"6"', BODY, fields=alice)
        self.assertEqual(self.suspects(proxy), 2)

    def test_outside_the_window(self):
        """Later than that it is another request that happens to be equal."""
        _, proxy = self.setup_pair(policy={"suspect_window": "1s"})
        proxy.post('"1"', BODY)
        over = time.monotonic() + 1.1
        wait_until(lambda: time.monotonic() > over, "the window is over")
        proxy.post('"2"', BODY)
        self.assertEqual(self.suspects(proxy), 0)

    def test_off_by_default(self):
        """Nothing is looked for unless it is asked for."""
        _, proxy = self.setup_pair()
        for number in range(3):
            proxy.post(f'"{number}"', BODY)
        self.assertEqual(self.suspects(proxy), 0)

    def test_in_shadow_mode_the_client_is_told(self):
        """Its developers look at a trial: the second answer says so, the first and a replayed key do not."""
        upstream, proxy = self.setup_pair(policy={"suspect_window": "1h", "mode": "shadow"})
        told = [proxy.post(key, BODY).all("Idempotency-Suspected") for key in ('"1"', '"2"', '"2"')]
        self.assertEqual(told, [[], ["true"], []])
        self.assertEqual((upstream.hits(), self.suspects(proxy)), (3, 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)

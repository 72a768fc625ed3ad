"""The store is away, slow or lost in the middle: fail closed, keep the answer, never execute twice, come back by itself."""

import time
import unittest

from harness.blocked import blocked_store
from harness.cases import OnPostgres, SystemCase, on_both_stores
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.upstream import Gate
from harness.waiting import wait_until

QUICK = {"timeout": "500ms"}
BODY = b'{"amount":100}'


class Trouble(SystemCase):
    def begin(self, proxy, key='"k"'):
        connection = proxy.connect()
        self.addCleanup(connection.close)
        connection.send(request_bytes("POST", "/pay", keyed(key), BODY))
        return connection

    def until_served(self, proxy, key):
        """Repeats the request until it is answered by the upstream or from the record."""
        return wait_until(lambda: (answer := proxy.post(key, BODY)).status == 201 and answer, "the store is back")

    def assert_not_ready(self, proxy):
        ready = wait_until(lambda: (answer := proxy.admin("/readyz")).status == 503 and answer, "readyz reports the store")
        self.assertTrue(ready.body)
        self.assertEqual(proxy.admin("/healthz").status, 200)


class PostgresAway(OnPostgres, Trouble):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.postgres.ensure_running)

    def test_stopped_before_the_request(self):
        """[R70] 503 #store-unavailable with Retry-After, nothing forwarded; recovery without a restart of the proxy."""
        upstream, proxy = self.setup_pair(store=QUICK)
        proxy.post('"before"', BODY)
        self.postgres.stop()
        for _ in range(3):
            self.assert_problem(proxy.post('"k"', BODY), "store-unavailable")
        self.assertEqual(upstream.hits('"k"'), 0)
        self.assert_not_ready(proxy)
        self.assertEqual(proxy.ask("GET", "/other").status, 201, "plain routes do not need the store")
        self.postgres.start()
        self.assertFalse(self.until_served(proxy, '"k"').replayed)
        self.assertTrue(self.until_served(proxy, '"k"').replayed)
        wait_until(lambda: proxy.admin("/readyz").status == 200, "ready again")
        self.assertEqual(upstream.hits('"k"'), 1)

    def test_away_at_the_start(self):
        """[R70] `store.required: false`: the proxy starts, refuses, and works once the server is there."""
        upstream = self.upstream()
        config = self.config(upstream, store=QUICK)
        self.postgres.stop()
        proxy = self.proxy(config, until="alive")
        self.assert_problem(proxy.post('"k"', BODY), "store-unavailable")
        self.assert_not_ready(proxy)
        self.postgres.start()
        self.assertFalse(self.until_served(proxy, '"k"').replayed)
        self.assertEqual(upstream.hits(), 1)

    def test_pass(self):
        """[R71] `store_down: pass`: forwarded unprotected, marked, counted."""
        upstream, proxy = self.setup_pair(store=QUICK, policy={"store_down": "pass"})
        self.postgres.stop()
        for _ in range(2):
            answer = proxy.post('"k"', BODY)
            self.assertEqual((answer.status, answer.get("Idempotency-Recorded")), (201, "false"))
        self.assertEqual(upstream.hits(), 2)
        self.assertGreater(proxy.metric("oncegate_unrecorded_total", route="pay"), 0)
        self.postgres.start()
        wait_until(lambda: proxy.post('"k"', BODY).replayed, "protected again")

    def test_crash_while_the_upstream_works(self):
        """[R57][R72] The claim survives the server's crash; the answer is delivered, and recorded when it is back."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"done"), store=QUICK)
        first = self.begin(proxy)
        upstream.wait_for(1)
        self.postgres.crash()
        gate.set()
        answer = first.receive()
        self.assertEqual((answer.status, answer.body, answer.get("Idempotency-Recorded")), (201, b"done", "false"))
        self.postgres.start()
        replay = self.until_served(proxy, '"k"')
        self.assertEqual((replay.body, replay.replayed), (b"done", True))
        self.assertEqual(replay.all("Idempotency-Recorded"), [])
        self.assertEqual(upstream.hits(), 1)

    def test_crash_between_requests(self):
        """[R57] Records survive an immediate shutdown of the server."""
        upstream, proxy = self.setup_pair(store=QUICK)
        first = {number: proxy.post(f'"{number}"', BODY) for number in range(20)}
        self.postgres.crash()
        proxy.stop()
        self.postgres.start()
        proxy.restart()
        for number, delivered in first.items():
            self.assert_replay_of(delivered, proxy.post(f'"{number}"', BODY))
        self.assertEqual(upstream.hits(), 20)

    def test_connections_killed_by_the_server(self):
        """[R70][R72] An administrator ends every session: at most some 503, then all is as before."""
        upstream, proxy = self.setup_pair(store=QUICK)
        database = self.store_url().rpartition("/")[2]
        for number in range(5):
            key = f'"{number}"'
            proxy.post(key, BODY)
            self.postgres.sql("postgres", "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                                          f"WHERE datname = '{database}'")
            self.assertTrue(self.until_served(proxy, key).replayed)
        self.assertEqual(upstream.hits(), 5)


@on_both_stores
class StoreThatDoesNotTakeWrites(Trouble):
    def test_claim_is_not_possible(self):
        """[R57][R70] 503 within the store's timeout, nothing forwarded; afterwards the key still gets a definite answer."""
        upstream, proxy = self.setup_pair(store=QUICK, policy={"lease": "1s"})
        with blocked_store(self):
            before = time.monotonic()
            self.assert_problem(proxy.post('"k"', BODY), "store-unavailable")
            self.assertLess(time.monotonic() - before, 8)
            self.assertEqual(upstream.hits(), 0)
        # The claim that was given up may or may not have got through: free, or unknown, but never forwarded by then.
        settled = wait_until(lambda: (answer := proxy.post('"k"', BODY)).summary() in {(201, None), (409, "outcome-unknown")}
                             and answer, "a definite answer")
        self.assertEqual(upstream.hits(), 1 if settled.status == 201 else 0)
        self.assertEqual(self.until_served(proxy, '"fresh"').status, 201)

    def test_response_cannot_be_recorded_for_a_while(self):
        """[R72] The client gets its answer, marked; no retry is executed; it is recorded as soon as that is possible."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"done", [("X-Order", "1")]), store=QUICK)
        first = self.begin(proxy)
        upstream.wait_for(1)
        with blocked_store(self):
            gate.set()
            answer = first.receive()
            self.assertEqual((answer.status, answer.body, answer.get("Idempotency-Recorded")), (201, b"done", "false"))
            retry = proxy.post('"k"', BODY)
            self.assertIn(retry.summary(), {(503, "store-unavailable"), (409, "in-flight")})
        replay = self.until_served(proxy, '"k"')
        self.assertEqual((replay.body, replay.get("X-Order"), replay.replayed), (b"done", "1", True))
        self.assertEqual(replay.all("Idempotency-Recorded"), [])
        self.assertEqual(upstream.hits(), 1)
        self.assertGreater(proxy.metric("oncegate_unrecorded_total", route="pay"), 0)

    def test_renewal_survives_a_short_loss(self):
        """[R66][R72] The store is away for less than a lease while the upstream works: the attempt keeps its key."""
        gate = Gate()
        upstream, proxy = self.setup_pair(store=QUICK, policy={"lease": "20s"})
        upstream.answer_next(gate, response_bytes(201, b"done"))
        first = self.begin(proxy)
        upstream.wait_for(1)
        with blocked_store(self):
            self.assertEqual(proxy.post('"other"', BODY).status, 503)
        gate.set()
        self.assertEqual(first.receive().body, b"done")
        replay = self.until_served(proxy, '"k"')
        self.assertEqual((replay.body, replay.replayed), (b"done", True))
        self.assertEqual(upstream.hits('"k"'), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)

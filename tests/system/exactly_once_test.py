"""Many identical requests at once: one reaches the upstream, the others get 409 or the same bytes."""

import itertools
import unittest

from harness.cases import OnPostgres, SystemCase, on_both_stores
from harness.client import Connection, keyed
from harness.http import request_bytes, response_bytes
from harness.upstream import Gate

CLIENTS = 100
ROUNDS = 50


def unique_answer():
    """A step whose every execution shows: no two bodies are equal."""
    numbers = itertools.count(1)
    return lambda request: response_bytes(201, b'{"execution":%d}' % next(numbers), [("X-Key", request.key)])


class Stampede(SystemCase):
    def run_rounds(self, upstream, ports, allowed, rounds):
        connections = [Connection(ports[number % len(ports)]) for number in range(CLIENTS)]
        self.addCleanup(lambda: [connection.close() for connection in connections])
        for number in range(rounds):
            # Every other round the answer waits until all requests are sent, so that most meet a running one.
            gate = Gate()
            upstream.answer(*([gate] if number % 2 else []), self.numbered)
            key = f'"round-{number}"'
            request = request_bytes("POST", "/pay/once", keyed(key), b'{"amount":100}')
            for connection in connections:
                connection.send(request)
            upstream.wait_for(number + 1)
            gate.set()
            self.check_round(upstream, key, [connection.receive() for connection in connections], allowed)

    def check_round(self, upstream, key, responses, allowed):
        self.assertEqual(upstream.hits(key), 1, key)
        originals = [response for response in responses if response.status == 201 and not response.replayed]
        self.assertEqual(len(originals), 1, key)
        for response in responses:
            self.assertIn(response.summary(), allowed)
            if response.replayed:
                self.assert_replay_of(originals[0], response)
            elif response.status == 409:
                self.assertRegex(response.get("Retry-After"), r"^[1-9][0-9]*$")

    def setUp(self):
        super().setUp()
        self.numbered = unique_answer()


REJECTED_OR_SAME = {(201, None), (409, "in-flight")}


@on_both_stores
class HundredParallelRequests(Stampede):
    def test_one_execution_a_round_and_409_or_the_same_bytes(self):
        """[R56] 100 identical requests at once, 50 rounds."""
        upstream, proxy = self.setup_pair()
        self.run_rounds(upstream, [proxy.port], REJECTED_OR_SAME, ROUNDS)

    def test_waiters_all_get_the_recorded_bytes(self):
        """[R56][R59] The same with `in_flight: wait`: nobody is refused."""
        upstream, proxy = self.setup_pair(policy={"in_flight": {"action": "wait", "wait": "15s"}})
        self.run_rounds(upstream, [proxy.port], {(201, None)}, 10)


class HundredParallelRequestsOnTwoInstances(OnPostgres, Stampede):
    def test_one_execution_a_round_over_both_instances(self):
        """[R56] Half of the requests to each of two instances on one database, 50 rounds."""
        upstream = self.upstream()
        config = self.config(upstream)
        ports = [self.proxy(config, name).port for name in ("one", "two")]
        self.run_rounds(upstream, ports, REJECTED_OR_SAME, ROUNDS)

    def test_waiters_on_both_instances_get_the_recorded_bytes(self):
        """[R56][R59] `in_flight: wait` over two instances."""
        upstream = self.upstream()
        config = self.config(upstream, {"in_flight": {"action": "wait", "wait": "15s"}})
        ports = [self.proxy(config, name).port for name in ("one", "two")]
        self.run_rounds(upstream, ports, {(201, None)}, 10)


if __name__ == "__main__":
    unittest.main(verbosity=2)

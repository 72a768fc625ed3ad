"""Starting, draining, ending."""

import json
import os
import signal
import socket
import unittest

from harness.cases import OnPostgres, SystemCase, on_both_stores
from harness.client import Connection, keyed
from harness.http import request_bytes, response_bytes
from harness.ports import free_port
from harness.proxy import run_command
from harness.upstream import Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'


@on_both_stores
class Drain(SystemCase):
    def test_what_is_in_flight_finishes(self):
        """[R148] SIGTERM: no new work, not ready, the running request is answered and recorded, exit code 0."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"done"), server={"timeouts": {"drain": "15s"}})
        idle, busy = proxy.connect(), proxy.connect()
        self.addCleanup(idle.close)
        self.addCleanup(busy.close)
        upstream.answer_next(response_bytes(200, b"quick"))
        self.assertEqual(idle.ask("GET", "/nothing-keyed").body, b"quick")
        busy.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
        upstream.wait_for(2)
        proxy.terminate()
        wait_until(lambda: proxy.admin("/readyz").status == 503, "not ready while draining")
        self.assertTrue(idle.closed_by_peer())
        gate.set()
        answer = busy.receive()
        self.assertEqual((answer.status, answer.body), (201, b"done"))
        self.assertEqual(proxy.wait(), 0)
        proxy.restart()
        self.assert_replay_of(answer, proxy.post('"k"', BODY))
        self.assertEqual(upstream.hits('"k"'), 1)

    def test_drain_has_an_end(self):
        """[R62][R148] What does not finish within `timeouts.drain` is left as unknown, exit code 0."""
        upstream, proxy = self.setup_pair(Gate(), server={"timeouts": {"drain": "300ms"}}, policy={"lease": "1s"})
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
            proxy.terminate()
            self.assertEqual(proxy.wait(), 0)
        proxy.restart()
        self.assert_problem(self.settle(lambda: proxy.post('"k"', BODY)), "outcome-unknown")
        self.assertEqual(upstream.hits(), 1)

    def test_whoever_waits_for_another_is_told_at_a_drain(self):
        """[R59][R148] A waiter gets its 409 at once, not a closed connection at the end."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"done"), server={"timeouts": {"drain": "20s"}, "threads": 1},
                                          policy={"in_flight": {"action": "wait", "wait": "60s"}})
        with proxy.connect() as first, proxy.connect() as second:
            first.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
            second.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            wait_until(lambda: proxy.metric("oncegate_requests_in_flight", route="pay") == 2, "both are under way")
            proxy.terminate()
            told = second.receive()
            self.assert_problem(told, "in-flight")
            self.assertEqual(told.get("Connection"), "close")
            gate.set()
            self.assertEqual(first.receive().body, b"done")
        self.assertEqual(proxy.wait(), 0)

    def test_new_requests_while_draining(self):
        """[R148] Refused with 503 or not accepted at all, never accepted and left without an answer."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"done"), server={"timeouts": {"drain": "15s"}})
        busy = proxy.connect()
        self.addCleanup(busy.close)
        busy.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
        upstream.wait_for(1)
        proxy.terminate()
        wait_until(lambda: proxy.admin("/readyz").status == 503, "draining")
        try:
            answer = proxy.post('"late"', BODY)
            self.assertEqual(answer.status, 503)
        except (ConnectionRefusedError, ConnectionResetError):
            pass  # the listening socket was gone, or went with what it had not accepted yet
        gate.set()
        self.assertEqual(busy.receive().status, 201)
        self.assertEqual(proxy.wait(), 0)
        self.assertEqual(upstream.hits('"late"'), 0)

    def test_client_that_left_is_waited_for(self):
        """[R64] A drain waits for a forwarded request whose client is gone, and records it."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"done"), server={"timeouts": {"drain": "15s"}})
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
        proxy.terminate()
        wait_until(lambda: proxy.admin("/readyz").status == 503, "draining")
        gate.set()
        self.assertEqual(proxy.wait(), 0)
        proxy.restart()
        self.assertTrue(proxy.post('"k"', BODY).replayed)


class Starting(SystemCase):
    def serve(self, config):
        """Runs `serve` with values for the whole file, to its end."""
        path = os.path.join(self.directory, "run.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return run_command("serve", "-c", path)

    def listening(self, config, port=None, admin_port=None):
        return {**config, "server": {**config["server"], "listeners": [{"bind": f"127.0.0.1:{port or free_port()}"}]},
                "admin": {"bind": f"127.0.0.1:{admin_port or free_port()}"}}

    def test_port_taken(self):
        """Exit code 2 and a message that names the address, for either listener."""
        config = self.config(self.upstream())
        with socket.create_server(("127.0.0.1", 0)) as occupied:
            port = occupied.getsockname()[1]
            for ports in ({"port": port}, {"admin_port": port}):
                done = self.serve(self.listening(config, **ports))
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(f"127.0.0.1:{port}", done.stderr)

    def test_bad_configuration(self):
        """Exit code 1, every error with file, line and column."""
        done = self.serve({"server": {"listners": []}})
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, r"run\.yaml:1:\d+: ")
        done = run_command("serve", "-c", os.path.join(self.directory, "absent.yaml"))
        self.assertEqual(done.returncode, 1, done)

    def test_required_store_that_is_not_there(self):
        """`store.required: true`: exit code 2."""
        url = f"postgresql://postgres@127.0.0.1:{free_port()}/nowhere"
        done = self.serve(self.listening(self.config(self.upstream(), store={"url": url, "required": True})))
        self.assertEqual(done.returncode, 2, done)
        self.assertTrue(done.stderr.strip())
        done = self.serve(self.listening(self.config(self.upstream(), store={
            "url": "sqlite:/nonexistent/directory/x.db", "required": True})))
        self.assertEqual(done.returncode, 2, done)

    def test_interrupt_ends_it_too(self):
        """SIGINT drains and exits 0."""
        _, proxy = self.setup_pair()
        proxy.process.send_signal(signal.SIGINT)
        self.assertEqual(proxy.wait(), 0)

    def test_several_listeners(self):
        """Every bind of the list is served; the same keys are behind them."""
        upstream = self.upstream()
        second = free_port()
        proxy = self.proxy(self.config(upstream, server={"listeners": [{"bind": f"127.0.0.1:{second}"}]}))
        first = proxy.post('"k"', BODY)
        with Connection(second) as connection:
            self.assert_replay_of(first, connection.ask("POST", "/pay", keyed('"k"'), BODY))

    def test_new_database_file(self):
        """A database file that does not exist yet is made, with its schema."""
        _, proxy = self.setup_pair()
        self.assertEqual(proxy.post('"k"', BODY).status, 201)
        self.assertTrue(os.path.exists(self.store_url().removeprefix("sqlite:")))


class StartingOnPostgres(OnPostgres, SystemCase):
    def test_instances_start_at_once_on_an_empty_database(self):
        """All want to migrate; none fails."""
        upstream = self.upstream()
        config = self.config(upstream)
        proxies = [self.proxy(config, f"instance{number}", until="spawned") for number in range(4)]
        for proxy in proxies:
            proxy.wait_for_start("ready")
        first = proxies[0].post('"k"', BODY)
        for proxy in proxies[1:]:
            self.assert_replay_of(first, proxy.post('"k"', BODY))

    def test_schema_of_its_own(self):
        """`store.schema`: two programs in one database do not see each other's keys."""
        upstream = self.upstream()
        proxies = [self.proxy(self.config(upstream, store={"schema": name}), name) for name in ("red", "blue")]
        for proxy in proxies:
            self.assertFalse(proxy.post('"k"', BODY).replayed)
        self.assertEqual(upstream.hits(), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)

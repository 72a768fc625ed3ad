"""What the program does when it is told something by a signal; SIGHUP's reload is in reload_test."""

import os
import signal
import socket
import unittest

from harness.cases import SystemCase
from harness.certificates import Authority
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.ports import free_port
from harness.upstream import Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'


class Signals(SystemCase):
    def test_log_rotation(self):
        """SIGUSR1, or SIGHUP, after the access log was moved away: what comes goes to a new file."""
        log = os.path.join(self.directory, "access.log")
        proxy = self.proxy(self.config(self.upstream(), log={"file": log}))

        def lines(path):
            with open(path, encoding="utf-8") as file:
                return file.read().count("\n")

        for number, signal_number in enumerate((signal.SIGUSR1, signal.SIGHUP)):
            proxy.ask("GET", "/before")
            wait_until(lambda: lines(log) == 1, "the line of before is written")  # the answer comes before its line
            moved = f"{log}.{number}"
            os.rename(log, moved)
            proxy.process.send_signal(signal_number)
            wait_until(lambda: os.path.exists(log), "a new file")
            proxy.ask("GET", "/after")
            wait_until(lambda: lines(log) == 1, "the line of after is in the new file")
            self.assertEqual(lines(moved), 1)
            os.remove(log)
            proxy.process.send_signal(signal.SIGUSR1)
            wait_until(lambda: os.path.exists(log), "a new file")

    def test_sigquit_drains(self):
        """nginx's word for a graceful end."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201, b"done"), server={"timeouts": {"drain": "20s"}})
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
            proxy.process.send_signal(signal.SIGQUIT)
            wait_until(lambda: proxy.admin("/readyz").status == 503, "not ready while draining")
            gate.set()
            self.assertEqual(connection.receive().body, b"done")
        self.assertEqual(proxy.wait(), 0)

    def test_asked_twice_it_ends_at_once(self):
        upstream, proxy = self.setup_pair(Gate(), server={"timeouts": {"drain": "60s"}})
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            upstream.wait_for(1)
            proxy.terminate()
            wait_until(lambda: proxy.admin("/readyz").status == 503, "not ready while draining")
            proxy.terminate()
            self.assertEqual(proxy.wait(), 1)

    def test_silent_tls_connections_do_not_hold_up_the_drain(self):
        """[R148] Nothing is lost with a connection that has not even begun its handshake."""
        files = Authority(self.directory).issue("first.example")
        port = free_port()
        tls = {"certificate": files[0], "private_key": files[1]}
        server = {"threads": 1, "listeners": [{"bind": f"127.0.0.1:{port}", "tls": tls}], "timeouts": {"head": "120s", "drain": "120s"}}
        proxy = self.proxy(self.config(self.upstream(), server=server))
        with socket.create_connection(("127.0.0.1", port), timeout=20):
            wait_until(lambda: proxy.metric("oncegate_connections", side="client") == 1, "it is there")
            proxy.terminate()
            self.assertEqual(proxy.wait(), 0)


if __name__ == "__main__":
    unittest.main()

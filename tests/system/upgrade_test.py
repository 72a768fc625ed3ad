"""WebSocket through a route that opts in: a server and a client of node, echoes both ways, back-pressure, drain."""

import json
import unittest

from harness.cases import SystemCase
from harness.http import request_bytes
from harness.programs import NodeServer, node
from harness.upstream import Gate
from harness.waiting import wait_until

MIB = 1 << 20
ASKS = request_bytes("GET", "/ws/raw", [("Connection", "Upgrade"), ("Upgrade", "websocket")])
SWITCHES = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


class Upgrade(SystemCase):
    def config_for(self, upstream, **sections):
        config = self.config(upstream, **sections)
        config["routes"].insert(1, {"name": "chat", "match": {"path": "/ws/**"}, "upstream": "app", "upgrade": True})
        return config

    def echo_pair(self):
        server = NodeServer("websocket_server.mjs")
        self.addCleanup(server.stop)
        return server, self.proxy(self.config_for(server))

    def test_websocket_echo(self):
        """[R135] Text, a MiB of binary and the closing handshake, through frames of every length form."""
        _, proxy = self.echo_pair()
        for size in (10, 1000, MIB):
            with self.subTest(size):
                said = json.loads(node("websocket_client.mjs", f"http://127.0.0.1:{proxy.port}/ws/echo", size))
                self.assertEqual((said["status"], said["accepted"]), (101, True))
                self.assertEqual(said["echoes"][:2], said["sent"])
        entry = proxy.access_log(3)[2]
        self.assertEqual((entry["route"], entry["status"], entry["outcome"]), ("chat", 101, "passthrough"))
        self.assertGreater(entry["bytes_in"], MIB)
        self.assertGreater(entry["bytes_out"], MIB)

    def test_other_routes(self):
        """[R90][R135] Without the route's consent the server sees an ordinary request."""
        _, proxy = self.echo_pair()
        said = json.loads(node("websocket_client.mjs", f"http://127.0.0.1:{proxy.port}/plain", 10))
        self.assertEqual(said["status"], 426)

    def tunnel(self, upstream, **sections):
        proxy = self.proxy(self.config_for(upstream, **sections))
        connection = proxy.connect()
        self.addCleanup(connection.close)
        connection.send(ASKS)
        self.assertEqual(connection.receive_head().status, 101)
        return proxy, connection

    def test_counted_while_open(self):
        """A tunnel is a request in flight."""
        proxy, connection = self.tunnel(self.upstream(SWITCHES))
        self.assertEqual(proxy.metric("oncegate_requests_in_flight", route="chat"), 1)
        connection.close()
        wait_until(lambda: proxy.metric("oncegate_requests_in_flight", route="chat") == 0, "the tunnel is over")

    def test_drain(self):
        """[R148] A tunnel may go on until `timeouts.drain` is over, and does not keep the program from ending well."""
        proxy, connection = self.tunnel(self.upstream(SWITCHES), server={"timeouts": {"drain": "300ms"}})
        proxy.terminate()
        self.assertTrue(connection.closed_by_peer())
        self.assertEqual(proxy.wait(), 0)

    def test_back_pressure(self):
        """A server that does not read stops the client; the proxy holds a bounded part of what is between them."""
        upstream = self.upstream(SWITCHES, never := Gate())
        self.addCleanup(never.set)
        proxy, connection = self.tunnel(upstream)
        before = proxy.memory_bytes()
        connection.sock.setblocking(False)
        piece, sent, refused = b"x" * MIB, 0, 0
        while refused < 20 and sent < 256 * MIB:
            try:
                sent += connection.sock.send(piece)
                refused = 0
            except BlockingIOError:
                refused += 1
                never.wait(0.01)
        self.assertLess(sent, 256 * MIB)
        self.assertLess(proxy.memory_bytes() - before, 16 * MIB)


if __name__ == "__main__":
    unittest.main(verbosity=2)

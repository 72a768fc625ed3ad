"""Bodies that pass through: constant memory, nothing held back, an early end stays an early end."""

import unittest

from harness.cases import SystemCase
from harness.http import Broken, request_bytes, response_bytes
from harness.upstream import CLOSE, RESET, Gate

MIB = 1 << 20


class Streaming(SystemCase):
    SIZE = 64 * MIB
    GROWTH = 24 * MIB  # far below the body; sanitizers keep freed memory for a while

    def test_large_upload(self):
        """64 MiB and more go through in constant memory."""
        upstream, proxy = self.setup_pair(server={"limits": {"request_body": "1GiB"}})
        proxy.ask("POST", "/warm", (), b"x")
        before = proxy.memory_bytes()
        piece = b"u" * MIB
        with proxy.connect() as connection:
            connection.send(b"POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % self.SIZE)
            highest = 0
            for _ in range(self.SIZE // MIB):
                connection.send(piece)
                highest = max(highest, proxy.memory_bytes())
            self.assertEqual(connection.receive().status, 201)
        self.assertEqual(len(upstream.wait_for(2).body), self.SIZE)
        self.assertLess(highest - before, self.GROWTH)

    def test_large_download(self):
        """The same the other way, by length and chunked, to a reader that is slower than the upstream."""
        piece = b"d" * MIB
        count = self.SIZE // MIB
        by_length = (b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % self.SIZE, *[piece] * count)
        chunk = b"%x\r\n%s\r\n" % (MIB, piece)
        by_chunks = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *[chunk] * count, b"0\r\n\r\n")
        upstream, proxy = self.setup_pair()
        proxy.ask("GET", "/warm")
        before = proxy.memory_bytes()
        for name, steps in (("length", by_length), ("chunked", by_chunks)):
            with self.subTest(name), proxy.connect() as connection:
                upstream.answer(*steps)
                connection.send(request_bytes("GET", "/down"))
                connection.receive_head()
                self.assertLess(proxy.memory_bytes() - before, self.GROWTH)
                received = 0
                while received < self.SIZE:
                    self.assertTrue(connection.input.fill())
                    received += len(connection.input.take(len(connection.input.data)))
                self.assertLess(proxy.memory_bytes() - before, self.GROWTH)

    def test_first_bytes_are_not_held_back(self):
        """A response is passed on as it comes, not when it is whole; so is a request."""
        gate = Gate()
        upstream, proxy = self.setup_pair(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n", gate,
                                          b"4\r\nlate\r\n0\r\n\r\n")
        with proxy.connect() as connection:
            connection.send(request_bytes("GET", "/events"))
            connection.receive_head()
            while b"early" not in connection.input.data:
                self.assertTrue(connection.input.fill())
            gate.set()
            content, _ = connection.input.chunked()
            self.assertEqual(content, b"earlylate")
        with proxy.connect() as connection:
            connection.send(b"POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nfirst")
            upstream.wait_for_head(2)
            connection.send(b"later")
            self.assertEqual(upstream.wait_for(2).body, b"firstlater")
            self.assertEqual(connection.receive("GET").body, b"earlylate")

    def test_large_enforced_upload(self):
        """[R69] An enforced body beyond `limits.memory_body` is spilled, not kept in memory, and arrives whole."""
        upstream, proxy = self.setup_pair()
        proxy.post('"warm"')
        before = proxy.memory_bytes()
        body = bytes(range(256)) * (self.SIZE // 256)
        self.assertEqual(proxy.post('"k"', body).status, 201)
        self.assertTrue(upstream.wait_for(2).body == body)
        self.assertTrue(proxy.post('"k"', body).replayed)
        self.assertLess(proxy.memory_bytes() - before, self.GROWTH)
        self.assertEqual(upstream.hits(), 2)

    def test_cut_off_is_passed_on(self):
        """[R147] What ends early upstream ends early downstream, never cleanly."""
        upstream, proxy = self.setup_pair()
        for end in (CLOSE, RESET):
            for head in (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
                         b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n"):
                with self.subTest(head), proxy.connect() as connection:
                    upstream.answer(head, b"x" * 50_000, end)
                    connection.send(request_bytes("GET", "/cut"))
                    try:
                        response = connection.receive()
                        self.assert_problem(response, "upstream-failed")  # the reset may overtake the head
                    except (Broken, ConnectionResetError):
                        pass


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""A GiB both ways in constant memory, readers and servers that stop, answers that come early."""

import socket
import threading
import unittest

from harness.cases import SystemCase
from harness.http import Buffered, close_quietly, request_bytes
from harness.proxy import sanitized
from harness.waiting import PATIENCE, wait_until

MIB = 1 << 20
PIECE = memoryview(bytes(MIB))
CHUNK = b"%x\r\n" % MIB + bytes(MIB) + b"\r\n"


SANITIZED = sanitized()
SIZE = (64 if SANITIZED else 1024) * MIB
GROWTH = (64 if SANITIZED else 16) * MIB


class BulkUpstream:
    """Reads and writes bodies without keeping them. The path says what: /up, /down, /down/chunked, /refuse."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self.received = self.sent = self.ended = 0
        self._open = []
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        close_quietly(self._listener)
        for connection in self._open:
            close_quietly(connection)

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            source = Buffered(connection)
            while head := source.until(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1]
                if path == b"/refuse":
                    connection.sendall(b"HTTP/1.1 413 No\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
                    return
                if path == b"/up":
                    self._take(connection, source, head)
                    connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
                else:
                    self._give(connection, path)
        except OSError:
            pass
        finally:
            self.ended += 1
            close_quietly(connection)

    def _take(self, connection, source, head):
        held = len(source.data)
        end = bytes(source.take(held))[-5:]
        self.received = held
        chunked = b"chunked" in head
        room = bytearray(MIB)
        while not end.endswith(b"0\r\n\r\n") if chunked else self.received < SIZE:
            count = connection.recv_into(room)
            if count == 0:
                raise ConnectionResetError
            self.received += count
            end = (end + bytes(room[max(0, count - 5):count]))[-5:]

    def _give(self, connection, path):
        chunked = path == b"/down/chunked"
        framing = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % SIZE
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n\r\n")
        self.sent = 0
        for _ in range(SIZE // MIB):
            connection.sendall(CHUNK if chunked else PIECE)
            self.sent += MIB
        if chunked:
            connection.sendall(b"0\r\n\r\n")


class Relay(SystemCase):
    def bulk_pair(self, **server):
        upstream = BulkUpstream()
        self.addCleanup(upstream.stop)
        limits = {"request_body": "2GiB"}
        proxy = self.proxy(self.config(upstream, server={"limits": limits, **server}))
        proxy.ask("POST", "/refuse", (), b"")  # everything that is needed once is there
        self.rest = proxy.memory_bytes()
        return upstream, proxy

    def assert_constant_memory(self, proxy):
        self.assertLess(proxy.memory_peak_bytes() - self.rest, GROWTH)

    def test_upload_by_length(self):
        """A GiB goes up in constant memory."""
        upstream, proxy = self.bulk_pair()
        with proxy.connect() as connection:
            connection.send(b"POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % SIZE)
            for _ in range(SIZE // MIB):
                connection.send(PIECE)
            self.assertEqual(connection.receive().status, 204)
        self.assertEqual(upstream.received, SIZE)
        self.assert_constant_memory(proxy)

    def test_upload_in_chunks(self):
        """The same with chunks, which are made anew."""
        upstream, proxy = self.bulk_pair()
        with proxy.connect() as connection:
            connection.send(b"POST /up HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(SIZE // MIB):
                connection.send(CHUNK)
            connection.send(b"0\r\n\r\n")
            self.assertEqual(connection.receive().status, 204)
        self.assertGreater(upstream.received, SIZE)
        self.assert_constant_memory(proxy)

    def test_download(self):
        """A GiB comes down in constant memory, by length and in chunks."""
        _, proxy = self.bulk_pair()
        for path, smallest in (("/down", SIZE), ("/down/chunked", SIZE + 5)):
            with self.subTest(path), proxy.connect() as connection:
                connection.send(request_bytes("GET", path))
                self.assertEqual(connection.receive_head().status, 200)
                received, room = len(connection.input.data), bytearray(MIB)
                end = bytes(connection.input.data)[-5:]
                while not end.endswith(b"0\r\n\r\n") if "chunked" in path else received < smallest:
                    count = connection.sock.recv_into(room)
                    self.assertGreater(count, 0)
                    received += count
                    end = (end + bytes(room[max(0, count - 5):count]))[-5:]
                self.assertGreaterEqual(received, smallest)
        self.assert_constant_memory(proxy)

    def test_slow_reader(self):
        """A client that reads nothing holds up the upstream, not the proxy's memory; when it goes, so does the
        upstream's connection."""
        upstream, proxy = self.bulk_pair()
        ended = upstream.ended
        with proxy.connect() as connection:
            connection.send(request_bytes("GET", "/down"))
            connection.receive_head()
            seen = []

            def stalled():
                seen.append(upstream.sent)
                return len(seen) > 30 and len(set(seen[-30:])) == 1

            wait_until(stalled, "the upstream is held up")
            self.assertLess(upstream.sent, SIZE)
            self.assert_constant_memory(proxy)
        wait_until(lambda: upstream.ended > ended, "the upstream's connection has ended")

    def test_answer_before_the_body_was_read(self):
        """[R128] A server that refuses a GiB at once is heard by a client that is still sending."""
        _, proxy = self.bulk_pair()
        for framing, piece in ((b"Content-Length: %d" % SIZE, PIECE), (b"Transfer-Encoding: chunked", CHUNK)):
            with self.subTest(framing), proxy.connect() as connection:
                connection.send(b"POST /refuse HTTP/1.1\r\nHost: a\r\n" + framing + b"\r\n\r\n")
                sending = threading.Thread(target=self._send_until_refused, args=(connection, piece), daemon=True)
                sending.start()
                response = connection.receive()
                self.assertEqual((response.status, response.body), (413, b"big"))
                self.assertEqual(response.get("Connection"), "close")
                sending.join(PATIENCE)
                self.assertFalse(sending.is_alive())

    def _send_until_refused(self, connection, piece):
        try:
            for _ in range(SIZE // MIB):
                connection.send(piece)
        except OSError:
            pass


if __name__ == "__main__":
    unittest.main(verbosity=2)

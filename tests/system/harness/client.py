"""A client of one connection that shows exactly what came back."""

import json
import socket

from .http import Broken, Buffered, Head, close_quietly, request_bytes, reset
from .waiting import PATIENCE

# Fields that belong to the connection or to the message's framing, not to the response.
FRAMING = {b"content-length", b"transfer-encoding", b"connection", b"keep-alive"}
MARKER = b"idempotent-replayed"


class Response(Head):
    """A final response: exact head, decoded body, the 1xx heads that came before it."""

    def __init__(self, raw, interim=()):
        super().__init__(raw)
        version, status, *_ = self.start_line.split(b" ", 2)
        self.version = version.decode()
        self.status = int(status)
        self.interim = list(interim)
        self.body = b""
        self.trailers = []

    @property
    def replayed(self):
        return self.get("Idempotent-Replayed") == "true"

    def json(self):
        return json.loads(self.body)

    def problem(self):
        """The fragment of a problem's type: 'in-flight'; None for what is no problem document."""
        if self.get("Content-Type") != "application/problem+json":
            return None
        return self.json()["type"].partition("#")[2]

    def summary(self):
        return (self.status, self.problem())

    def end_to_end(self):
        """Field lines without framing and without the marker, byte for byte and in order."""
        names = ((line.partition(b":")[0].lower(), line) for line in self.lines)
        return [line for name, line in names if name not in FRAMING and name != MARKER]

    def __repr__(self):
        return f"<{self.start_line!r} {self.body[:200]!r}>"


class Connection:
    """One TCP connection to the proxy. Every operation has a deadline."""

    def __init__(self, port, seconds=PATIENCE):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = Buffered(self.sock)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.sock.sendall(data)

    def send_anyway(self, data):
        """Sends to a peer that may have closed already."""
        try:
            self.sock.sendall(data)
        except OSError:
            pass

    def receive_head(self):
        """The next head, 1xx or final; None when the peer closed instead."""
        raw = self.input.until(b"\r\n\r\n")
        return None if raw is None else Response(raw)

    def receive(self, method="POST"):
        """The next final response with its body; Broken when it is cut off, None when the peer closed before it."""
        interim = []
        while (response := self.receive_head()) is not None and 100 <= response.status < 200:
            interim.append(response)
        if response is None:
            return None
        response.interim = interim
        try:
            self._read_body(response, method)
        except Broken as broken:
            broken.message = response
            raise
        except ConnectionResetError:
            raise Broken("reset in the middle of a body", bytes(self.input.data), response) from None
        return response

    def _read_body(self, response, method):
        if method == "HEAD" or response.status in (204, 304):
            return
        if response.all("Transfer-Encoding"):
            assert response.get("Transfer-Encoding") == "chunked", response.raw
            assert not response.all("Content-Length"), "both framings"
            response.body, response.trailers = self.input.chunked()
        elif (length := response.get("Content-Length")) is not None:
            response.body = self.input.exactly(int(length))
        else:
            response.body = self.input.rest()

    def ask(self, method, target, fields=(), body=None):
        self.send(request_bytes(method, target, fields, body))
        return self.receive(method)

    def closed_by_peer(self):
        """Waits for the peer's close or reset; False when it sends something instead."""
        try:
            return not self.input.data and self.sock.recv(1) == b""
        except ConnectionResetError:
            return True

    def finish_sending(self):
        self.sock.shutdown(socket.SHUT_WR)

    def reset(self):
        reset(self.sock)

    def close(self):
        close_quietly(self.sock)


def keyed(key, fields=()):
    """Fields of a JSON POST with this key, given as it goes on the wire."""
    return [("Idempotency-Key", key), ("Content-Type", "application/json"), *fields]

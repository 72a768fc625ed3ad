"""HTTP/1.1 on bytes: heads kept exactly as received, bodies decoded strictly. Nothing is repaired."""

import socket


class Broken(Exception):
    """The peer's message ended early or makes no sense; `received` is what there was of the body."""

    def __init__(self, why, received=b"", message=None):
        super().__init__(why)
        self.received = received
        self.message = message


class Head:
    """A start line and field lines, byte for byte."""

    def __init__(self, raw):
        self.raw = raw
        self.start_line, *self.lines = raw[:-4].split(b"\r\n")

    def pairs(self):
        """(name, value) in order, as spelt, white space around values removed."""
        split = (line.partition(b":") for line in self.lines)
        return [(name, value.strip(b" \t")) for name, _, value in split]

    def all(self, name):
        wanted = name.lower().encode()
        return [value.decode("latin-1") for field, value in self.pairs() if field.lower() == wanted]

    def get(self, name):
        """The one value, None when absent; several lines are a fault of the caller's expectation."""
        values = self.all(name)
        if len(values) > 1:
            raise AssertionError(f"{name} occurs {len(values)} times")
        return values[0] if values else None


class Buffered:
    """A socket with the bytes read ahead of need."""

    def __init__(self, sock):
        self.sock = sock
        self.data = bytearray()

    def fill(self):
        """False at the end of input."""
        piece = self.sock.recv(1 << 18)
        self.data += piece
        return bool(piece)

    def take(self, count):
        taken = bytes(self.data[:count])
        del self.data[:count]
        return taken

    def until(self, mark):
        """Everything up to and with `mark`; None when the input ends cleanly before its first byte."""
        start = 0
        while (at := self.data.find(mark, start)) < 0:
            start = max(0, len(self.data) - len(mark) + 1)
            if not self.fill():
                if not self.data:
                    return None
                raise Broken("input ended in the middle of a head", bytes(self.data))
        return self.take(at + len(mark))

    def exactly(self, count, before=b""):
        while len(self.data) < count:
            if not self.fill():
                raise Broken("input ended in the middle of a body", before + bytes(self.data))
        return self.take(count)

    def rest(self):
        while self.fill():
            pass
        return self.take(len(self.data))

    def chunked(self):
        """(content, trailer lines) of a chunked body."""
        content = bytearray()
        try:
            return self._chunked(content)
        except ConnectionResetError:
            raise Broken("reset in the middle of a body", bytes(content)) from None

    def _chunked(self, content):
        while True:
            line = self.until(b"\r\n")
            if line is None:
                raise Broken("input ended between chunks", bytes(content))
            size = int(line[:-2].split(b";")[0], 16)
            if size == 0:
                break
            content += self.exactly(size, bytes(content))
            if self.exactly(2, bytes(content)) != b"\r\n":
                raise Broken("no CRLF after a chunk", bytes(content))
        trailers = []
        while (line := self.until(b"\r\n")) != b"\r\n":
            if line is None:
                raise Broken("input ended in the trailers", bytes(content))
            trailers.append(line[:-2])
        return bytes(content), trailers


def request_bytes(method, target, fields=(), body=None, host="api.example.com"):
    """One HTTP/1.1 request; `fields` are (name, value) as they go on the wire. A body gets its Content-Length."""
    lines = [f"{method} {target} HTTP/1.1".encode("latin-1"), f"Host: {host}".encode()]
    lines += [name.encode("latin-1") + b": " + as_bytes(value) for name, value in fields]
    if body is not None:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + (body or b"")


def response_bytes(status=201, body=b"", fields=(), reason="Whatever"):
    """One HTTP/1.1 response with Content-Length."""
    lines = [f"HTTP/1.1 {status} {reason}".encode()]
    lines += [name.encode("latin-1") + b": " + as_bytes(value) for name, value in fields]
    if status not in (204, 304):
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def as_bytes(value):
    return value if isinstance(value, bytes) else str(value).encode("latin-1")


def close_quietly(sock):
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    sock.close()


def reset(sock):
    """Closes with RST: what was not read is lost, and the peer knows."""
    import struct

    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()

"""An upstream that records every request's bytes and answers with exactly the bytes it is told to."""

import collections
import fcntl
import socket
import struct
import termios
import threading

from .http import Broken, Buffered, Head, as_bytes, close_quietly, reset, response_bytes
from .waiting import PATIENCE

CLOSE = object()  # a step: an orderly end of the connection
RESET = object()  # a step: the connection is reset


class Gate(threading.Event):
    """A step that holds the answer back until `set()`."""


class Request(Head):
    """A request as it arrived. It counts as executed from its head on; `complete` is set when its body is there."""

    def __init__(self, raw):
        super().__init__(raw)
        self.method, self.target, self.version = self.start_line.decode("latin-1").split(" ")
        self.key = ",".join(self.all("Idempotency-Key")) or None
        self.body = None
        self.trailers = []
        self.complete = threading.Event()


class RecordingUpstream:
    """Answers are sequences of steps: bytes to send, a Gate to wait for, a function of the request giving bytes, CLOSE, RESET."""

    def __init__(self, *steps, port=0):
        self._listener = socket.create_server(("127.0.0.1", port), backlog=512)
        self.port = self._listener.getsockname()[1]
        self.requests = []
        self.bytes_received = 0
        self.before_body = None  # a Gate: the body of a request is not read before it opens
        self._default = steps or (response_bytes(201, b'{"id":"pay_1"}', [("Content-Type", "application/json")]),)
        self._next = collections.deque()
        self._changed = threading.Condition()
        self._connections = set()
        self._answered = 0
        self._stopping = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    # --- what to answer

    def answer(self, *steps):
        """From now on, every request gets these steps."""
        self._default = steps

    def answer_next(self, *steps):
        """The next request that has no answer yet gets these steps, once."""
        self._next.append(steps)

    # --- what happened

    def hits(self, key=None):
        """How many requests came, of all or with this raw key value."""
        with self._changed:
            return sum(1 for request in self.requests if key is None or request.key == key)

    def wait_for(self, count):
        """The request number `count` (from 1), once it is there with its body."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= count, PATIENCE):
                raise AssertionError(f"upstream got {len(self.requests)} requests, not {count}")
            request = self.requests[count - 1]
        if not request.complete.wait(PATIENCE):
            raise AssertionError("the request's body did not arrive at the upstream")
        return request

    def wait_for_head(self, count):
        """The same without waiting for its body."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= count, PATIENCE):
                raise AssertionError(f"upstream got {len(self.requests)} requests, not {count}")
            return self.requests[count - 1]

    def delivered(self, count):
        """True when `count` answers were sent and the peer's system has every byte of them."""
        unsent = struct.Struct("i")
        with self._changed:
            queues = [fcntl.ioctl(connection, termios.TIOCOUTQ, unsent.pack(0)) for connection in self._connections]
            return self._answered >= count and not any(unsent.unpack(queue)[0] for queue in queues)

    # --- life

    def stop(self):
        self._stopping.set()
        close_quietly(self._listener)
        with self._changed:
            connections = list(self._connections)
        for connection in connections:
            close_quietly(connection)

    def _accept(self):
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._changed:
                self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            source = Buffered(connection)
            while (request := self._read(source)) is not None:
                steps = self._next.popleft() if self._next else self._default
                if not self._perform(connection, request, steps):
                    return
        except (OSError, Broken, ValueError):
            pass  # the proxy went away or broke off: what came is recorded, and the test looks at that
        finally:
            with self._changed:
                self._connections.discard(connection)
            close_quietly(connection)

    def _read(self, source):
        try:
            raw = source.until(b"\r\n\r\n")
        except Broken as broken:
            self.bytes_received += len(broken.received)
            raise
        if raw is None:
            return None
        request = Request(raw)
        with self._changed:
            self.bytes_received += len(raw)
            self.requests.append(request)
            self._changed.notify_all()
        if self.before_body is not None:
            self._pass(self.before_body)
        if request.all("Transfer-Encoding"):
            request.body, request.trailers = source.chunked()
        else:
            request.body = source.exactly(int(request.get("Content-Length") or 0))
        request.complete.set()
        return request

    def _perform(self, connection, request, steps):
        """False when the connection has been ended."""
        for step in steps:
            if step is CLOSE:
                return False
            if step is RESET:
                reset(connection)
                return False
            if isinstance(step, threading.Event):
                self._pass(step)
            else:
                connection.sendall(as_bytes(step(request)) if callable(step) else step)
        with self._changed:
            self._answered += 1
        return True

    def _pass(self, gate):
        while not gate.wait(0.05):
            if self._stopping.is_set():
                raise Broken("upstream stopped")


class DeafListener:
    """A port whose queue is full: a connect to it neither succeeds nor fails."""

    def __init__(self):
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(0)
        self.port = self._listener.getsockname()[1]
        self._fillers = []
        while True:
            filler = socket.socket()
            self._fillers.append(filler)
            filler.settimeout(0.3)
            try:
                filler.connect(("127.0.0.1", self.port))
            except TimeoutError:
                break

    def connects_under_way(self):
        """How many sockets are in SYN-SENT towards this port, its own fillers apart."""
        remote = "0100007F:%04X" % self.port
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [line.split() for line in table]
        waiting = [row for row in rows[1:] if row[2] == remote and row[3] == "02"]
        own = sum(1 for filler in self._fillers if f"{filler.getsockname()[1]:04X}" in {row[1][-4:] for row in waiting})
        return len(waiting) - own

    def stop(self):
        for sock in [*self._fillers, self._listener]:
            sock.close()

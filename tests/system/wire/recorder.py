"""An upstream that records raw requests, request by request and connection by connection, and answers with scripted bytes."""

import collections
import socket
import threading

from harness.http import Buffered, Broken, close_quietly, reset
from wire.case import CLOSE, EARLY, READ_BODY, RESET, Split, Trickle
from wire.sockets import send_split, send_trickling

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Exchange:
    """One request as it came. `whole` is set when its body is there to the end."""

    def __init__(self, connection, raw):
        self.connection = connection
        self.raw = raw
        self.start_line, *self.lines = raw[:-4].split(b"\r\n")
        self.content = b""
        self.trailers = []
        self.whole = False

    def values(self, name):
        wanted = name.lower().encode()
        split = (line.partition(b":") for line in self.lines)
        return [value.strip(b" \t") for field, _, value in split if field.lower() == wanted]


class Recorder:
    """Serves one case at a time: `begin`, then whatever the proxy does, then `settle` and `finish`."""

    def __init__(self, patience, port=0):
        self._patience = patience
        self._listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self.port = self._listener.getsockname()[1]
        self._changed = threading.Condition()
        self._answers = collections.deque()
        self._open = {}      # connection number -> socket
        self._busy = set()   # numbers of connections in the middle of a request or its answer
        self._accepted = 0
        self._barrier = None
        self.exchanges = []
        self.touched = False
        threading.Thread(target=self._accept, daemon=True).start()

    def begin(self, answers):
        with self._changed:
            self._answers = collections.deque(answers)
            self.exchanges = []
            self.touched = False

    def settle(self):
        """Waits until no request is half received and no answer half sent; False when that does not come."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._busy, self._patience)

    def finish(self):
        """Takes in everything that was sent up to now, and ends all connections. False when one does not end."""
        # Connections are accepted in the order in which they came: once this one is, those before it are known.
        with socket.socket() as marker:
            marker.bind(("127.0.0.1", 0))
            self._barrier = marker.getsockname()
            marker.connect(("127.0.0.1", self.port))
            with self._changed:
                if not self._changed.wait_for(lambda: self._barrier is None, self._patience):
                    return False
                for connection in self._open.values():
                    try:
                        connection.shutdown(socket.SHUT_RD)  # what has arrived can still be read
                    except OSError:
                        pass
                return self._changed.wait_for(lambda: not self._open, self._patience)

    def stop(self):
        close_quietly(self._listener)

    def _accept(self):
        while True:
            try:
                connection, peer = self._listener.accept()
            except OSError:
                return
            connection.settimeout(self._patience)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._changed:
                if peer == self._barrier:
                    connection.close()
                    self._barrier = None
                    self._changed.notify_all()
                    continue
                self._accepted += 1
                number = self._accepted
                self._open[number] = connection
            threading.Thread(target=self._serve, args=(number, connection), daemon=True).start()

    def _serve(self, number, connection):
        source = Buffered(connection)
        try:
            while self._exchange(number, connection, source):
                pass
        except (OSError, Broken, ValueError):
            pass  # the proxy broke off: what came is recorded
        finally:
            close_quietly(connection)
            with self._changed:
                self._busy.discard(number)
                self._open.pop(number, None)
                self._changed.notify_all()

    def _exchange(self, number, connection, source):
        """One request and its answer; False when the connection is over."""
        if not source.data:
            connection.settimeout(None)
            if not source.fill():
                return False
            connection.settimeout(self._patience)
        with self._changed:
            self._busy.add(number)
            self.touched = True
        raw = source.until(b"\r\n\r\n")
        exchange = Exchange(number, raw)
        with self._changed:
            self.exchanges.append(exchange)
            answer = self._answers.popleft() if self._answers else OK
        steps = answer if isinstance(answer, tuple) else (answer,)
        if not steps or steps[0] != EARLY:
            self._read_body(connection, source, exchange)
        goes_on = self._perform(connection, source, exchange, steps)
        if goes_on and not source.data:  # one that is to end is busy until it has
            with self._changed:
                self._busy.discard(number)
                self._changed.notify_all()
        return goes_on

    def _read_body(self, connection, source, exchange):
        if b"100-continue" in b"".join(exchange.values("Expect")).lower():
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if exchange.values("Transfer-Encoding"):
            exchange.content, exchange.trailers = source.chunked()
        else:
            exchange.content = source.exactly(int((exchange.values("Content-Length") or [b"0"])[0]))
        exchange.whole = True

    def _perform(self, connection, source, exchange, steps):
        for step in steps:
            if step == CLOSE:
                return False
            if step == RESET:
                reset(connection)
                return False
            if step == READ_BODY:
                self._read_body(connection, source, exchange)
            elif isinstance(step, Trickle):
                send_trickling(connection, step.data, self._patience)
            elif isinstance(step, Split):
                send_split(connection, step.data, step.at, self._patience)
            elif step != EARLY:
                connection.sendall(step)
        return True

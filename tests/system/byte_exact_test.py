"""First delivery and replay are equal line by line; the first delivery is what the upstream sent."""

import gzip
import random
import unittest

from harness.cases import SystemCase, on_both_stores
from harness.client import FRAMING, keyed
from harness.http import Head, request_bytes, response_bytes
from harness.upstream import CLOSE

DATE = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
EVERY_BYTE = bytes(range(256))
BINARY = random.Random(7).randbytes(10_000) + b"\0\r\n\r\n0\r\n\r\n" + EVERY_BYTE


def chunked(head, *pieces, trailers=b""):
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + body + b"0\r\n" + trailers + b"\r\n"


HEAD = b"HTTP/1.1 201 Created\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-Case: yes\r\n"

# name -> (steps of the upstream, the body a client must see)
RESPONSES = {
    "gzip body": ((response_bytes(200, gzip.compress(b"hello " * 500, mtime=0),
                                  [DATE, ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]),),
                  gzip.compress(b"hello " * 500, mtime=0)),
    "binary body with NUL bytes": ((response_bytes(201, BINARY, [DATE]),), BINARY),
    "empty body": ((response_bytes(201, b"", [DATE]),), b""),
    "204": ((response_bytes(204, b"", [DATE, ("ETag", '"x"')]),), b""),
    "204 without reason": ((b"HTTP/1.1 204 \r\n\r\n",), b""),
    "five Set-Cookie lines among others": ((response_bytes(201, b"ok", [
        ("Set-Cookie", "a=1; Path=/"), ("Content-Type", "text/plain"), ("set-cookie", "b=2, c"), ("X-One", "1"),
        ("Set-Cookie", "c=3; Expires=Wed, 21 Oct 2037 07:28:00 GMT"), DATE, ("SET-COOKIE", "d=4"), ("X-Two", "2"),
        ("Set-Cookie", "a=1; Path=/")]),), b"ok"),
    "odd spelling and order": ((response_bytes(201, b"ok", [
        ("x-lower", "1"), ("X-UPPER", "2"), ("x-MiXeD-cAsE", "3"), ("ETag", 'W/"1"'), DATE, ("a", "one letter"),
        ("x!#$%&'*+-.^_`|~1", "every token character"), ("Content-type", "text/plain")]),), b"ok"),
    "obs-text, empty and inner-space values": ((response_bytes(201, b"ok", [
        DATE, ("X-Name", b"caf\xe9 \xff\x80"), ("X-Utf8", "é".encode()), ("X-Empty", ""), ("X-Spaces", "a   b\tc"),
        ("X-After-Empty", "1")]),), b"ok"),
    "repeated Link": ((response_bytes(201, b"ok", [
        ("Link", '</a>; rel="next"'), DATE, ("Link", '</b>; rel="prev"'), ("Link", '</a>; rel="next"')]),), b"ok"),
    "chunked": ((chunked(HEAD, b"first\0", b"second", EVERY_BYTE),), b"first\0second" + EVERY_BYTE),
    "chunked in many pieces": ((chunked(HEAD, *[b"%d" % n for n in range(300)]),),
                               b"".join(b"%d" % n for n in range(300))),
    "chunked and empty": ((chunked(HEAD),), b""),
    "chunked with trailers": ((chunked(HEAD, b"x", trailers=b"X-Trailer: 1\r\nSet-Cookie: t=1\r\n"),), b"x"),
    "close-delimited": ((HEAD + b"\r\n", BINARY, CLOSE), BINARY),
    "close-delimited and empty": ((HEAD + b"\r\n", CLOSE), b""),
    "HTTP/1.0": ((b"HTTP/1.0 200 OK\r\nX-Old: 1\r\n\r\nold", CLOSE), b"old"),
    "redirect": ((response_bytes(303, b"see", [DATE, ("Location", "/other?a=%2F#f")]),), b"see"),
    "error": ((response_bytes(500, b"oops", [DATE, ("Content-Type", "text/plain")]),), b"oops"),
    "own marker of the upstream": ((response_bytes(201, b"ok", [DATE, ("Idempotent-Replayed", "true")]),), b"ok"),
    "no Date": ((response_bytes(201, b"ok", [("X-Case", "yes")]),), b"ok"),
}


def upstream_fields(raw):
    """The end-to-end fields of a response as the upstream sent it."""
    head = Head(raw[:raw.index(b"\r\n\r\n") + 4])
    return [(name, value) for name, value in head.pairs() if name.lower() not in FRAMING]


@on_both_stores
class ByteExact(SystemCase):
    def test_first_delivery_and_replay_are_equal_and_come_from_the_upstream(self):
        """[R74][R75][R76][R78][R79][R80][R81][R82][R85][R88] Every kind of response, once and again."""
        upstream, proxy = self.setup_pair()
        for number, (name, (steps, body)) in enumerate(RESPONSES.items()):
            with self.subTest(name):
                upstream.answer(*steps)
                first = proxy.post(f'"case-{number}"')
                self.assertEqual(first.body, body)
                self.assert_fields_of_upstream(first, steps[0])
                again = proxy.post(f'"case-{number}"')
                self.assert_replay_of(first, again)
                self.assert_framing(first)
                self.assert_framing(again)
        self.assertEqual(upstream.hits(), len(RESPONSES))

    def assert_fields_of_upstream(self, first, raw):
        wanted = upstream_fields(raw)
        fields = [(name, value) for name, value in first.pairs() if name.lower() not in FRAMING]
        if b"date" not in [name.lower() for name, _ in wanted]:
            self.assertRegex(first.get("Date"), r"^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
            fields = [(name, value) for name, value in fields if name != b"Date"]
        self.assertEqual(fields, wanted)

    def assert_framing(self, response):
        if response.status == 204:
            self.assertEqual(response.all("Content-Length") + response.all("Transfer-Encoding"), [])
        elif response.all("Transfer-Encoding"):
            self.assertEqual(response.all("Content-Length"), [])
        else:
            self.assertEqual(response.get("Content-Length"), str(len(response.body)))

    def test_replay_has_a_content_length(self):
        """[R76] A chunked original is replayed with its length, and a connection carries on after it."""
        _, proxy = self.setup_pair(chunked(HEAD, b"abc", b"def"))
        proxy.post('"k"')
        with proxy.connect() as connection:
            for _ in range(3):
                replay = connection.ask("POST", "/pay", keyed('"k"'), b'{"amount":100}')
                self.assertEqual((replay.get("Content-Length"), replay.body), ("6", b"abcdef"))

    def test_hop_by_hop_fields_are_neither_delivered_nor_stored(self):
        """[R75][R121] Connection and what it names, and the fixed list."""
        hop = [("Connection", "keep-alive, X-Private"), ("X-Private", "1"), ("Keep-Alive", "timeout=9"), ("Upgrade", "x/1"),
               ("Proxy-Connection", "keep-alive"), ("Proxy-Authenticate", "Basic"), ("Trailer", "X-T"), ("TE", "trailers")]
        _, proxy = self.setup_pair(response_bytes(201, b"ok", [*hop, ("X-Public", "1")]))
        first, replay = proxy.post('"k"'), proxy.post('"k"')
        self.assert_replay_of(first, replay)
        for response in (first, replay):
            self.assertEqual(response.get("X-Public"), "1")
            for name in ("X-Private", "Keep-Alive", "Upgrade", "Proxy-Connection", "Proxy-Authenticate", "Trailer", "TE"):
                self.assertEqual(response.all(name), [], name)

    def test_interim_responses_are_forwarded_once_and_never_stored(self):
        """[R77][R124] 103 before the final response."""
        early = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
        _, proxy = self.setup_pair(early, response_bytes(201, b"ok"))
        first, replay = proxy.post('"k"'), proxy.post('"k"')
        self.assertEqual([interim.status for interim in first.interim], [103])
        self.assertEqual(first.interim[0].get("Link"), "</style.css>; rel=preload")
        self.assertEqual(replay.interim, [])
        self.assert_replay_of(first, replay)

    def test_interim_responses_are_not_sent_to_http_1_0(self):
        """[R124][R127] An HTTP/1.0 client gets the final response only, unchunked, and the connection closes."""
        _, proxy = self.setup_pair(b"HTTP/1.1 103 Early Hints\r\n\r\n", chunked(HEAD, b"abc"))
        with proxy.connect() as connection:
            connection.send(b"POST /pay HTTP/1.0\r\nIdempotency-Key: \"k\"\r\nContent-Length: 2\r\n\r\n{}")
            response = connection.receive()
            self.assertEqual((response.status, response.interim, response.body), (201, [], b"abc"))
            self.assertEqual(response.all("Transfer-Encoding"), [])
            self.assertTrue(connection.closed_by_peer())

    def test_large_bodies(self):
        """[R74][R85] Above what lies in the record itself (256 KiB), and 5 MiB; by length, chunked and close-delimited."""
        upstream, proxy = self.setup_pair()
        for size in (256 << 10, (256 << 10) + 1, 300_000, 5 << 20):
            body = random.Random(size).randbytes(size)
            pieces = [body[at:at + 65_536] for at in range(0, size, 65_536)]
            for name, steps in (("length", (response_bytes(201, body, [DATE]),)), ("chunked", (chunked(HEAD, *pieces),)),
                                ("close", (HEAD + b"\r\n", body, CLOSE))):
                with self.subTest(f"{size} bytes, {name}"):
                    upstream.answer(*steps)
                    key = f'"{name}-{size}"'
                    first, replay = proxy.post(key), proxy.post(key)
                    self.assertTrue(first.body == body)
                    self.assert_replay_of(first, replay)
                    self.assertEqual(upstream.hits(key), 1)

    def test_replay_after_a_restart(self):
        """[R74] Small and large, read back from the store by a new process."""
        upstream, proxy = self.setup_pair()
        first = {}
        for size in (0, 1, 1000, 1 << 20):
            upstream.answer(response_bytes(201, BINARY * (size // len(BINARY)) + EVERY_BYTE[:size % 256],
                                           [DATE, ("Set-Cookie", "a=1"), ("X", b"\xe9"), ("Set-Cookie", "b=2")]))
            first[size] = proxy.post(f'"size-{size}"')
        proxy.stop()
        proxy.restart()
        for size, delivered in first.items():
            self.assert_replay_of(delivered, proxy.post(f'"size-{size}"'))

    def test_over_the_body_limit(self):
        """[R86][R89] Delivered in full, recorded as not replayable, never executed again."""
        body = random.Random(1).randbytes(300_000)
        policy = {"record": {"body_limit": "64KiB"}}
        upstream, proxy = self.setup_pair(policy=policy)
        pieces = [body[at:at + 10_000] for at in range(0, len(body), 10_000)]
        for name, steps in (("length", (response_bytes(201, body),)), ("chunked", (chunked(HEAD, *pieces),))):
            with self.subTest(name):
                upstream.answer(*steps)
                first = proxy.post(f'"{name}"')
                self.assertEqual(first.status, 201)
                self.assertTrue(first.body == body)
                self.assert_problem(self.settle(lambda key=name: proxy.post(f'"{key}"')), "not-replayable")
                self.assertEqual(upstream.hits(f'"{name}"'), 1)
        upstream.answer(response_bytes(201, body[:65_536]))
        proxy.post('"exactly"')
        self.assertTrue(proxy.post('"exactly"').replayed)

    def test_the_request_reaches_the_upstream_as_it_came(self):
        """[R10][R85][R126][R133][R150] Target, end-to-end fields in order and spelling, and content."""
        upstream, proxy = self.setup_pair()
        fields = [("x-lower", "1"), ("Authorization", "Bearer abc"), ("X-Name", b"caf\xe9"), ("Cookie", "a=1"),
                  ("Idempotency-Key", '"k";p=1'), ("X-Repeat", "1"), ("Content-Type", "application/json"),
                  ("x-repeat", "2"), ("Date", DATE[1])]
        target = "/pay/a%2fb/~x?q=%41&q=a+b&&=;"
        proxy.ask("POST", target, fields, BINARY)
        request = upstream.wait_for(1)
        self.assertEqual((request.target, request.get("Host"), request.body), (target, "api.example.com", BINARY))
        sent = [(name.encode(), value if isinstance(value, bytes) else value.encode()) for name, value in fields]
        self.assertEqual([pair for pair in request.pairs() if pair in sent], sent)

    def test_one_kept_connection_serves_all(self):
        """[R74] First deliveries and replays of different framing in turn on one connection."""
        upstream, proxy = self.setup_pair()
        with proxy.connect() as connection:
            for steps, body in [RESPONSES[name] for name in ("chunked", "204", "empty body", "close-delimited", "204")]:
                upstream.answer(*steps)
                key = f'"{upstream.hits()}"'
                for _ in range(2):
                    connection.send(request_bytes("POST", "/pay", keyed(key), b"{}"))
                    self.assertEqual(connection.receive().body, body)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Malformed and ambiguous HTTP: the contract's answer, nothing reaches the upstream, the program keeps working."""

import random
import time
import unittest

from harness.cases import SystemCase
from harness.client import Connection, keyed
from harness.http import Broken, request_bytes

KEY = b'Idempotency-Key: "k"\r\n'
HOST = b"Host: api.example.com\r\n"


def post(*field_lines, body=b"", line=b"POST /pay HTTP/1.1", host=HOST):
    return line + b"\r\n" + host + KEY + b"".join(field + b"\r\n" for field in field_lines) + b"\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked"

# name -> bytes; each is refused with 400 (or a more precise 4xx/5xx) and the connection is closed.
FRAMING_FAULTS = {
    "both framings": post(CHUNKED, b"Content-Length: 5", body=b"0\r\n\r\n"),
    "both framings, length first": post(b"Content-Length: 5", CHUNKED, body=b"0\r\n\r\n"),
    "length list": post(b"Content-Length: 5, 6", body=b"hello"),
    "length list of equals": post(b"Content-Length: 5, 5", body=b"hello"),
    "two different lengths": post(b"Content-Length: 5", b"Content-Length: 6", body=b"hello!"),
    "two equal lengths": post(b"Content-Length: 5", b"Content-Length: 5", body=b"hello"),
    "plus sign": post(b"Content-Length: +5", body=b"hello"),
    "minus sign": post(b"Content-Length: -1", body=b"hello"),
    "hexadecimal length": post(b"Content-Length: 0x5", body=b"hello"),
    "empty length": post(b"Content-Length: ", body=b"hello"),
    "length beyond 64 bits": post(b"Content-Length: 18446744073709551621", body=b"hello"),
    "length with a space": post(b"Content-Length: 1 5", body=b"hello"),
    "gzip coding": post(b"Transfer-Encoding: gzip", body=b"hello"),
    "identity coding": post(b"Transfer-Encoding: identity", body=b"hello"),
    "chunked, gzip": post(b"Transfer-Encoding: chunked, gzip", body=b"0\r\n\r\n"),
    "gzip, chunked": post(b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"),
    "chunked twice": post(b"Transfer-Encoding: chunked, chunked", body=b"0\r\n\r\n"),
    "chunked on two lines": post(CHUNKED, CHUNKED, body=b"0\r\n\r\n"),
    "xchunked": post(b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n"),
    "quoted chunked": post(b'Transfer-Encoding: "chunked"', body=b"0\r\n\r\n"),
    "chunked with parameter": post(b"Transfer-Encoding: chunked;q=1", body=b"0\r\n\r\n"),
    "empty coding": post(b"Transfer-Encoding: ", body=b"0\r\n\r\n"),
    "coding after a vertical tab": post(b"Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n"),
    "chunked in HTTP/1.0": post(CHUNKED, body=b"0\r\n\r\n", line=b"POST /pay HTTP/1.0"),
}

HEAD_FAULTS = {
    "no Host": post(host=b""),
    "two Hosts": post(host=HOST + b"Host: other.example\r\n"),
    "two equal Hosts": post(host=HOST + HOST),
    "invalid Host": post(host=b"Host: a b\r\n"),
    "Host with a path": post(host=b"Host: a/b\r\n"),
    "space before the colon": post(b"X-A : 1"),
    "tab before the colon": post(b"Content-Length\t: 0"),
    "obs-fold": post(b"X-A: 1\r\n  folded"),
    "field line beginning with a space, first": post(host=b" X: 1\r\n" + HOST),
    "bare CR in a value": post(b"X-A: 1\rX-B: 2"),
    "bare LF line end": post(b"X-A: 1\nX-B: 2"),
    "NUL in a value": post(b"X-A: a\0b"),
    "control character in a value": post(b"X-A: a\x01b"),
    "DEL in a value": post(b"X-A: a\x7fb"),
    "NUL in a name": post(b"X\0A: b"),
    "no colon": post(b"X-A"),
    "empty name": post(b": 1"),
    "bad name character": post(b"X(A): 1"),
    "no target": post(line=b"POST HTTP/1.1"),
    "space in the target": post(line=b"POST /pay here HTTP/1.1"),
    "two spaces": post(line=b"POST  /pay HTTP/1.1"),
    "control in the target": post(line=b"POST /pa\x01y HTTP/1.1"),
    "fragment in the target": post(line=b"POST /pay#x HTTP/1.1"),
    "relative target": post(line=b"POST pay HTTP/1.1"),
    "asterisk with POST": post(line=b"POST * HTTP/1.1"),
    "bad method": post(line=b"PO(ST /pay HTTP/1.1"),
    "lower-case protocol": post(line=b"POST /pay http/1.1"),
    "bad version": post(line=b"POST /pay HTTP/1.x"),
    "future version": post(line=b"POST /pay HTTP/3.0"),
    "ancient version": b"POST /pay\r\n\r\n",
    "connect": b"CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n",
    "TLS hello": bytes.fromhex("16030100c8010000c40303") + bytes(190) + b"\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}

BODY_FAULTS = {
    "bad chunk size": post(CHUNKED, body=b"x\r\nhello\r\n0\r\n\r\n"),
    "empty chunk size": post(CHUNKED, body=b"\r\nhello\r\n0\r\n\r\n"),
    "negative chunk size": post(CHUNKED, body=b"-5\r\nhello\r\n0\r\n\r\n"),
    "0x chunk size": post(CHUNKED, body=b"0x5\r\nhello\r\n0\r\n\r\n"),
    "chunk size overflow": post(CHUNKED, body=b"10000000000000005\r\nhello\r\n0\r\n\r\n"),
    "no CRLF after a chunk": post(CHUNKED, body=b"5\r\nhelloXX0\r\n\r\n"),
    "bare LF after the size": post(CHUNKED, body=b"5\nhello\r\n0\r\n\r\n"),
    "space after the size": post(CHUNKED, body=b"5 \r\nhello\r\n0\r\n\r\n"),
    "over-long extension": post(CHUNKED, body=b"5;" + b"x" * 100_000 + b"\r\nhello\r\n0\r\n\r\n"),
    "over-long trailers": post(CHUNKED, body=b"0\r\n" + b"X: y\r\n" * 50_000 + b"\r\n"),
    "malformed trailer": post(CHUNKED, body=b"0\r\nno colon\r\n\r\n"),
}

PRECISE = {400, 405, 408, 413, 414, 431, 501, 505}


class RefusedInput(SystemCase):
    def setUp(self):
        super().setUp()
        self.app, self.front = self.setup_pair()

    def tearDown(self):
        # Whatever came before: the program serves the next client.
        if self.front.running():
            self.assertEqual(self.front.post('"afterwards"').status, 201)
        super().tearDown()

    def refused(self, data):
        with self.front.connect() as connection:
            connection.send_anyway(data)
            response = connection.receive()
            self.assertIsNotNone(response, "closed without an answer")
            self.assertIn(response.status, PRECISE)
            self.assert_problem(response, response.problem(), response.status)
            self.assertTrue(connection.closed_by_peer(), "connection stays open after bad framing")
        self.assertEqual(self.app.bytes_received, 0)
        return response

    def refused_each(self, faults):
        for name, data in faults.items():
            with self.subTest(name):
                self.refused(data)

    def test_framing_faults(self):
        """[R114][R115][R116] Every ambiguous or unknown framing."""
        self.refused_each(FRAMING_FAULTS)

    def test_head_faults(self):
        """[R118][R119][R135] Every malformed head."""
        self.refused_each(HEAD_FAULTS)

    def test_body_faults(self):
        """[R117] Every malformed chunked body, and nothing is stored under its key."""
        self.refused_each(BODY_FAULTS)

    def test_the_same_faults_on_a_plain_route(self):
        """[R114][R115][R116][R118][R119] Head and framing are checked alike where nothing is enforced."""
        self.refused_each({name: data.replace(b" /pay ", b" /other ") for name, data in
                           (FRAMING_FAULTS | HEAD_FAULTS).items()})

    def test_smuggled_request_is_never_read(self):
        """[R114][R116] What follows a refused message is not taken for a request."""
        hidden = b"POST /hidden HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
        for framing in (b"Transfer-Encoding: gzip", b"Transfer-Encoding: xchunked", b"Content-Length: 0\r\nContent-Length: 5"):
            self.refused(post(framing, body=hidden))

    def test_close_follows_the_answer_at_once(self):
        """[R128] Sending ends with the answer, in one go; only the reading side lingers."""
        for data in (FRAMING_FAULTS["both framings"], HEAD_FAULTS["no Host"], BODY_FAULTS["bad chunk size"]):
            began = time.monotonic()
            self.refused(data)
            self.assertLess(time.monotonic() - began, 1.5)

    def test_plain_bad_request_is_400(self):
        """[R114] The contract's status and type."""
        self.assert_problem(self.refused(FRAMING_FAULTS["both framings"]), "bad-request")
        self.assert_problem(self.refused(HEAD_FAULTS["no Host"]), "bad-request")

    def test_random_garbage(self):
        """[R119] Seeded random bytes and damaged requests: an answer or a close, within the deadline."""
        chance = random.Random(20)
        good = request_bytes("POST", "/pay", keyed('"g"'), b'{"amount":1}')
        for number in range(300):
            data = bytearray(chance.randbytes(chance.randint(1, 400)) if number % 3 == 0 else good)
            if number % 3:
                for _ in range(chance.randint(1, 8)):
                    data[chance.randrange(len(data))] = chance.choice(b"\0\r\n :;,\"\x80\xff" + bytes([chance.randrange(256)]))
            with self.front.connect() as connection:
                connection.send_anyway(bytes(data))
                connection.finish_sending()
                try:
                    while connection.receive() is not None:
                        pass
                except (Broken, OSError, ValueError) as fault:
                    self.assertNotIsInstance(fault, TimeoutError, bytes(data))

    def test_garbage_on_the_admin_listener(self):
        """Seeded random bytes there: an answer or a close, and the listener stays of use."""
        chance = random.Random(21)
        for number in range(100):
            data = chance.randbytes(chance.randint(1, 300))
            with Connection(self.front.admin_port) as connection:
                connection.send_anyway(b"GET /" + data.hex().encode() + b"\r\n\r\n" if number % 2 else data)
                connection.finish_sending()
                try:
                    while connection.receive() is not None:
                        pass
                except (Broken, OSError, ValueError) as fault:
                    self.assertNotIsInstance(fault, TimeoutError, data)
        self.assertEqual(self.front.admin("/readyz").status, 200)


class Limits(SystemCase):
    def test_head_too_large(self):
        """[R131] Over `limits.request_head`: 431 #head-too-large."""
        upstream, proxy = self.setup_pair(server={"limits": {"request_head": "8KiB"}})
        many = [("X-Field", "v" * 100)] * 100
        for fields in ([("X-Big", "v" * 9000)], many):
            self.assert_problem(proxy.post('"k"', fields=fields), "head-too-large")
        self.assertEqual(upstream.bytes_received, 0)
        self.assertEqual(proxy.post('"k"', fields=[("X-Fits", "v" * 6000)]).status, 201)

    def test_target_length(self):
        """[R131] 8000 octets are supported; far more is 414 (or 431)."""
        upstream, proxy = self.setup_pair()
        self.assertEqual(proxy.post('"k"', target="/pay?" + "q" * 7990).status, 201)
        self.assertIn(proxy.post('"k2"', target="/pay?" + "q" * 40_000).status, (414, 431))
        self.assertIn(proxy.post('"k3"', target="/pay?" + "q" * 100_000).status, (414, 431))
        self.assertEqual(upstream.hits(), 1)

    def test_body_too_large(self):
        """[R131] Over `limits.request_body`: 413 before a record exists, by length and chunked."""
        upstream, proxy = self.setup_pair(server={"limits": {"request_body": "64KiB"}})
        big = b"x" * 65_537
        self.assert_problem(proxy.post('"k"', big), "body-too-large")
        with proxy.connect() as connection:
            connection.send_anyway(post(CHUNKED, body=b"10001\r\n" + big + b"\r\n0\r\n\r\n"))
            self.assert_problem(connection.receive(), "body-too-large")
        self.assertEqual(upstream.bytes_received, 0)
        self.assertEqual(proxy.post('"k"', big[1:]).status, 201)

    def test_expect_continue(self):
        """[R123] 100 at once for a head that is fine; 413 and 400 without reading the body; other expectations 417."""
        upstream, proxy = self.setup_pair(server={"limits": {"request_body": "64KiB"}})
        expect = b"Expect: 100-continue"
        with proxy.connect() as connection:
            connection.send(post(expect, b"Content-Length: 5"))
            self.assertEqual(connection.receive_head().status, 100)
            connection.send(b"hello")
            response = connection.receive()
            self.assertEqual((response.status, response.interim), (201, []))
        with proxy.connect() as connection:
            connection.send(post(expect, b"Content-Length: 70000"))
            response = connection.receive()
            self.assert_problem(response, "body-too-large")
            self.assertEqual(response.interim, [])
        with proxy.connect() as connection:
            connection.send(post(b"Expect: the-unexpected", b"Content-Length: 5", body=b"hello"))
            self.assertEqual(connection.receive().status, 417)
        with proxy.connect() as connection:
            connection.send(post(expect, b"Content-Length: 5", line=b"POST /pay HTTP/1.1").replace(KEY, b""))
            response = connection.receive()
            self.assert_problem(response, "key-missing")
            self.assertEqual(response.interim, [])
        self.assertEqual(upstream.hits(), 1)
        self.assertEqual(upstream.requests[0].all("Expect"), [])

    def test_slow_head_and_slow_body(self):
        """[R148] A head or body that stops coming ends the connection, and nothing is forwarded."""
        upstream, proxy = self.setup_pair(server={"timeouts": {"head": "300ms", "body_idle": "300ms", "keep_alive": "300ms"}})
        for beginning in (b"POST /pay HTT", b"", post(b"Content-Length: 5", body=b"he")):
            with self.subTest(beginning), Connection(proxy.port) as connection:
                connection.send(beginning)
                while connection.receive() is not None:
                    pass
        self.assertEqual(upstream.bytes_received, 0)
        self.assertEqual(proxy.post('"k"').status, 201)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Sizes, times and expectations: what is too large, too slow or not asked for."""

import unittest

from harness.cases import SystemCase
from harness.client import Connection
from malformed import CHUNKED, KEY, post


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


class Times(SystemCase):
    def test_keep_alive(self):
        """`timeouts.keep_alive`: between two requests, and without a word."""
        _, proxy = self.setup_pair(server={"timeouts": {"keep_alive": "300ms", "head": "120s"}})
        with proxy.connect() as connection:
            self.assertEqual(connection.ask("GET", "/plain").status, 201)
            self.assertTrue(connection.closed_by_peer())

    def test_half_a_head(self):
        """`timeouts.head`: from its first byte on; 408, and the connection ends."""
        upstream, proxy = self.setup_pair(server={"timeouts": {"keep_alive": "120s", "head": "300ms"}})
        with proxy.connect() as connection:
            self.assertEqual(connection.ask("GET", "/plain").status, 201)
            connection.send(b"GET /plain HTTP/1.1\r\nHost: a\r\n")
            answer = connection.receive("GET")
            self.assertEqual((answer.status, answer.get("Connection").lower()), (408, "close"))
            self.assertTrue(connection.closed_by_peer())
        self.assertEqual(upstream.hits(), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Clients that leave, and requests that never become whole."""

import unittest

from harness.cases import SystemCase, on_both_stores
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.upstream import Gate
from harness.waiting import wait_until


@on_both_stores
class GoneClients(SystemCase):
    def test_client_that_goes_away(self):
        """[R64] Its request goes on and is recorded; the retry gets the answer."""
        for leave in ("close", "reset", "finish_sending"):
            with self.subTest(leave):
                gate = Gate()
                upstream, proxy = self.setup_pair(gate, response_bytes(201, b"finished"))
                with proxy.connect() as connection:
                    connection.send(request_bytes("POST", "/pay", keyed('"k"'), b'{"amount":100}'))
                    upstream.wait_for(1)
                    getattr(connection, leave)()
                    self.assertEqual(proxy.post('"k"').summary(), (409, "in-flight"))
                    gate.set()
                    answer = self.settle(lambda front=proxy: front.post('"k"'))
                self.assertEqual((answer.status, answer.body, answer.replayed), (201, b"finished", True))
                self.assertEqual(upstream.hits(), 1)

    def test_client_that_goes_away_in_a_large_response(self):
        """[R64] The whole response is recorded although its reader left in the middle."""
        body = bytes(range(256)) * (32 << 10)
        gate = Gate()
        upstream, proxy = self.setup_pair(response_bytes(201, body)[:2 << 20], gate, response_bytes(201, body)[2 << 20:])
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), b'{"amount":100}'))
            upstream.wait_for(1)
            connection.reset()
        gate.set()
        answer = self.settle(lambda: proxy.post('"k"'))
        self.assertEqual((answer.status, answer.replayed, answer.body == body), (201, True, True))
        self.assertEqual(upstream.hits(), 1)

    def test_short_body(self):
        """[R65] A body that ends early is not forwarded and leaves no record."""
        upstream, proxy = self.setup_pair()
        beginnings = [request_bytes("POST", "/pay", keyed('"k"'), b'{"amount":100}')[:-1],
                      b"POST /pay HTTP/1.1\r\nHost: a\r\nIdempotency-Key: \"k\"\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"]
        for beginning in beginnings:
            with proxy.connect() as connection:
                connection.send(beginning)
                connection.finish_sending()
                answer = connection.receive()
                if answer is not None:
                    self.assertEqual(answer.status // 100, 4)
        self.assertEqual(upstream.bytes_received, 0)
        answer = proxy.post('"k"', b'{"another":"payload"}')
        self.assertEqual((answer.status, answer.replayed), (201, False))

    def test_many_clients_gone_at_once(self):
        """[R64] A hundred abandoned requests are all recorded."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, lambda request: response_bytes(201, request.body))
        for number in range(100):
            connection = proxy.connect()
            connection.send(request_bytes("POST", "/pay", keyed(f'"k{number}"'), b"%d" % number))
            connection.close()
        wait_until(lambda: upstream.hits() == 100, "all requests at the upstream")
        gate.set()
        for number in range(100):
            answer = self.settle(lambda key=number: proxy.post(f'"k{key}"', b"%d" % key))
            self.assertEqual((answer.status, answer.replayed, answer.body), (201, True, b"%d" % number))
        self.assertEqual(upstream.hits(), 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Malformed and ambiguous HTTP: the contract's answer, nothing reaches the upstream, the program keeps working."""

import random
import time
import unittest

from harness.cases import SystemCase
from harness.client import Connection, keyed
from harness.http import Broken, request_bytes
from malformed import BODY_FAULTS, FRAMING_FAULTS, HEAD_FAULTS, post

PRECISE = {400, 405, 408, 413, 414, 431, 501, 505}


class RefusedInput(SystemCase):
    def setUp(self):
        super().setUp()
        self.app, self.front = self.setup_pair()

    def tearDown(self):
        # Whatever came before: the program serves the next client.
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

    def test_body_faults_on_a_plain_route(self):
        """[R117] A streamed body that turns out malformed: an answer or a cut, and at once; no connection is kept by it."""
        for name, data in BODY_FAULTS.items():
            with self.subTest(name), self.front.connect() as connection:
                connection.send_anyway(data.replace(b" /pay ", b" /other "))
                response = connection.receive()
                if response is not None:
                    self.assertIn(response.status, PRECISE)
                self.assertTrue(connection.closed_by_peer(), "connection stays open after bad framing")

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


if __name__ == "__main__":
    unittest.main(verbosity=2)

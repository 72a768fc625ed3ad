"""The connection itself: keep-alive, pipelining, what has no body, slow readers, overload."""

import socket
import threading
import unittest

from harness.cases import SystemCase
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.ports import free_port
from harness.upstream import Gate
from harness.waiting import PATIENCE, wait_until

BODY = b'{"amount":100}'
MIB = 1 << 20


class Connections(SystemCase):
    def test_keep_alive(self):
        """Many requests of every kind on one connection; the upstream's connection is kept as well."""
        upstream, proxy = self.setup_pair(response_bytes(201, b"x" * 100))
        with proxy.connect() as connection:
            for number in range(50):
                target, fields = ("/pay", keyed(f'"k{number % 10}"')) if number % 2 else ("/plain", ())
                self.assertEqual(connection.ask("POST", target, fields, BODY).status, 201)
            connection.send(request_bytes("POST", "/plain", [("Connection", "close")], BODY))
            last = connection.receive()
            self.assertEqual(last.get("Connection").lower(), "close")
            self.assertTrue(connection.closed_by_peer())

    def test_http_1_0(self):
        """[R127] Closed after the response unless asked to keep it."""
        _, proxy = self.setup_pair()
        with proxy.connect() as connection:
            connection.send(b"GET /x HTTP/1.0\r\n\r\n")
            self.assertEqual(connection.receive().status, 201)
            self.assertTrue(connection.closed_by_peer())
        with proxy.connect() as connection:
            for _ in range(2):
                connection.send(b"GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                self.assertEqual(connection.receive().get("Connection").lower(), "keep-alive")

    def test_pipelining(self):
        """[R129] Answered in order, each with its own key handling."""
        upstream, proxy = self.setup_pair(lambda request: response_bytes(201, request.body))
        requests = [("/pay", keyed('"a"'), b"one"), ("/pay", keyed('"a"'), b"one"), ("/plain", (), b"two"),
                    ("/pay", keyed('"a"'), b"three"), ("/pay", (), b"four"), ("/pay", keyed('"b"'), b"five")]
        with proxy.connect() as connection:
            connection.send(b"".join(request_bytes("POST", *request) for request in requests))
            answers = [connection.receive() for _ in requests]
        self.assertEqual([answer.summary() for answer in answers], [
            (201, None), (201, None), (201, None), (422, "key-reused"), (400, "key-missing"), (201, None)])
        self.assertEqual([answer.body for answer in answers if answer.status == 201], [b"one", b"one", b"two", b"five"])
        self.assertEqual([answer.replayed for answer in answers], [False, True, False, False, False, False])
        self.assertEqual([request.body for request in upstream.requests], [b"one", b"two", b"five"])

    def test_head_and_bodyless_answers_on_one_connection(self):
        """[R76][R136] HEAD, 204, 304 and a GET with content do not confuse what follows."""
        upstream, proxy = self.setup_pair()
        with proxy.connect() as connection:
            upstream.answer(b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n")
            answer = connection.ask("HEAD", "/x")
            self.assertEqual((answer.status, answer.get("Content-Length")), (200, "12345"))
            upstream.answer(b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n")
            self.assertEqual(connection.ask("GET", "/x").status, 304)
            upstream.answer(b"HTTP/1.1 204 No Content\r\n\r\n")
            self.assertEqual(connection.ask("DELETE", "/x", (), b"content").status, 204)
            self.assertEqual(upstream.requests[-1].body, b"content")
            upstream.answer(response_bytes(200, b"end"))
            self.assertEqual(connection.ask("GET", "/x", (), b"GET /hidden HTTP/1.1\r\n\r\n").body, b"end")
        self.assertEqual(upstream.hits(), 4)

    def test_bytes_after_a_response_are_never_used(self):
        """[R130] What an upstream sends unasked is not the answer to the next request."""
        stray = response_bytes(200, b"stray")
        upstream, proxy = self.setup_pair(response_bytes(200, b"asked") + stray)
        for _ in range(5):
            self.assertEqual(proxy.ask("GET", "/x").body, b"asked")
        for number in range(5):
            self.assertEqual(proxy.post(f'"{number}"').body, b"asked")

    def test_slow_reader_does_not_stop_others(self):
        """One client that does not read holds up nobody."""
        upstream, proxy = self.setup_pair()
        upstream.answer_next(response_bytes(200, b"x" * (64 * MIB)))
        with proxy.connect() as slow:
            slow.send(request_bytes("GET", "/big"))
            slow.receive_head()
            for number in range(20):
                self.assertEqual(proxy.post(f'"{number}"').status, 201)

    def test_connection_limit(self):
        """[R148] Beyond `limits.connections`: an answer, 503 #overloaded, not a silent close; a freed place is taken again."""
        _, proxy = self.setup_pair(server={"limits": {"connections": 3}})
        held = [proxy.connect() for _ in range(3)]
        for connection in held:
            self.addCleanup(connection.close)
            self.assertEqual(connection.ask("GET", "/x").status, 201)
        self.assert_problem(proxy.ask("GET", "/x"), "overloaded")
        held[0].close()
        wait_until(lambda: proxy.ask("GET", "/x").status == 201, "a place is free")

    def test_many_connections(self):
        """Two hundred idle connections, all served."""
        _, proxy = self.setup_pair()
        connections = [proxy.connect() for _ in range(200)]
        for connection in connections:
            self.assertEqual(connection.ask("GET", "/x").status, 201)
            connection.close()

    def test_ipv6_listener(self):
        """[R134] `[::1]` can be bound, and its clients are named in brackets and quotes."""
        port = free_port()
        upstream, _ = self.setup_pair(server={"listeners": [{"bind": f"[::1]:{port}"}]})
        with socket.create_connection(("::1", port), timeout=PATIENCE) as client:
            client.sendall(request_bytes("GET", "/x", [("Connection", "close")]))
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 201 "))
        self.assertIn('for="[::1]"', upstream.requests[0].get("Forwarded"))

    def test_overload(self):
        """[R148] Beyond `limits.in_flight`: 503 #overloaded with Retry-After, and fine again afterwards."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201), server={"limits": {"in_flight": 2}})
        held = [proxy.connect() for _ in range(2)]
        for number, connection in enumerate(held):
            self.addCleanup(connection.close)
            connection.send(request_bytes("POST", "/pay", keyed(f'"{number}"'), BODY))
        upstream.wait_for(2)
        self.assert_problem(proxy.post('"more"'), "overloaded")
        gate.set()
        self.assertEqual([connection.receive().status for connection in held], [201, 201])
        wait_until(lambda: proxy.post('"more"').status == 201, "served again")
        self.assertEqual(upstream.hits('"more"'), 1)


class Refusals(SystemCase):
    def test_who_is_turned_away_takes_nobodys_place(self):
        """[R148] `limits.connections` counts those who were admitted."""
        proxy = self.proxy(self.config(self.upstream(), server={"threads": 1, "limits": {"connections": 2}}))
        admitted = [proxy.connect() for _ in range(2)]
        for connection in admitted:
            self.assertEqual(connection.ask("GET", "/").status, 201)
        refused = [proxy.connect() for _ in range(8)]
        for connection in refused:
            self.assertEqual(connection.receive().status, 503)
        for connection in admitted:
            connection.close()
        wait_until(lambda: proxy.metric("oncegate_connections", side="client") == 0, "the admitted are gone")
        with proxy.connect() as fresh:  # while the refused still hold their ends open
            self.assertEqual(fresh.ask("GET", "/").status, 201)
        for connection in refused:
            connection.close()


class Turns(SystemCase):
    """One thread, and somebody who always has something to read for it: the others are served all the same."""

    def bystander_is_served(self, proxy, target="/plain"):
        with proxy.connect() as bystander:
            for _ in range(20):
                self.assertEqual(bystander.ask("GET", target).status, 201)

    def test_pipelined_requests_that_are_answered_here(self):
        """[R129] They never wait for an upstream."""
        _, proxy = self.setup_pair(server={"threads": 1})
        flood, over = proxy.connect(), threading.Event()
        self.addCleanup(flood.close)

        def send():
            requests = b"OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n" * 500
            while not over.is_set():
                flood.send_anyway(requests)

        def receive():
            while not over.is_set():
                flood.sock.recv(1 << 16)

        self.assertEqual(flood.ask("OPTIONS", "*", [("Max-Forwards", "0")]).status, 200)
        threads = [threading.Thread(target=work) for work in (send, receive)]
        for thread in threads:
            thread.start()
        try:
            self.bystander_is_served(proxy)
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def test_endless_interim_responses(self):
        """[R124] They are passed on for as long as `timeouts.response` says, and hold up nobody."""
        def endless(_):
            return b"HTTP/1.1 102 Processing\r\n\r\n" * 1000

        upstream = self.upstream(*[endless] * 100_000)
        quick = self.upstream()
        config = self.config(upstream, server={"threads": 1})
        config["upstreams"]["app"]["timeouts"] = {"response": "1s"}
        config["upstreams"]["quick"] = {"servers": [f"http://127.0.0.1:{quick.port}"]}
        config["routes"].insert(0, {"name": "quick", "match": {"path": "/quick"}, "upstream": "quick"})
        proxy = self.proxy(config)
        with proxy.connect() as flooded:
            flooded.send(request_bytes("GET", "/endless"))
            self.assertEqual(flooded.receive_head().status, 102)
            reader = threading.Thread(target=self.until_final, args=(flooded,))
            reader.start()
            self.bystander_is_served(proxy, "/quick")
            reader.join()
        self.assertEqual(self.final, 504)

    def until_final(self, connection):
        while (head := connection.receive_head()) is not None and head.status < 200:
            pass
        self.final = head and head.status


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Configurations and certificates that change while the program runs."""

import os
import socket
import ssl
import threading
import unittest

from harness.cases import SystemCase
from harness.certificates import Authority
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.ports import free_port
from harness.upstream import Gate
from harness.waiting import wait_until

BODY = b'{"amount":100}'


def shown_certificate(port):
    """What a new handshake shows, in DER."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=20)) as connection:
        return connection.getpeercert(binary_form=True)


def der_of(path):
    with open(path, encoding="ascii") as file:
        return ssl.PEM_cert_to_DER_cert(file.read())


class Reload(SystemCase):
    def test_a_new_policy_holds_from_the_next_request(self):
        """SIGHUP swaps routes and policies; connections stay."""
        upstream = self.upstream()
        config = self.config(upstream, policy={"key": {"syntax": "any", "max_length": 10}})
        proxy = self.proxy(config)
        with proxy.connect() as connection:
            self.assert_problem(connection.ask("POST", "/pay", keyed("a-key-of-some-length"), BODY), "key-invalid")
            config["routes"][0]["idempotency"]["key"]["max_length"] = 100
            proxy.reload(config)
            upstream.answer_next(response_bytes(201, b"done"))
            self.assertEqual(connection.ask("POST", "/pay", keyed("a-key-of-some-length"), BODY).status, 201)

    def test_a_file_with_errors_is_refused_whole(self):
        """Every error is told with its place, and the running configuration goes on."""
        upstream = self.upstream()
        config = self.config(upstream)
        proxy = self.proxy(config)
        broken = {**config, "routes": [{**config["routes"][0], "upstream": "nobody"}], "log": {"level": "loud"}}
        proxy.reload(broken, expect="refused")
        self.assertRegex(proxy.stderr_text(), r"proxy1\.yaml:\d+:\d+: ")
        self.assertIn("there is no upstream", proxy.stderr_text())
        upstream.answer_next(response_bytes(201, b"done"))
        self.assertEqual(proxy.post('"k"').status, 201)
        self.assertEqual(proxy.ask("GET", "/elsewhere").status, 201)

    def test_what_needs_a_restart_is_refused_by_name(self):
        config = self.config(self.upstream())
        proxy = self.proxy(config)
        proxy.reload({**config, "server": {**config["server"], "threads": 7}}, expect="refused")
        self.assertIn("server.threads changed, which takes effect at a start only", proxy.stderr_text())

    def test_a_request_under_way_ends_under_the_configuration_it_began_with(self):
        gate = Gate()
        before, after = self.upstream(gate, response_bytes(201, b"from the first")), self.upstream()
        config = self.config(before)
        proxy = self.proxy(config)
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), BODY))
            before.wait_for(1)
            proxy.reload({**config, "upstreams": {"app": {"servers": [f"http://127.0.0.1:{after.port}"]}}})
            after.answer_next(response_bytes(201, b"from the second"))
            self.assertEqual(proxy.post('"other"').body, b"from the second")
            gate.set()
            answer = connection.receive()
        self.assertEqual((answer.status, answer.body), (201, b"from the first"))
        self.assert_replay_of(answer, proxy.post('"k"', BODY))
        self.assertEqual((before.hits(), after.hits()), (1, 1))

    def test_no_request_fails_while_configurations_change(self):
        """Busy connections never notice: every request is answered on the connection it was sent on."""
        upstream = self.upstream()
        config = self.config(upstream)
        other = {**config, "routes": [*config["routes"][:1], {"name": "fresh", "match": {"path": "/fresh"}, "upstream": "app"},
                                      *config["routes"][1:]]}
        proxy = self.proxy(config)
        stop, faults, served = threading.Event(), [], [0] * 4

        def load(number):
            try:
                with proxy.connect() as connection:
                    while not stop.is_set():
                        status = connection.ask("GET", "/plain").status
                        served[number] += 1
                        if status != 201:
                            faults.append(status)
            except Exception as fault:  # the test's own verdict, whatever it was
                faults.append(repr(fault))

        clients = [threading.Thread(target=load, args=(number,)) for number in range(4)]
        for client in clients:
            client.start()
        for turn in range(20):
            proxy.reload(other if turn % 2 == 0 else config)
        stop.set()
        for client in clients:
            client.join()
        self.assertEqual(faults, [])
        self.assertGreater(min(served), 20)


class Certificates(SystemCase):
    def setUp(self):
        self.authority = Authority(self.directory)
        self.files = self.authority.issue("first.example", "DNS:first.example")
        self.port = free_port()
        tls = {"certificate": self.files[0], "private_key": self.files[1]}
        self.tls_config = self.config(self.upstream(), server={"threads": 2, "listeners": [{"bind": f"127.0.0.1:{self.port}", "tls": tls}]})
        self.running = self.proxy(self.tls_config)

    def replace(self):
        new = self.authority.issue("second.example", "DNS:second.example")
        for source, target in zip(new, self.files):
            os.replace(source, target)

    def test_replaced_files_are_shown_without_a_signal(self):
        """One after the other, as tools replace them; open connections go on."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(self.authority.certificate)
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        with context.wrap_socket(raw) as connection:
            self.replace()
            wait_until(lambda: shown_certificate(self.port) == der_of(self.files[0]), "the new certificate is shown")
            connection.sendall(request_bytes("GET", "/plain", [("Connection", "close")]))
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        self.assertTrue(answer.startswith(b"HTTP/1.1 201 "), answer[:200])

    def test_sighup_takes_them_at_once_and_refuses_what_does_not_fit(self):
        before = shown_certificate(self.port)
        with open(self.files[1], "w", encoding="ascii") as key:
            key.write("no key\n")
        self.running.reload(expect="refused")
        self.assertIn(self.files[1], self.running.stderr_text())
        self.assertEqual(shown_certificate(self.port), before)
        self.replace()
        self.running.reload()
        self.assertEqual(shown_certificate(self.port), der_of(self.files[0]))


if __name__ == "__main__":
    unittest.main()

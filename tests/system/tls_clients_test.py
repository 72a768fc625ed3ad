"""Programs that people use, over TLS and behind a TCP balancer: curl, openssl s_client, python, node, and the program
itself as a client of an https upstream."""

import http.client
import json
import os
import socket
import ssl
import unittest

from harness.cases import SystemCase
from harness.client import Connection, keyed
from harness.http import request_bytes, response_bytes
from harness.certificates import Authority
from harness.ports import free_port
from harness.programs import NodeServer, node, run
from harness.upstream import CLOSE
from harness.waiting import PATIENCE

SERVER_NAMES = "DNS:localhost,IP:127.0.0.1"


class TlsCase(SystemCase):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.directory)
        self.certificate, self.key = self.authority.issue("server", SERVER_NAMES)

    def listener(self, **more):
        """A TLS listener's port and its configuration."""
        port = free_port()
        tls = {"certificate": self.certificate, "private_key": self.key, **more}
        return port, {"bind": f"127.0.0.1:{port}", "tls": tls}

    def tls_pair(self, upstream=None, policy=None, **more):
        upstream = upstream or self.upstream(lambda request: response_bytes(200, request.body or b"nothing"))
        port, listener = self.listener(**more)
        proxy = self.proxy(self.config(upstream, policy, server={"listeners": [listener]}))
        return upstream, proxy, port

    def curl(self, port, *options, path="/plain", stdin=None):
        return run("curl", "-sS", "--cacert", self.authority.certificate, *options, f"https://127.0.0.1:{port}{path}", stdin=stdin)

    def context(self, identity=None):
        context = ssl.create_default_context(cafile=self.authority.certificate)
        if identity:
            context.load_cert_chain(*identity)
        return context


class TlsClients(TlsCase):
    def test_curl(self):
        """Both versions of TLS, verified, also with a body that is large."""
        upstream, _, port = self.tls_pair()
        for options in (("--tls-max", "1.2"), ("--tlsv1.3",), ("--http1.0",)):
            self.assertEqual(self.curl(port, *options), b"nothing")
        body = os.urandom(8 << 20)
        self.assertTrue(self.curl(port, "-T", "-", stdin=body, path="/up/") == body)
        self.assertTrue(self.curl(port, "--data-binary", "@-", "-H", "Expect: 100-continue", stdin=body) == body)
        request = upstream.wait_for(1)
        self.assertEqual(request.get("X-Forwarded-Proto"), "https")
        self.assertIn("proto=https", request.get("Forwarded"))

    def test_problem_urls(self):
        """[R95] The page that explains a problem is reached as the client came: by https."""
        _, _, port = self.tls_pair()
        refused = json.loads(self.curl(port, "-X", "POST", "--data", "{}", path="/pay"))
        self.assertEqual(refused["type"], f"https://127.0.0.1:{port}/.well-known/idempotency#key-missing")

    def test_openssl(self):
        """s_client: verified, `http/1.1` agreed on, and a session that is resumed."""
        _, _, port = self.tls_pair()
        session = os.path.join(self.directory, "session")
        request = b"GET /plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        common = ("openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", self.authority.certificate,
                  "-verify_return_error", "-alpn", "h2,http/1.1", "-ign_eof")
        for version in ("-tls1_2", "-tls1_3"):
            with self.subTest(version):
                first = run(*common, version, "-sess_out", session, stdin=request)
                self.assertIn(b"ALPN protocol: http/1.1", first)
                self.assertIn(b"Verification: OK", first)
                self.assertIn(b"\r\n\r\nnothing", first)
                again = run(*common, version, "-sess_in", session, stdin=request)
                self.assertIn(b"Reused, TLSv1", again)
                self.assertIn(b"\r\n\r\nnothing", again)

    def test_python(self):
        """http.client: one connection for several requests."""
        _, _, port = self.tls_pair()
        connection = http.client.HTTPSConnection("localhost", port, timeout=PATIENCE, context=self.context())
        self.addCleanup(connection.close)
        for body in (b"one", b"x" * 1_000_000, b"three"):
            connection.request("POST", "/plain", body)
            sock = connection.sock
            self.assertTrue(connection.getresponse().read() == body)
            self.assertIs(connection.sock, sock)

    def test_clients_that_leave(self):
        """[R64] In the middle of an answer and of a body, with and without a word of farewell: the others go on."""
        upstream = self.upstream(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n", bytes(50_000_000), CLOSE)
        _, _, port = self.tls_pair(upstream)
        for request in (b"GET /down HTTP/1.1\r\nHost: a\r\n\r\n", b"POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nsome"):
            for farewell in (True, False):
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as raw:
                    secure = self.context().wrap_socket(raw, server_hostname="localhost")
                    secure.sendall(request)
                    if request.startswith(b"GET"):
                        self.assertTrue(secure.recv(100))
                    if farewell:
                        secure.settimeout(0)
                        try:
                            secure.unwrap()
                        except OSError:
                            pass  # what was sent is what counts
                    secure.close()
        upstream.answer(response_bytes(200, b"still here"))
        self.assertEqual(self.curl(port), b"still here")

    def test_node(self):
        """An agent of node that keeps its connections, and a WebSocket through TLS."""
        _, _, port = self.tls_pair()
        trust = {"NODE_EXTRA_CA_CERTS": self.authority.certificate}
        said = json.loads(node("fetch_client.mjs", f"https://localhost:{port}/pay", "k", "{}", env=trust))
        self.assertEqual((said["status"], said["body"]), (200, "{}"))

    def test_websocket(self):
        """[R135] A tunnel between TLS on one side and none on the other."""
        server = NodeServer("websocket_server.mjs")
        self.addCleanup(server.stop)
        port, listener = self.listener()
        config = self.config(server, server={"listeners": [listener]})
        config["routes"][1]["upgrade"] = True
        self.proxy(config)
        said = json.loads(node("websocket_client.mjs", f"https://localhost:{port}/ws", 300_000,
                               env={"NODE_EXTRA_CA_CERTS": self.authority.certificate}))
        self.assertEqual((said["status"], said["accepted"], said["echoes"][:2]), (101, True, said["sent"]))


class ClientCertificates(TlsCase):
    def post(self, port, identity, key="k"):
        connection = http.client.HTTPSConnection("localhost", port, timeout=PATIENCE, context=self.context(identity))
        self.addCleanup(connection.close)
        connection.request("POST", "/pay", b"{}", dict(keyed(key)))
        response = connection.getresponse()
        response.read()
        return response

    def test_scope(self):
        """[R34][R37] A key belongs to the holder of the certificate; who shows none is refused."""
        upstream, _, port = self.tls_pair(policy={"scope": ["route", "client_cert"]}, client_auth="optional",
                                          client_ca=self.authority.certificate)
        alice, bob = self.authority.issue("alice"), self.authority.issue("bob")
        self.assertEqual(self.post(port, alice).headers["Idempotent-Replayed"], None)
        self.assertEqual(self.post(port, bob).headers["Idempotent-Replayed"], None)
        self.assertEqual(self.post(port, alice).headers["Idempotent-Replayed"], "true")
        self.assertEqual(self.post(port, self.authority.issue("alice")).headers["Idempotent-Replayed"], "true")  # renewed
        self.assertEqual(self.post(port, None).status, 400)
        self.assertEqual(upstream.hits(), 2)

    def test_required(self):
        """Without a certificate, or with a stranger's, there is no connection; curl with one gets through."""
        upstream, _, port = self.tls_pair(client_auth="required", client_ca=self.authority.certificate)
        certificate, key = self.authority.issue("alice")
        self.assertEqual(self.curl(port, "--cert", certificate, "--key", key), b"nothing")
        stranger = Authority(self.directory, "stranger").issue("mallory")
        for identity in (None, stranger):
            with self.assertRaises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
                self.post(port, identity)
        self.assertEqual(upstream.hits(), 1)


class BehindABalancer(TlsCase):
    def test_curl(self):
        """curl's own PROXY header; without one there is no conversation."""
        port = free_port()
        upstream = self.upstream(response_bytes(200, b"ok"))
        listener = {"bind": f"127.0.0.1:{port}", "proxy_protocol": True}
        self.proxy(self.config(upstream, server={"listeners": [listener]}))
        self.assertEqual(run("curl", "-sS", "--haproxy-protocol", f"http://127.0.0.1:{port}/x"), b"ok")
        with Connection(port) as connection:
            connection.send(request_bytes("GET", "/x"))
            self.assertTrue(connection.closed_by_peer())
        self.assertEqual(upstream.hits(), 1)

    def test_who_the_client_is(self):
        """The address in the header is the client's: in the log and in X-Forwarded-For, with TLS behind it as well."""
        port = free_port()
        upstream = self.upstream(response_bytes(200, b"ok"))
        _, listener = self.listener()
        listener.update({"bind": f"127.0.0.1:{port}", "proxy_protocol": True})
        proxy = self.proxy(self.config(upstream, server={"listeners": [listener]}))
        addresses = socket.inet_aton("198.51.100.7") + socket.inet_aton("127.0.0.1") + (4000).to_bytes(2, "big") + port.to_bytes(2, "big")
        headers = {"192.0.2.9": b"PROXY TCP4 192.0.2.9 127.0.0.1 4000 %d\r\n" % port,
                   "198.51.100.7": b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c" + addresses}
        for number, (address, header) in enumerate(headers.items(), 1):
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as raw:
                raw.sendall(header)
                with self.context().wrap_socket(raw, server_hostname="localhost") as secure:
                    secure.sendall(request_bytes("GET", "/x", [("Connection", "close")]))
                    self.assertTrue(secure.recv(4096).startswith(b"HTTP/1.1 200 "))
            self.assertEqual(upstream.wait_for(number).get("X-Forwarded-For"), address)
        self.assertEqual([entry["client"] for entry in proxy.access_log(2)], list(headers))


class HttpsUpstream(TlsCase):
    def behind(self, server_port, **tls):
        """A proxy in front of the TLS listener of another one."""
        self.use_new_store()
        config = self.config(self.upstream())
        config["upstreams"]["app"] = {"servers": [f"https://localhost:{server_port}"], "tls": tls}
        return self.proxy(config)

    def test_verified(self):
        """The certificate is checked against the authority; a client certificate is shown; large bodies pass."""
        upstream, _, port = self.tls_pair(client_auth="required", client_ca=self.authority.certificate)
        certificate, key = self.authority.issue("front")
        front = self.behind(port, ca=self.authority.certificate, certificate=certificate, private_key=key)
        body = os.urandom(4 << 20)
        for _ in range(2):
            answer = front.ask("POST", "/plain", (), body)
            self.assertEqual(answer.status, 200)
            self.assertTrue(answer.body == body)
        first = front.post('"k"')
        self.assertEqual(first.status, 200, first)
        self.assert_replay_of(first, front.post('"k"'))
        self.assertEqual(upstream.hits(), 3)

    def test_not_trusted(self):
        """[R61] A certificate of another authority: 502, and nothing was sent."""
        upstream, _, port = self.tls_pair()
        front = self.behind(port, ca=Authority(self.directory, "stranger").certificate)
        self.assert_problem(front.ask("GET", "/plain"), "upstream-unreachable")
        self.assert_problem(front.post('"k"'), "upstream-unreachable")
        self.assertEqual(upstream.hits(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)

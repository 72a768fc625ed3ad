"""Servers that people run, behind the built program: nginx and node, with every framing that they choose by themselves."""

import gzip
import os
import unittest

from harness.cases import SystemCase
from harness.programs import NGINX, NodeServer, Nginx

TEXT = b"a line of text\n" * 1000


class NodeUpstream(SystemCase):
    def setUp(self):
        super().setUp()
        self.server = NodeServer("http_server.mjs")
        self.addCleanup(self.server.stop)
        self.front = self.proxy(self.config(self.server, server={"threads": 1}))

    def test_every_framing_on_one_connection(self):
        """Lengths, chunks, no content, HEAD, 304, gzip left as it is: all over one connection on either side."""
        with self.front.connect() as connection:
            for method, path, status, body in (("GET", "/length", 200, b"hello"), ("GET", "/chunked", 200, b"hello"),
                                               ("GET", "/empty", 204, b""), ("HEAD", "/length", 200, b""),
                                               ("HEAD", "/chunked", 200, b""), ("GET", "/tagged", 200, b"tagged")):
                with self.subTest(method=method, path=path):
                    answer = connection.ask(method, path)
                    self.assertEqual((answer.status, answer.body), (status, body))
            self.assertEqual(connection.ask("HEAD", "/length").get("Content-Length"), "5")
            self.assertEqual(connection.ask("GET", "/tagged", [("If-None-Match", '"one"')]).status, 304)
            zipped = connection.ask("GET", "/zipped", [("Accept-Encoding", "gzip")])
            self.assertEqual((zipped.get("Content-Encoding"), gzip.decompress(zipped.body)), ("gzip", b"zipped " * 1000))
            self.assertEqual(connection.ask("GET", "/connections").body, b"1")

    def test_early_hints_and_trailers(self):
        """[R124][R78]"""
        with self.front.connect() as connection:
            hinted = connection.ask("GET", "/hints")
            self.assertEqual([head.status for head in hinted.interim], [103])
            self.assertEqual(hinted.interim[0].get("Link"), "</style.css>; rel=preload")
            traced = connection.ask("GET", "/trailers")
            self.assertEqual((traced.body, traced.trailers), (b"content", [b"X-Sum: 7"]))

    def test_echo_while_sending(self):
        """A server that answers while it reads: both directions flow at once, on plain and on enforced routes."""
        body = os.urandom(8 << 20)
        for path in ("/echo", "/pay/echo"):
            answer = self.front.ask("POST", path, [("Idempotency-Key", "echo")], body)
            self.assertEqual(answer.status, 200)
            self.assertTrue(answer.body == body)

    def test_close(self):
        """A server that closes after its answer: the client's connection is its own."""
        with self.front.connect() as connection:
            for _ in range(3):
                answer = connection.ask("GET", "/close")
                self.assertEqual((answer.body, answer.get("Connection")), (b"bye", None))


@unittest.skipUnless(NGINX, "nginx is not installed")
class NginxUpstream(SystemCase):
    def setUp(self):
        super().setUp()
        root = os.path.join(self.directory, "root")
        os.mkdir(root)
        with open(os.path.join(root, "text.txt"), "wb") as file:
            file.write(TEXT)
        self.server = Nginx(self.directory, "gzip on; gzip_proxied any; gzip_min_length 1; gzip_types *; types { text/plain txt; } server { "
                            f"listen 127.0.0.1:{{port}}; listen unix:{self.directory}/app.sock; root {root}; location /moved {{ return 302 /text.txt; }} "
                            'location /up { client_max_body_size 1m; return 200 "up $request_method"; } }')
        self.addCleanup(self.server.stop)
        self.front = self.proxy(self.config(self.server, server={"threads": 1}))

    def test_files(self):
        """Whole, in part, unchanged, only the head, compressed in chunks, and the connection stays."""
        with self.front.connect() as connection:
            whole = connection.ask("GET", "/text.txt")
            self.assertEqual((whole.status, whole.body, whole.get("Content-Length")), (200, TEXT, str(len(TEXT))))
            part = connection.ask("GET", "/text.txt", [("Range", "bytes=5-9")])
            self.assertEqual((part.status, part.body), (206, TEXT[5:10]))
            same = connection.ask("GET", "/text.txt", [("If-None-Match", whole.get("ETag"))])
            self.assertEqual((same.status, same.get("ETag")), (304, whole.get("ETag")))
            head = connection.ask("HEAD", "/text.txt")
            self.assertEqual((head.status, head.get("Content-Length")), (200, str(len(TEXT))))
            zipped = connection.ask("GET", "/text.txt", [("Accept-Encoding", "gzip")])
            self.assertEqual(zipped.get("Transfer-Encoding"), "chunked")
            self.assertEqual(gzip.decompress(zipped.body), TEXT)
            moved = connection.ask("GET", "/moved")
            self.assertEqual(moved.status, 302)
            self.assertEqual(connection.ask("GET", "/missing").status, 404)

    def test_unix_socket(self):
        """The same server over its socket file: relayed and recorded like any other."""
        config = self.config(self.server)
        config["upstreams"]["app"]["servers"] = [f"unix:{self.directory}/app.sock"]
        front = self.proxy(config)
        with front.connect() as connection:
            for _ in range(2):
                self.assertEqual(connection.ask("GET", "/text.txt").body, TEXT)
        first = front.post('"k"', target="/pay/../pay/missing")
        self.assertEqual(first.status, 404)
        self.assert_replay_of(first, front.post('"k"', target="/pay/../pay/missing"))

    def test_refused_body(self):
        """[R128] nginx answers 413 to what it will not read, and closes."""
        with self.front.connect() as connection:
            connection.send(b"POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n" + bytes(100_000))
            self.assertEqual(connection.receive().status, 413)
        self.assertEqual(self.front.ask("POST", "/up", (), b"small").body, b"up POST")


if __name__ == "__main__":
    unittest.main(verbosity=2)

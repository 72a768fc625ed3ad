"""What an intermediary takes away, adds and chooses: fields, routes, servers."""

import unittest

from harness.cases import SystemCase
from harness.client import keyed
from harness.ports import free_port

BODY = b'{"amount":100}'


class Forwarding(SystemCase):
    def test_what_is_added(self):
        """[R122][R134] Via, X-Forwarded-* and Forwarded; an existing chain is continued."""
        upstream, proxy = self.setup_pair()
        for target in ("/plain", "/pay"):
            chain = [("Via", "1.1 edge"), ("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "192.0.2.1")]
            proxy.ask("POST", target, keyed(f'"{target}"', chain), BODY)
            request = upstream.requests[-1]
            self.assertRegex(", ".join(request.all("Via")), r"^1\.1 edge, 1\.1 \S+$")
            self.assertRegex(", ".join(request.all("Forwarded")), r"^for=192\.0\.2\.1, .*for=\"?127\.0\.0\.1")
            self.assertRegex(", ".join(request.all("X-Forwarded-For")), r"127\.0\.0\.1$")
            self.assertEqual(request.get("X-Forwarded-Proto"), "http")
            self.assertEqual(request.get("X-Forwarded-Host"), "api.example.com")
            self.assertEqual(request.get("Host"), "api.example.com")

    def test_hop_by_hop_fields_of_the_client(self):
        """[R75][R90][R121] Connection and what it names, TE, Upgrade and the like do not travel."""
        upstream, proxy = self.setup_pair()
        fields = [("Connection", "keep-alive, X-Hop, Upgrade"), ("X-Hop", "1"), ("Keep-Alive", "5"), ("TE", "trailers"),
                  ("Upgrade", "websocket"), ("Proxy-Authorization", "Basic x"), ("Proxy-Connection", "keep-alive"),
                  ("X-Stays", "1")]
        for target in ("/plain", "/pay"):
            proxy.ask("POST", target, keyed(f'"{target}"', fields), BODY)
            request = upstream.requests[-1]
            self.assertEqual(request.get("X-Stays"), "1")
            for name in ("X-Hop", "Keep-Alive", "TE", "Upgrade", "Proxy-Authorization", "Proxy-Connection"):
                self.assertEqual(request.all(name), [], name)

    def test_loop(self):
        """[R122] A request that already carries the proxy's own pseudonym is refused."""
        upstream, proxy = self.setup_pair()
        proxy.ask("GET", "/x")
        via = upstream.requests[0].get("Via")
        answer = proxy.ask("GET", "/x", [("Via", via)])
        self.assertIn(answer.status, (400, 508))
        self.assertEqual(upstream.hits(), 1)

    def test_no_route(self):
        """404 #no-route."""
        upstream = self.upstream()
        config = self.config(upstream)
        config["routes"] = config["routes"][:1]
        proxy = self.proxy(config)
        self.assert_problem(proxy.ask("GET", "/nowhere"), "no-route")
        self.assertEqual(upstream.hits(), 0)

    def test_disguised_paths_do_not_escape_the_policy(self):
        """[R126] Matching normalises, the target travels as it came; what is ambiguous is refused."""
        upstream, proxy = self.setup_pair()
        for target in ("/p%61y", "/x/../pay", "/./pay", "//pay", "/x/%2e%2e/pay", "/pay/./y"):
            with self.subTest(target):
                self.assert_problem(proxy.ask("POST", target, (), BODY), "key-missing")
        for target in ("/x%2f..%2fpay", "/x/..%2Fpay", "/x%5c..%5cpay", "/%00pay"):
            with self.subTest(target):
                answer = proxy.ask("POST", target, (), BODY)
                self.assertEqual(answer.status, 400, answer)
        self.assertEqual(upstream.hits(), 0)
        proxy.post('"k"', target="/x/../pay//%7e")
        self.assertEqual(upstream.requests[0].target, "/x/../pay//%7e")

    def test_absolute_form(self):
        """[R118] The target's authority wins over Host, and routes the request."""
        upstream = self.upstream()
        config = self.config(upstream)
        config["routes"][0]["match"]["host"] = "api.example.com"
        proxy = self.proxy(config)
        with proxy.connect() as connection:
            connection.send(b"POST http://api.example.com/pay HTTP/1.1\r\nHost: other.example\r\nContent-Length: 0\r\n\r\n")
            self.assert_problem(connection.receive(), "key-missing")

    def test_max_forwards(self):
        """[R125] OPTIONS with Max-Forwards: 0 is answered here; otherwise the number goes down."""
        upstream, proxy = self.setup_pair()
        self.assertEqual(proxy.ask("OPTIONS", "/x", [("Max-Forwards", "0")]).status // 100, 2)
        self.assertEqual(upstream.hits(), 0)
        proxy.ask("OPTIONS", "/x", [("Max-Forwards", "5")])
        self.assertEqual(upstream.requests[0].get("Max-Forwards"), "4")

    def test_round_robin(self):
        """Several servers take turns; a dead one is passed over, since nothing was sent to it."""
        first, second = self.upstream(), self.upstream()
        servers = [f"http://127.0.0.1:{port}" for port in (first.port, second.port, free_port())]
        proxy = self.proxy(self.config(first, upstreams={"app": {"servers": servers}}))
        for number in range(30):
            self.assertEqual(proxy.post(f'"{number}"').status, 201)
        self.assertEqual(first.hits() + second.hits(), 30)
        self.assertGreater(min(first.hits(), second.hits()), 5)


if __name__ == "__main__":
    unittest.main(verbosity=2)

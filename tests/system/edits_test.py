"""`host`, `headers`, `retries` and `trusted_proxies` as a configuration file says them, on the wire."""

import json
import os
import unittest

from harness.cases import SystemCase
from harness.client import keyed
from harness.http import response_bytes
from harness.proxy import run_command
from harness.upstream import CLOSE


class Edits(SystemCase):
    EDITS = {"request": {"set": {"X-Env": "prod", "Authorization": "Basic c2VydmljZQ=="}, "remove": ["Cookie"]},
             "response": {"set": {"X-Frame-Options": "DENY"}, "remove": ["Server"]}}

    def pair(self, rest=None, pay=None, **sections):
        self.use_new_store()
        upstream = self.upstream(response_bytes(201, b"{}", [("Server", "secret/1"), ("X-Own", "1")]))
        config = self.config(upstream, **sections)
        config["routes"][0].update(pay or {})
        config["routes"][1].update(rest or {})
        return upstream, self.proxy(config)

    def test_edits(self):
        """Requests are edited after the fingerprint and before forwarding, responses on first delivery and replay."""
        upstream, proxy = self.pair(pay={"headers": self.EDITS}, rest={"headers": self.EDITS})
        first = proxy.post('"k"', fields=[("Cookie", "a"), ("Authorization", "Bearer mine")])
        replay = proxy.post('"k"', fields=[("Cookie", "b"), ("Authorization", "Bearer renewed")])
        plain = proxy.ask("GET", "/plain", [("Cookie", "c"), ("x-env", "theirs")])
        self.assert_replay_of(first, replay)
        for response in (first, replay, plain):
            self.assertEqual((response.get("X-Frame-Options"), response.get("Server"), response.get("X-Own")), ("DENY", None, "1"))
        for request in (upstream.wait_for(1), upstream.wait_for(2)):
            self.assertEqual((request.get("X-Env"), request.get("Cookie")), ("prod", None))
            self.assertEqual(request.get("Authorization"), "Basic c2VydmljZQ==")
        self.assertEqual(upstream.hits(), 2)

    def test_edits_are_not_recorded(self):
        """What is stored is what the upstream said: other edits after a restart make another replay."""
        upstream = self.upstream(response_bytes(201, b"{}", [("Server", "secret/1")]))
        config = self.config(upstream)
        config["routes"][0]["headers"] = self.EDITS
        before = self.proxy(config)
        self.assertIsNone(before.post('"k"').get("Server"))
        self.assertIsNone(before.stop())
        config["routes"][0]["headers"] = {"response": {"set": {"X-New": "1"}}}
        replay = self.proxy(config).post('"k"')
        self.assertTrue(replay.replayed)
        self.assertEqual((replay.get("Server"), replay.get("X-New"), replay.get("X-Frame-Options")), ("secret/1", "1", None))

    def test_own_problems_are_not_edited(self):
        """[R95] A problem document keeps the fields that it is promised with."""
        _, proxy = self.pair(pay={"headers": {"response": {"remove": ["Cache-Control", "Link"]}}})
        self.assert_problem(proxy.ask("POST", "/pay", (), b"{}"), "key-missing")

    def test_framing_cannot_be_edited(self):
        """Where a message ends is not for a route to say."""
        for name in ("Content-Length", "Transfer-Encoding", "Connection", "Upgrade"):
            with self.subTest(name):
                config = self.config(self.upstream())
                config["server"]["listeners"] = [{"bind": "127.0.0.1:0"}]
                config["routes"][1]["headers"] = {"response": {"set": {name: "1"}}}
                path = os.path.join(self.directory, "edits.yaml")
                with open(path, "w", encoding="ascii") as file:
                    json.dump(config, file)
                checked = run_command("check", "-c", path)
                self.assertEqual(checked.returncode, 1)
                self.assertIn(f"'{name}'", checked.stdout + checked.stderr)

    def test_host(self):
        """Host as the client sent it, as the server is called, or as named; what was asked for stays known."""
        for rule, expected in (("preserve", "api.example.com"), ("upstream", None), ("inner.example:8080", "inner.example:8080")):
            with self.subTest(rule):
                upstream, proxy = self.pair(rest={"host": rule}, pay={"host": rule})
                proxy.ask("GET", "/x")
                proxy.post('"k"')
                for request in (upstream.wait_for(1), upstream.wait_for(2)):
                    self.assertEqual(request.get("Host"), expected or f"127.0.0.1:{upstream.port}")
                    self.assertEqual(request.get("X-Forwarded-Host"), "api.example.com")

    def test_retries(self):
        """[R60] Safe requests on a plain route only; a keyed request is never sent again."""
        upstream, proxy = self.pair(rest={"retries": 1}, pay={"retries": 1, "match": {"path": "/pay/**"}})
        upstream.answer_next(CLOSE)
        self.assertEqual(proxy.ask("GET", "/x").status, 201)
        self.assertEqual(upstream.hits(), 2)
        upstream.answer_next(CLOSE)
        self.assertEqual(proxy.ask("PUT", "/x", (), b"").status, 502)
        self.assertEqual(upstream.hits(), 3)
        upstream.answer_next(CLOSE)
        self.assert_problem(proxy.ask("POST", "/pay", keyed('"k"'), b"{}"), "upstream-failed")
        self.assertEqual(upstream.hits(), 4)


class TrustedProxies(SystemCase):
    def ask_as(self, proxy, client, key='"k"'):
        return proxy.post(key, fields=[("X-Forwarded-For", client), ("X-Forwarded-Proto", "https")])

    def test_client_address(self):
        """[R38] Behind a trusted proxy the client is who it says: in the log, in the scope, towards the upstream."""
        upstream = self.upstream()
        policy = {"scope": ["route", "client_ip"]}
        proxy = self.proxy(self.config(upstream, policy, server={"trusted_proxies": ["127.0.0.1"]}))
        for client, replayed in (("192.0.2.1", False), ("192.0.2.2", False), ("203.0.113.9, 192.0.2.1", True)):
            self.assertEqual(self.ask_as(proxy, client).replayed, replayed, client)
        self.assertEqual([entry["client"] for entry in proxy.access_log(3)], ["192.0.2.1", "192.0.2.2", "192.0.2.1"])
        request = upstream.wait_for(1)
        self.assertEqual(request.get("X-Forwarded-For"), "192.0.2.1, 127.0.0.1")
        self.assertEqual(request.get("X-Forwarded-Proto"), "https")

    def test_strangers(self):
        """[R38] Without trust the same words count for nothing."""
        upstream = self.upstream()
        proxy = self.proxy(self.config(upstream, {"scope": ["route", "client_ip"]}))
        self.assertFalse(self.ask_as(proxy, "192.0.2.1").replayed)
        self.assertTrue(self.ask_as(proxy, "192.0.2.2").replayed)
        self.assertEqual({entry["client"] for entry in proxy.access_log(2)}, {"127.0.0.1"})
        self.assertEqual(upstream.wait_for(1).get("X-Forwarded-Proto"), "http")

    def test_problem_urls(self):
        """[R95] The page that explains a problem is where the client came in."""
        upstream = self.upstream()
        proxy = self.proxy(self.config(upstream, server={"trusted_proxies": ["127.0.0.0/8"]}))
        fields = [("X-Forwarded-Proto", "https")]
        refused = proxy.ask("POST", "/pay", fields, b"{}")
        self.assertTrue(refused.json()["type"].startswith("https://api.example.com/.well-known/idempotency#"))
        page = proxy.ask("GET", "/.well-known/idempotency", [*fields, ("Accept", "application/json")])
        self.assertIn("https://api.example.com/", json.dumps(page.json()))


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The policy page of a running proxy: everything a client must know, for browsers and for programs."""

import html.parser
import unittest

from harness.cases import SystemCase

PAGE = "/.well-known/idempotency"
VOID = {"meta", "br", "link"}


class Outline(html.parser.HTMLParser):
    """Ids, links and text; fails on tags that do not nest."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.text, self.tags, self._open = [], [], [], set(), []
        self.feed(text)
        self.close()
        if self._open:
            raise AssertionError(f"not closed: {self._open}")

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        attributes = dict(attrs)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if "href" in attributes:
            self.links.append(attributes["href"])
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        if self._open.pop() != tag:
            raise AssertionError(f"</{tag}> closes another tag")

    def handle_data(self, data):
        self.text.append(data)


class PolicyPage(SystemCase):
    POLICY = {"ttl": "90m", "key": {"syntax": "bare", "min_length": 8, "max_length": 64, "pattern": "[a-f0-9-]+"},
              "scope": ["route", "header:Authorization"], "in_flight": {"action": "wait", "wait": "5s"},
              "fingerprint": {"mismatch_status": 409}, "after_ttl": "reject", "tombstone": "24h"}

    def served(self, policy=None, **sections):
        self.use_new_store()
        upstream = self.upstream()
        return upstream, self.proxy(self.config(upstream, policy or self.POLICY, **sections))

    def test_json(self):
        """[R103] Required or not, syntax, length, scope, fingerprint, ttl, recorded statuses, error types."""
        upstream, proxy = self.served(server={"limits": {"request_body": "2MiB"}})
        answer = proxy.ask("GET", PAGE, [("Accept", "application/json")])
        self.assertEqual((answer.status, answer.get("Content-Type")), (200, "application/json"))
        page = answer.json()
        self.assertEqual(page["limits"]["request_body"], 2 << 20)
        [route] = page["routes"]
        self.assertEqual((route["route"], route["mode"], route["path"], route["methods"]),
                         ("pay", "enforce", "/pay/**", ["POST", "PATCH"]))
        self.assertEqual(route["key"], {"from": [["header:Idempotency-Key"]], "required": True, "required_from": None,
                                        "syntax": "bare", "min_length": 8, "max_length": 64, "pattern": "[a-f0-9-]+",
                                        "reject_personal_data": False, "ignore_uuid_case": False})
        self.assertEqual(route["scope"], ["route", "header:Authorization"])
        self.assertEqual(route["fingerprint"]["mismatch_status"], 409)
        self.assertEqual(route["in_flight"], {"action": "wait", "wait_ms": 5000, "retry_after_ms": 1000})
        self.assertEqual((route["ttl_ms"], route["after_ttl"], route["tombstone_ms"]), (5400_000, "reject", 86400_000))
        self.assertEqual(route["documentation"], f"http://api.example.com{PAGE}")
        self.assertEqual({problem["type"] for problem in page["problems"]},
                         {f"http://api.example.com{PAGE}#{problem['code']}" for problem in page["problems"]})
        self.assertEqual(upstream.hits(), 0)

    def test_html(self):
        """[R103] Sound HTML: every link leads somewhere, nothing runs, nothing is loaded, nothing inside shows."""
        upstream, proxy = self.served()
        answer = proxy.ask("GET", PAGE, [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")])
        self.assertEqual(answer.get("Content-Type"), "text/html; charset=utf-8")
        self.assertTrue(answer.get("Content-Security-Policy").startswith("default-src 'none'"))
        page = Outline(answer.body.decode())
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertEqual([link for link in page.links if not link.startswith("#") or link[1:] not in page.ids], [])
        self.assertTrue(page.tags.isdisjoint({"script", "img", "iframe", "link", "form"}))
        text = "".join(page.text)
        for words in ("90m from the first acceptance", "8 to 64 characters", "the header Authorization", "waits up to 5s",
                      "answered 409 (#key-reused)", "(412, #key-expired)", "the header Idempotency-Key"):
            self.assertIn(words, text)
        self.assertNotIn(str(upstream.port), answer.body.decode())

    def test_fragments(self):
        """[R97] The type of a problem leads to its explanation."""
        _, proxy = self.served()
        refused = proxy.ask("POST", "/pay", [("Authorization", "a")], b"{}")
        fragment = refused.json()["type"].partition("#")[2]
        self.assertIn(fragment, Outline(proxy.ask("GET", PAGE).body.decode()).ids)

    def test_head(self):
        """[R103]"""
        _, proxy = self.served()
        for accept in ("text/html", "application/json"):
            with proxy.connect() as connection:
                head = connection.ask("HEAD", PAGE, [("Accept", accept)])
                full = connection.ask("GET", PAGE, [("Accept", accept)])
            self.assertEqual([head.get(name) for name in ("Content-Type", "Content-Length")],
                             [full.get(name) for name in ("Content-Type", "Content-Length")])

    def test_reload(self):
        """[R103] The page is of the policy in force."""
        upstream, proxy = self.served()
        proxy.reload(self.config(upstream, {**self.POLICY, "ttl": "2h"}))
        page = proxy.ask("GET", PAGE, [("Accept", "application/json")]).json()
        self.assertEqual(page["routes"][0]["ttl_ms"], 7200_000)


if __name__ == "__main__":
    unittest.main(verbosity=2)

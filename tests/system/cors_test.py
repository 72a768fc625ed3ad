"""Scripts of other origins: preflights, what answers say about origins, and a real browser that reads the marker."""

import http.server
import json
import os
import shutil
import signal
import subprocess
import threading
import unittest

from harness.cases import SystemCase
from harness.client import keyed
from harness.http import response_bytes
from harness.upstream import CLOSE, Gate
from harness.waiting import PATIENCE, dies_with_test

SHOP, BACK = "https://shop.example", "http://localhost:3000"
ALLOW = ("Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers",
         "Access-Control-Allow-Credentials", "Access-Control-Max-Age")
EXPOSED = ("Idempotent-Replayed, Idempotency-Recorded, Idempotency-Refreshed, Idempotency-Suspected, Retry-After, Link, "
           "Location, WWW-Authenticate")
CHROMIUM = shutil.which("chromium")


def names(value):
    return [name.strip() for name in (value or "").split(",")]


def asks(origin, method="POST", headers="idempotency-key,content-type"):
    """The fields of a browser's preflight."""
    return [("Origin", origin), ("Access-Control-Request-Method", method), ("Access-Control-Request-Headers", headers)]


class CorsCase(SystemCase):
    def pair(self, *steps, cors=None, policy=None, **sections):
        self.use_new_store()
        upstream = self.upstream(*steps)
        config = self.config(upstream, policy, **sections)
        config["routes"][0]["cors"] = {"allow_origins": [SHOP, BACK], **(cors or {})}
        return upstream, self.proxy(config)

    def assert_readable_by(self, response, origin):
        self.assertEqual(response.get("Access-Control-Allow-Origin"), origin, response.raw)
        self.assertIn("Origin", [name for line in response.all("Vary") for name in names(line)], response.raw)
        self.assertEqual(response.get("Access-Control-Expose-Headers") is not None, origin is not None, response.raw)


class Preflights(CorsCase):
    def test_allowed(self):
        """[R2][R100] Answered by the proxy, with what a browser needs for a request with a key."""
        upstream, proxy = self.pair(cors={"allow_headers": ["Authorization"], "max_age": "10m"})
        answer = proxy.ask("OPTIONS", "/pay", asks(SHOP))
        self.assertEqual((answer.status, answer.body, answer.get("Content-Length")), (204, b"", None))
        self.assertEqual([answer.get(name) for name in ALLOW],
                         [SHOP, "POST, PATCH", "Idempotency-Key, Content-Type, Authorization", None, "600"])
        self.assertEqual(names(answer.get("Vary")),
                         ["Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"])
        self.assertEqual(upstream.hits(), 0)
        self.assert_metric(proxy, 1, "oncegate_requests_total", route="pay", outcome="passthrough")
        entry = proxy.access_log(1)[0]
        self.assertEqual((entry["route"], entry["status"], entry["key_hash"]), ("pay", 204, ""))

    def test_not_allowed(self):
        """[R100] The browser is told by what is missing."""
        upstream, proxy = self.pair()
        for origin in ("https://evil.example", "null", "https://SHOP.example", "https://shop.example/"):
            with self.subTest(origin):
                answer = proxy.ask("OPTIONS", "/pay", asks(origin))
                self.assertEqual(answer.status, 204)
                self.assertEqual([answer.get(name) for name in ALLOW], [None] * len(ALLOW))
                self.assertIn("Origin", names(answer.get("Vary")))
        self.assertEqual(upstream.hits(), 0)

    def test_any_origin(self):
        """[R100]"""
        _, proxy = self.pair(cors={"allow_origins": ["*"]})
        answer = proxy.ask("OPTIONS", "/pay", asks("https://any.example"))
        self.assertEqual(answer.get("Access-Control-Allow-Origin"), "*")

    def test_credentials(self):
        """[R100] With credentials the origin itself is named."""
        _, proxy = self.pair(cors={"allow_credentials": True})
        for answer in (proxy.ask("OPTIONS", "/pay", asks(SHOP)), proxy.post('"k"', fields=[("Origin", SHOP)])):
            self.assertEqual((answer.get(ALLOW[0]), answer.get(ALLOW[3])), (SHOP, "true"))

    def test_never_enforced(self):
        """[R2] Not with a key either, and not recorded: it can be asked a hundred times."""
        upstream, proxy = self.pair()
        for _ in range(3):
            self.assertEqual(proxy.ask("OPTIONS", "/pay", [*asks(SHOP), ("Idempotency-Key", '"k"')]).status, 204)
        self.assertEqual(proxy.post('"k"').status, 201)
        self.assertEqual(upstream.hits(), 1)

    def test_other_options(self):
        """[R2] What is no preflight, or for a route without the block, goes its ordinary way."""
        upstream, proxy = self.pair(response_bytes(200, b"theirs"))
        ordinary = [proxy.ask("OPTIONS", "/pay"), proxy.ask("OPTIONS", "/pay", [("Origin", SHOP)]),
                    proxy.ask("OPTIONS", "/other", asks(SHOP)), proxy.ask("OPTIONS", "/pay", asks(SHOP, "GET"))]
        self.assertEqual([answer.body for answer in ordinary], [b"theirs"] * 4)
        self.assertEqual(upstream.hits(), 4)

    def test_authorised_routes(self):
        """[R2][R100] The authorisation service is not asked about a preflight, and what it refuses can be read."""
        service = self.upstream(response_bytes(403, b"no"))
        self.use_new_store()
        config = self.config(self.upstream())
        config["routes"][0].update(cors={"allow_origins": [SHOP]},
                                   authorize={"url": f"http://127.0.0.1:{service.port}/check"})
        proxy = self.proxy(config)
        self.assertEqual(proxy.ask("OPTIONS", "/pay", asks(SHOP)).get("Access-Control-Allow-Origin"), SHOP)
        self.assertEqual(service.hits(), 0)
        refused = proxy.post('"k"', fields=[("Origin", SHOP)])
        self.assertEqual((refused.status, refused.body, service.hits()), (403, b"no", 1))
        self.assert_readable_by(refused, SHOP)

    def test_connection_goes_on(self):
        """[R100] The request that was announced follows on the same connection."""
        _, proxy = self.pair()
        with proxy.connect() as connection:
            self.assertEqual(connection.ask("OPTIONS", "/pay", asks(SHOP)).status, 204)
            answer = connection.ask("POST", "/pay", keyed('"k"', [("Origin", SHOP)]), b"{}")
        self.assertEqual(answer.status, 201)
        self.assert_readable_by(answer, SHOP)


class Answers(CorsCase):
    def test_first_and_replay(self):
        """[R100] A replay carries what goes for the origin that asks now; the record is the upstream's."""
        theirs = [("Vary", "Accept"), ("Access-Control-Allow-Origin", "*"), ("Access-Control-Expose-Headers", "X-Theirs"),
                  ("X-Theirs", "1")]
        upstream, proxy = self.pair(response_bytes(201, b"{}", theirs), cors={"expose_headers": ["X-Theirs"]})
        for origin, seen in ((SHOP, SHOP), (BACK, BACK), ("https://evil.example", None), (SHOP, SHOP)):
            with self.subTest(origin):
                answer = proxy.post('"k"', fields=[("Origin", origin)])
                self.assert_readable_by(answer, seen)
                self.assertEqual(answer.all("Vary"), ["Accept", "Origin"])
                self.assertEqual(answer.get("X-Theirs"), "1")
                if seen:
                    self.assertEqual(answer.get("Access-Control-Expose-Headers"), EXPOSED + ", X-Theirs")
        self.assert_readable_by(proxy.post('"k"'), None)
        self.assertEqual(upstream.hits(), 1)

    def test_large_answers(self):
        """[R100] One that is streamed, and its replay from chunks."""
        body = b"x" * (1 << 20)
        _, proxy = self.pair(response_bytes(201, body))
        for replayed in (False, True):
            answer = proxy.post('"k"', fields=[("Origin", SHOP)])
            self.assertEqual((answer.replayed, answer.body), (replayed, body))
            self.assert_readable_by(answer, SHOP)

    def test_methods_without_a_policy(self):
        """[R100] The block is the route's, whatever its policy holds for."""
        self.use_new_store()
        upstream = self.upstream(response_bytes(200, b"{}"))
        config = self.config(upstream)
        config["routes"][1]["cors"] = {"allow_origins": [SHOP]}
        proxy = self.proxy(config)
        self.assert_readable_by(proxy.ask("GET", "/other", [("Origin", SHOP)]), SHOP)
        answer = proxy.ask("GET", "/other", [("Origin", SHOP)])
        self.assertEqual(answer.get("Access-Control-Expose-Headers"), "Retry-After, Link, Location, WWW-Authenticate")
        self.assertIsNone(proxy.post('"k"', fields=[("Origin", SHOP)]).get("Access-Control-Allow-Origin"))

    def test_interim_answers(self):
        """[R100] Only the final answer says it."""
        early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
        _, proxy = self.pair(early + response_bytes(201, b"{}"))
        answer = proxy.ask("PUT", "/pay", [("Origin", SHOP)], b"{}")  # no route of the block's methods
        self.assertIsNone(answer.get("Access-Control-Allow-Origin"))
        keyed_answer = proxy.post('"k"', fields=[("Origin", SHOP)])
        self.assert_readable_by(keyed_answer, SHOP)
        for head in (*answer.interim, *keyed_answer.interim):
            self.assertIsNone(head.get("Access-Control-Allow-Origin"))

    def test_own_errors(self):
        """[R100] A script can read why it was refused, and when to come back."""
        gate = Gate()
        upstream, proxy = self.pair(response_bytes(201, b"{}"), server={"limits": {"request_body": "1KiB"}})
        origin = [("Origin", SHOP)]
        proxy.post('"used"')
        refused = {"key-missing": proxy.ask("POST", "/pay", origin, b"{}"),
                   "key-invalid": proxy.post("", fields=origin),
                   "key-reused": proxy.post('"used"', b"other", fields=origin),
                   "body-too-large": proxy.post('"large"', b"x" * 2000, fields=origin)}
        upstream.answer(gate, response_bytes(201, b"{}"))
        self.addCleanup(gate.set)
        with proxy.connect() as first:
            first.send(request_of('"runs"'))
            upstream.wait_for(2)
            refused["in-flight"] = proxy.post('"runs"', b"{}", fields=origin)
            gate.set()
            first.receive()
        upstream.answer(CLOSE)
        refused["upstream-failed"] = proxy.post('"breaks"', fields=origin)
        refused["outcome-unknown"] = proxy.post('"breaks"', fields=origin)
        for fragment, answer in refused.items():
            with self.subTest(fragment):
                self.assert_problem(answer, fragment)
                self.assert_readable_by(answer, SHOP)
                self.assertLessEqual({"Retry-After", "Link", "Idempotent-Replayed"},
                                     set(names(answer.get("Access-Control-Expose-Headers"))))

    def test_overload(self):
        """[R100] Also what is refused before anything is done for the route."""
        gate = Gate()
        upstream, proxy = self.pair(gate, response_bytes(201, b"{}"), server={"limits": {"in_flight": 1}})
        self.addCleanup(gate.set)
        with proxy.connect() as first:
            first.send(request_of('"k"'))
            upstream.wait_for(1)
            refused = proxy.post('"other"', fields=[("Origin", SHOP)])
            gate.set()
            first.receive()
        self.assert_problem(refused, "overloaded")
        self.assert_readable_by(refused, SHOP)


def request_of(key):
    return (f"POST /pay HTTP/1.1\r\nHost: api.example.com\r\nIdempotency-Key: {key}\r\nContent-Type: application/json\r\n"
            "Content-Length: 2\r\n\r\n{}").encode()


PAGE = """<!doctype html><meta charset="utf-8"><title>shop</title><script>
const api = "http://127.0.0.1:%(port)d";
async function pay(key, body, path = "/pay") {
  const headers = {"Content-Type": "application/json"};
  if (key) headers["Idempotency-Key"] = key;
  try {
    const answer = await fetch(api + path, {method: "POST", headers, body});
    return {status: answer.status, text: await answer.text(), marker: answer.headers.get("Idempotent-Replayed"),
            link: answer.headers.get("Link"), hidden: answer.headers.get("X-Hidden")};
  } catch (error) {
    return {failed: error.name};
  }
}
(async () => {
  const results = [await pay('"k"', "{}"), await pay('"k"', "{}"), await pay('"k"', "other"), await pay(null, "{}"),
                   await pay('"k"', "{}", "/closed")];
  await fetch("/results", {method: "POST", body: JSON.stringify(results)});
})();
</script>"""


class Shop(http.server.ThreadingHTTPServer):
    """The page's own origin; takes what the page found."""

    def __init__(self, port_of_api):
        shop = self
        self.results, self.arrived = None, threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer(PAGE.encode() % {b"port": port_of_api()})

            def do_POST(self):
                shop.results = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.answer(b"")
                shop.arrived.set()

            def answer(self, body):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


@unittest.skipIf(CHROMIUM is None, "chromium is not installed")
class Browser(CorsCase):
    def browse(self, url):
        profile = os.path.join(self.directory, "profile")
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                   "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
                   "--disable-sync", f"--user-data-dir={profile}", "--remote-debugging-port=0", url]
        browser = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True, preexec_fn=dies_with_test())

        def end():
            os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()

        self.addCleanup(end)

    def test_fetch(self):
        """[R100] A page of another origin sends the key, reads marker and errors, and nothing that is not exposed."""
        port = []
        shop = Shop(lambda: port[0])
        self.addCleanup(shop.server_close)
        self.addCleanup(shop.shutdown)
        origin = f"http://127.0.0.1:{shop.server_address[1]}"
        upstream, proxy = self.pair(response_bytes(201, b'{"id":1}', [("X-Hidden", "1")]), cors={"allow_origins": [origin]})
        port.append(proxy.port)
        self.browse(origin + "/")
        self.assertTrue(shop.arrived.wait(3 * PATIENCE), "the page did not come to its end")
        first, again, other, keyless, closed = shop.results
        self.assertEqual((first["status"], first["text"], first["marker"], first["hidden"]), (201, '{"id":1}', None, None))
        self.assertEqual((again["status"], again["text"], again["marker"]), (201, '{"id":1}', "true"))
        self.assertEqual((other["status"], json.loads(other["text"])["code"]), (422, "key-reused"))
        self.assertEqual((keyless["status"], json.loads(keyless["text"])["code"]), (400, "key-missing"))
        self.assertIn("describedby", keyless["link"])
        self.assertEqual(closed, {"failed": "TypeError"})
        self.assertEqual(upstream.hits('"k"'), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)

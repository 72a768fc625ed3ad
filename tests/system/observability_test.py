"""What an operator and a client developer can see: access log, metrics, health, the policy page."""

import json
import unittest

from harness.cases import SystemCase, on_both_stores
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.upstream import CLOSE, Gate
from harness.waiting import wait_until

LOG_FIELDS = ["time", "route", "method", "path", "status", "outcome", "key_hash", "fingerprint", "attempt", "replayed",
              "bytes_in", "bytes_out", "duration_ms", "upstream_ms", "store_ms", "trace_id", "client"]
COUNTERS = {"oncegate_requests_total": "counter", "oncegate_unrecorded_total": "counter",
            "oncegate_expired_key_retries_total": "counter", "oncegate_takeovers_total": "counter",
            "oncegate_stale_completions_total": "counter", "oncegate_reaped_total": "counter",
            "oncegate_request_duration_seconds": "histogram", "oncegate_upstream_duration_seconds": "histogram",
            "oncegate_store_duration_seconds": "histogram", "oncegate_store_batch_size": "histogram",
            "oncegate_connections": "gauge", "oncegate_requests_in_flight": "gauge", "oncegate_build_info": "gauge"}
SECRET = "secret-key-3141592653"


@on_both_stores
class AccessLog(SystemCase):
    def test_fields_of_a_first_delivery_and_a_replay(self):
        """One JSON object a request on standard output, with every field of the contract."""
        _, proxy = self.setup_pair(response_bytes(201, b"hello"))
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        traced = [("traceparent", f"00-{trace}-00f067aa0ba902b7-01")]
        proxy.post('"k"', b'{"amount":100}', "/pay/x?secret=1", traced)
        proxy.post('"k"', b'{"amount":100}', "/pay/x?secret=1")
        first, replay = sorted(proxy.access_log(2), key=lambda entry: entry["replayed"])
        for entry in (first, replay):
            self.assertEqual([name for name in LOG_FIELDS if name not in entry], [], entry)
            self.assertEqual((entry["route"], entry["method"], entry["path"], entry["status"]), ("pay", "POST", "/pay/x", 201))
            self.assertTrue(entry["client"].startswith("127.0.0.1"))
            self.assertGreaterEqual(entry["bytes_in"], 14)
            self.assertGreaterEqual(entry["bytes_out"], 5)
            self.assertRegex(entry["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
        self.assertEqual((first["outcome"], first["replayed"], first["attempt"]), ("forwarded", False, 1))
        self.assertEqual((replay["outcome"], replay["replayed"]), ("replayed", True))
        self.assertEqual(first["key_hash"], replay["key_hash"])
        self.assertEqual(first["fingerprint"], replay["fingerprint"])
        self.assertEqual(first["trace_id"], trace)
        self.assertRegex(replay["trace_id"], r"^[0-9a-f]{32}$")

    def test_outcomes_of_refusals(self):
        """The outcome names of the contract."""
        upstream, proxy = self.setup_pair()
        proxy.ask("POST", "/pay", (), b"{}")
        proxy.post("a,b")
        proxy.post('"k"')
        proxy.post('"k"', b"other")
        proxy.ask("GET", "/plain")
        upstream.answer(CLOSE)
        proxy.post('"broken"')
        proxy.post('"broken"')
        self.assertCountEqual([entry["outcome"] for entry in proxy.access_log(7)],
                              ["key_missing", "key_invalid", "forwarded", "key_reused", "passthrough", "bad_gateway",
                               "outcome_unknown"])

    def test_the_key_and_the_principal_stay_out_of_the_log(self):
        """[R40] Hashes only, everywhere: access log, program log, metrics."""
        upstream, proxy = self.setup_pair(policy={"scope": ["route", "header:Authorization"]})
        who = [("Authorization", "Bearer token-2718281828")]
        for body in (b"{}", b"{}", b"other"):
            proxy.post(f'"{SECRET}"', body, fields=who)
        upstream.answer(CLOSE)
        proxy.post(f'"{SECRET}-2"', fields=who)
        proxy.access_log(4)
        said = proxy.stdout_text() + proxy.stderr_text() + proxy.admin("/metrics").body.decode()
        self.assertNotIn(SECRET, said)
        self.assertNotIn("2718281828", said)

    def test_plain_keys_on_request(self):
        """[R40] `log.keys: plain` writes the key."""
        _, proxy = self.setup_pair(log={"keys": "plain"})
        proxy.post(f'"{SECRET}"')
        proxy.access_log(1)
        self.assertIn(SECRET, proxy.stdout_text())

    def test_log_is_safe_against_what_clients_send(self):
        """One line a request, valid JSON, whatever the target holds."""
        _, proxy = self.setup_pair()
        for target in ('/a"b\\c', "/%0a%0d%00", "/x?" + '"' * 50, "/" + "~" * 3000):
            proxy.ask("GET", target)
        self.assertEqual(len(proxy.access_log(4)), 4)

    def test_log_in_a_file(self):
        """`log.file`: the access log goes there, standard output stays empty."""
        path = f"{self.directory}/access.log"
        _, proxy = self.setup_pair(log={"file": path})
        proxy.post('"k"')
        proxy.stop()
        with open(path, encoding="utf-8") as file:
            self.assertEqual([json.loads(line)["outcome"] for line in file], ["forwarded"])
        self.assertEqual(proxy.stdout_text(), "")


@on_both_stores
class Metrics(SystemCase):
    def test_names_and_types(self):
        """The families of the contract, of the right type."""
        upstream, proxy = self.setup_pair()
        upstream.answer_next(response_bytes(201))
        for _ in range(2):
            proxy.post('"k"')
        answer = proxy.admin("/metrics")
        self.assertEqual(answer.status, 200)
        self.assertTrue(answer.get("Content-Type").startswith("text/plain"))
        types = dict(line.split(" ")[2:4] for line in answer.body.decode().splitlines() if line.startswith("# TYPE "))
        self.assertEqual({name: types.get(name) for name in COUNTERS}, COUNTERS)
        self.assertEqual([name for name in types if not name.startswith("oncegate_")], [])

    def test_counting(self):
        """Outcomes by route, durations, what is under way."""
        gate = Gate()
        upstream, proxy = self.setup_pair(gate, response_bytes(201))
        with proxy.connect() as connection:
            connection.send(request_bytes("POST", "/pay", keyed('"k"'), b'{"amount":100}'))
            upstream.wait_for(1)
            self.assertEqual(proxy.metric("oncegate_requests_in_flight", route="pay"), 1)
            for side in ("client", "upstream"):
                self.assertGreaterEqual(proxy.metric("oncegate_connections", side=side), 1, side)
            proxy.post('"k"')
            gate.set()
            connection.receive()
        proxy.post('"k"')
        for outcome in ("forwarded", "in_flight", "replayed"):
            wait_until(lambda name=outcome: proxy.metric("oncegate_requests_total", route="pay", outcome=name) == 1, outcome)
            self.assert_metric(proxy, 1, "oncegate_request_duration_seconds_count", route="pay", outcome=outcome)
        self.assertEqual(proxy.metric("oncegate_requests_in_flight", route="pay"), 0)
        self.assertEqual(proxy.metric("oncegate_upstream_duration_seconds_count", upstream="app"), 1)


class AdminAndPolicyPage(SystemCase):
    def test_health(self):
        """Live and ready; an unknown path is 404; no proxying happens there."""
        upstream, proxy = self.setup_pair()
        self.assertEqual(proxy.admin("/healthz").status, 200)
        self.assertEqual(proxy.admin("/readyz").status, 200)
        self.assertEqual(proxy.admin("/pay").status, 404)
        self.assertEqual(upstream.hits(), 0)

    def test_admin_paths_are_not_on_the_proxy_listener(self):
        """`/metrics` there belongs to the upstream."""
        upstream, proxy = self.setup_pair()
        proxy.ask("GET", "/metrics")
        self.assertEqual(upstream.wait_for(1).target, "/metrics")

    def test_policy_page(self):
        """[R103] HTML for a browser, JSON on request: required, syntax, lifetime of each route, every error."""
        upstream, proxy = self.setup_pair(policy={"ttl": "90m"})
        html = proxy.ask("GET", "/.well-known/idempotency", [("Accept", "text/html,*/*;q=0.8")])
        self.assertEqual(html.status, 200)
        self.assertTrue(html.get("Content-Type").startswith("text/html"))
        for fragment in ("key-missing", "key-invalid", "key-reused", "in-flight", "outcome-unknown", "store-unavailable"):
            self.assertIn(f'id="{fragment}"'.encode(), html.body)
        page = proxy.ask("GET", "/.well-known/idempotency", [("Accept", "application/json")])
        self.assertEqual((page.status, page.get("Content-Type").partition(";")[0]), (200, "application/json"))
        text = json.dumps(page.json())
        for word in ("pay", "any", "key-reused"):
            self.assertIn(word, text)
        self.assertNotIn(f"127.0.0.1:{upstream.port}", text + html.body.decode())
        self.assertEqual(upstream.hits(), 0)

    def test_problem_type_leads_to_the_policy_page(self):
        """[R95][R96] An absolute URL; the page it names exists and has the fragment."""
        _, proxy = self.setup_pair()
        refused = proxy.ask("POST", "/pay", [("Accept", "text/html")], b"{}")
        self.assert_problem(refused, "key-missing")
        url, _, fragment = refused.json()["type"].partition("#")
        self.assertRegex(url, r"^https?://[^/]+/\.well-known/idempotency$")
        self.assertIn(url, refused.get("Link"))
        page = proxy.ask("GET", url[url.index("/.well-known"):])
        self.assertIn(fragment.encode(), page.body)

    def test_problems_tell_nothing_about_the_inside(self):
        """[R101] No upstream address, no SQL, no stored response in a problem document."""
        upstream, proxy = self.setup_pair(CLOSE)
        for response in (proxy.post('"k"'), proxy.post('"k"'), proxy.post('"k"', b"other"), proxy.post("a,b")):
            text = response.body.decode()
            for word in (str(upstream.port), "127.0.0.1", "SELECT", "INSERT", "amount", "a,b"):
                self.assertNotIn(word, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)

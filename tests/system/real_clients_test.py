"""Programs that people use, through the built program: curl, node's fetch, the stripe library."""

import gzip
import http.client
import itertools
import json
import os
import shutil
import subprocess
import unittest

from harness.cases import OnPostgres, SystemCase, on_both_stores
from harness.client import Response, keyed
from harness.http import request_bytes, response_bytes
from harness.programs import NODE, node, run
from harness.upstream import CLOSE, Gate
from harness.waiting import PATIENCE

INTENTS = "/v1/payment_intents"


def curl(proxy, key, data='{"amount":100}', *options):
    """One POST; the answer as curl shows it with -i."""
    shown = run("curl", "-sS", "-i", "-H", f"Idempotency-Key: {key}", "-H", "Content-Type: application/json", "--data-binary",
                data, *options, f"http://127.0.0.1:{proxy.port}/pay")
    while shown.startswith(b"HTTP/1.1 100 "):
        shown = shown.partition(b"\r\n\r\n")[2]
    head, _, body = shown.partition(b"\r\n\r\n")
    response = Response(head + b"\r\n\r\n")
    response.body = body
    return response


def fetch(proxy, key, body='{"amount":100}'):
    return json.loads(node("fetch_client.mjs", f"http://127.0.0.1:{proxy.port}/pay", key, body))


def stripe(proxy, *calls, retries=0):
    """Results of (amount, key) in turn; None as key: the library's own."""
    listed = json.dumps([{"amount": amount, "key": key} for amount, key in calls])
    return json.loads(node("stripe_client.mjs", proxy.port, listed, env={"STRIPE_RETRIES": str(retries)}))


@on_both_stores
class RealClients(SystemCase):
    def test_curl_quoted_and_bare(self):
        """[R29][R30][R74] The same key in both spellings: the second answer is the first, marked."""
        upstream, proxy = self.setup_pair()
        key = "8e03978e-40d5-43e8-bc93-6894a57f9324"
        first = curl(proxy, f'"{key}"')
        self.assertEqual((first.status, first.body), (201, b'{"id":"pay_1"}'))
        self.assert_replay_of(first, curl(proxy, f'"{key}"'))
        self.assert_replay_of(first, curl(proxy, key))
        self.assert_problem(curl(proxy, key, '{"amount":999}'), "key-reused")
        self.assertEqual(upstream.hits(), 1)

    def test_curl_bare_key_on_a_strict_route(self):
        """[R16][R141] 400 whose text says what to send and names the setting."""
        _, proxy = self.setup_pair(policy={"key": {"syntax": "string"}})
        refused = curl(proxy, "8e03978e-40d5-43e8-bc93-6894a57f9324")
        self.assert_problem(refused, "key-invalid")
        self.assertIn('"', refused.json()["detail"])
        self.assertIn("syntax", refused.json()["detail"])

    def test_curl_with_a_large_body(self):
        """[R123] Expect: 100-continue is answered at once: curl would wait a second otherwise."""
        upstream, proxy = self.setup_pair(lambda request: response_bytes(201, b"%d" % len(request.body)))
        path = os.path.join(self.directory, "large")
        with open(path, "wb") as file:
            file.write(bytes(range(256)) * 12_000)
        shown = run("curl", "-sS", "-o", os.devnull, "-w", "%{time_total} %{http_code}", "-H", "Idempotency-Key: large",
                    "-H", "Expect: 100-continue", "--data-binary", f"@{path}", f"http://127.0.0.1:{proxy.port}/pay")
        seconds, status = shown.split()
        self.assertEqual(status, b"201")
        self.assertLess(float(seconds), 1.0)
        self.assertEqual(upstream.requests[0].body, bytes(range(256)) * 12_000)

    def test_node_fetch(self):
        """[R74][R41] First, replay, mismatch, and the quoted spelling of the same key."""
        upstream, proxy = self.setup_pair()
        first = fetch(proxy, "fetch-key-1")
        self.assertEqual((first["status"], first["body"]), (201, '{"id":"pay_1"}'))
        for key in ("fetch-key-1", '"fetch-key-1"'):
            replay = fetch(proxy, key)
            marked = [pair for pair in replay["headers"] if pair[0] == "idempotent-replayed"]
            self.assertEqual(marked, [["idempotent-replayed", "true"]])
            own = ("connection", "keep-alive")
            self.assertEqual([pair for pair in replay["headers"] if pair not in marked and pair[0] not in own],
                             [pair for pair in first["headers"] if pair[0] not in own])
            self.assertEqual((replay["status"], replay["body"]), (201, first["body"]))
        refused = fetch(proxy, "fetch-key-1", '{"amount":999}')
        self.assertEqual(refused["status"], 422)
        self.assertTrue(json.loads(refused["body"])["type"].endswith("#key-reused"))
        self.assertEqual(upstream.hits(), 1)


@on_both_stores
class Stripe(SystemCase):
    """The library sends bare keys, form bodies, telemetry that differs between calls, and takes an error body without
    `error` for success."""

    def stripe_pair(self, policy=None):
        numbers = itertools.count(1)
        upstream, proxy = self.setup_pair(
            lambda request: response_bytes(200, b'{"id":"pi_%d","object":"payment_intent"}' % next(numbers),
                                           [("Content-Type", "application/json"), ("request-id", "req_1")]),
            policy={"key": {"syntax": "bare"}, "scope": ["route", "header:Authorization"], **(policy or {})})
        return upstream, proxy

    def config(self, upstream, policy=None, **sections):
        config = super().config(upstream, policy, **sections)
        config["routes"][0]["match"]["path"] = "/v1/**"
        return config

    def test_first_and_replay(self):
        """[R45][R141] Two calls with one key resolve to one intent, the second marked."""
        upstream, proxy = self.stripe_pair()
        first, replay, other = stripe(proxy, (100, "order-1"), (100, "order-1"), (100, None))
        self.assertEqual(first, {"resolved": True, "id": "pi_1", "status": 200, "replayed": None})
        self.assertEqual(replay, {"resolved": True, "id": "pi_1", "status": 200, "replayed": "true"})
        self.assertEqual((other["id"], other["replayed"]), ("pi_2", None))
        self.assertEqual(upstream.requests[0].target, INTENTS)
        self.assertTrue(upstream.requests[1].key.startswith("stripe-node-retry-"))
        self.assertEqual(upstream.hits(), 2)

    def test_every_refusal_rejects(self):
        """[R143] 422, 409 in flight, 409 unknown, 400: the promise rejects, with status and message."""
        upstream, proxy = self.stripe_pair()
        gate = Gate()
        stripe(proxy, (100, "done"))
        upstream.answer_next(CLOSE)
        stripe(proxy, (100, "broken"))
        upstream.answer_next(gate, response_bytes(200, b"{}"))
        with proxy.connect() as connection:
            form = b"amount=100&currency=eur"
            connection.send(request_bytes("POST", INTENTS, [
                ("Idempotency-Key", "running"), ("Content-Type", "application/x-www-form-urlencoded"),
                ("Authorization", "Bearer sk_test_loopback")], form))
            upstream.wait_for(3)
            results = stripe(proxy, (999, "done"), (100, "running"), (100, "broken"), (100, "k" * 256))
            gate.set()
        self.assertEqual([(result["resolved"], result["status"]) for result in results],
                         [(False, 422), (False, 409), (False, 409), (False, 400)])
        for result in results:
            self.assertTrue(result["message"], result)
            self.assertNotIn("JSON", result["message"])
        self.assertEqual(upstream.hits(), 3)

    def test_the_library_s_own_retries(self):
        """[R62][R64] The connection breaks under the first attempt: its retries, same key, are not executed again."""
        upstream, proxy = self.stripe_pair()
        upstream.answer_next(CLOSE)
        (result,) = stripe(proxy, (100, None), retries=2)
        self.assertEqual((result["resolved"], result["status"]), (False, 409))
        self.assertEqual(upstream.hits(), 1)

    def test_waiting_route(self):
        """[R145] Two processes at once on a route that waits: both resolve to the one intent."""
        upstream, proxy = self.stripe_pair({"in_flight": {"action": "wait", "wait": "15s"}})
        command = ["node", os.path.join(NODE, "stripe_client.mjs"), str(proxy.port), '[{"amount":100,"key":"both"}]']
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) for _ in range(2)]
        results = [json.loads(process.communicate(timeout=3 * PATIENCE)[0])[0] for process in both]
        self.assertEqual([result["id"] for result in results], ["pi_1", "pi_1"])
        self.assertEqual({result["replayed"] for result in results}, {None, "true"})
        self.assertEqual(upstream.hits(), 1)


class PlainClients(SystemCase):
    """Clients of a route without a policy: whatever they do by themselves works."""

    def echo_pair(self):
        return self.setup_pair(lambda request: response_bytes(200, request.body or b"nothing"))

    def curl(self, proxy, *options, stdin=None, path="/plain"):
        return run("curl", "-sS", *options, f"http://127.0.0.1:{proxy.port}{path}", stdin=stdin)

    def test_curl_versions(self):
        """[R127] HTTP/1.0 and 1.1; a chunked answer reaches 1.0 as one that ends with its connection."""
        upstream, proxy = self.echo_pair()
        upstream.answer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nchunks\r\n0\r\n\r\n")
        for option in ("--http1.0", "--http1.1"):
            self.assertEqual(self.curl(proxy, option), b"chunks")
            self.assertEqual(self.curl(proxy, option, "--data", "x"), b"chunks")

    def test_curl_upload_from_a_pipe(self):
        """`-T -` sends chunks, for curl cannot know the length; with and without waiting for 100."""
        upstream, proxy = self.echo_pair()
        body = bytes(range(256)) * 8192
        for options in ((), ("--expect100-timeout", "20"), ("-H", "Expect:")):
            shown = self.curl(proxy, "-T", "-", *options, "-w", "%{time_total}", stdin=body, path="/up/")
            self.assertTrue(shown.startswith(body))
            self.assertLess(float(shown[len(body):]), 10)  # nobody sat out the 20 seconds
        for number in (1, 2, 3):
            request = upstream.wait_for(number)
            self.assertEqual((request.method, request.get("Transfer-Encoding")), ("PUT", "chunked"))

    def test_curl_compressed(self):
        """[R85] A content coding is between the client and the upstream."""
        upstream, proxy = self.echo_pair()
        upstream.answer(response_bytes(200, gzip.compress(b"plain text"), [("Content-Encoding", "gzip")]))
        self.assertEqual(self.curl(proxy, "--compressed"), b"plain text")
        self.assertIn("gzip", upstream.wait_for(1).get("Accept-Encoding"))

    def test_curl_keeps_its_connection(self):
        """Several URLs in one call go over one connection."""
        _, proxy = self.echo_pair()
        url = f"http://127.0.0.1:{proxy.port}/again"
        shown = self.curl(proxy, url, url, "-o", os.devnull, "-o", os.devnull, "-o", os.devnull, "-w", "%{num_connects}")
        self.assertEqual(shown, b"100")

    def test_node_agents(self):
        """node's http agent and fetch, many requests at once over kept connections."""
        upstream, proxy = self.echo_pair()
        said = json.loads(node("keep_alive_client.mjs", f"http://127.0.0.1:{proxy.port}/plain", 40))
        expected = [[200, f"number {number}"] for number in range(40)]
        self.assertEqual((said["byAgent"], said["byFetch"]), (expected, expected))
        self.assertLessEqual(said["sockets"], 2)
        self.assertEqual(upstream.hits(), 80)

    def test_python_http_client(self):
        """http.client: lengths, chunks from an iterator, and one connection throughout."""
        _, proxy = self.echo_pair()
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        for body, expected in ((b"whole", b"whole"), (iter([b"in ", b"pieces"]), b"in pieces"), (None, b"nothing")):
            connection.request("POST", "/plain", body=body, encode_chunked=True)
            sock = connection.sock
            response = connection.getresponse()
            self.assertEqual((response.status, response.read()), (200, expected))
            self.assertIs(connection.sock, sock)

    @unittest.skipUnless(shutil.which("wrk"), "wrk is not installed")
    def test_wrk(self):
        """A second of load without a failed request."""
        _, proxy = self.echo_pair()
        said = run("wrk", "-t1", "-c16", "-d1s", f"http://127.0.0.1:{proxy.port}/plain").decode()
        self.assertNotIn("Socket errors", said)
        self.assertNotIn("Non-2xx", said)
        self.assertIn("requests in", said)

    @unittest.skipUnless(shutil.which("h2load"), "h2load is not installed")
    def test_h2load(self):
        """The same with h2load speaking HTTP/1.1."""
        _, proxy = self.echo_pair()
        said = run("h2load", "--h1", "-n", "500", "-c", "8", f"http://127.0.0.1:{proxy.port}/plain").decode()
        self.assertIn("500 succeeded, 0 failed, 0 errored", said)


class RealClientsOnTwoInstances(OnPostgres, SystemCase):
    def test_first_here_replay_there(self):
        """[R74] curl, fetch and back again over two instances on one database."""
        upstream = self.upstream()
        config = self.config(upstream)
        one, two = self.proxy(config), self.proxy(config)
        first = curl(one, "shared-key")
        self.assert_replay_of(first, curl(two, '"shared-key"'))
        replay = fetch(two, "shared-key")
        self.assertEqual((replay["status"], replay["body"].encode()), (first.status, first.body))
        self.assertIn(["idempotent-replayed", "true"], replay["headers"])
        self.assert_problem(curl(two, "shared-key", '{"amount":999}'), "key-reused")
        self.assert_replay_of(first, one.ask("POST", "/pay", keyed("shared-key"), b'{"amount":100}'))
        self.assertEqual(upstream.hits(), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)

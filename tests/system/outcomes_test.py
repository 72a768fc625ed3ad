"""What the end of an attempt means for its key: recorded, free, or unknown."""

import unittest

from harness.cases import SystemCase, on_both_stores
from harness.client import keyed
from harness.http import Broken, request_bytes, response_bytes
from harness.ports import free_port
from harness.upstream import CLOSE, RESET, Gate

RECORDED = [200, 201, 202, 204, 206, 301, 302, 303, 400, 402, 404, 405, 406, 410, 411, 412, 413, 415, 422, 424, 428, 431, 451,
            500, 501, 505, 507, 511, 599]
FREE = [307, 308, 401, 403, 407, 408, 409, 421, 423, 425, 429, 503]
UNKNOWN = [502, 504]

WHOLE = response_bytes(201, b"x" * 1000)
BROKEN_RESPONSES = {
    "closed without an answer": (CLOSE,),
    "reset without an answer": (RESET,),
    "cut off in the head": (WHOLE[:30], CLOSE),
    "cut off before the body": (WHOLE[:-1000], CLOSE),
    "cut off in the body": (WHOLE[:-1], CLOSE),
    "reset in the body": (WHOLE[:-500], RESET),
    "no last chunk": (b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", CLOSE),
    "bad chunk size": (b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",),
    "only an interim response": (b"HTTP/1.1 103 Early Hints\r\n\r\n", CLOSE),
    "both framings": (b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", CLOSE),
    "two lengths": (b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", CLOSE),
    "not HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", CLOSE),
    "NUL in the head": (b"HTTP/1.1 201 Created\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n",),
}


@on_both_stores
class StatusTable(SystemCase):
    def test_recorded_statuses(self):
        """[R91][R88][R110] Replayed, and executed once."""
        upstream, proxy = self.setup_pair()
        for status in RECORDED:
            with self.subTest(status):
                upstream.answer(response_bytes(status, b"" if status == 204 else b"body", [("Location", "/x")]))
                first = proxy.post(f'"k{status}"')
                self.assertEqual(first.status, status)
                self.assert_replay_of(first, proxy.post(f'"k{status}"'))
                self.assertEqual(upstream.hits(f'"k{status}"'), 1)

    def test_freeing_statuses(self):
        """[R91][R92][R144] Passed on; the key is as never seen, for another payload too."""
        upstream, proxy = self.setup_pair()
        for status in FREE:
            with self.subTest(status):
                upstream.answer_next(response_bytes(status, b"not done", [("Retry-After", "3"), ("Location", "/x")]))
                first = proxy.post(f'"k{status}"')
                self.assertEqual((first.status, first.body, first.get("Retry-After")), (status, b"not done", "3"))
                second = proxy.post(f'"k{status}"', b'{"another":"payload"}')
                self.assertEqual((second.status, second.replayed), (201, False))
                self.assertEqual(upstream.requests[-1].all("Idempotency-Attempt"), [])
                self.assertEqual(upstream.hits(f'"k{status}"'), 2)

    def test_unknown_statuses(self):
        """[R62][R91] A gateway's own 502 or 504 is passed on, then held."""
        upstream, proxy = self.setup_pair()
        for status in UNKNOWN:
            with self.subTest(status):
                upstream.answer_next(response_bytes(status, b"gateway says"))
                first = proxy.post(f'"k{status}"')
                self.assertEqual((first.status, first.body), (status, b"gateway says"))
                self.assert_problem(proxy.post(f'"k{status}"'), "outcome-unknown")
                self.assertEqual(upstream.hits(f'"k{status}"'), 1)

    def test_table_of_the_route(self):
        """[R91] `free_statuses` and `unknown_statuses` as written, ranges and classes included."""
        upstream, proxy = self.setup_pair(
            policy={"record": {"free_statuses": ["4xx", "500-501"], "unknown_statuses": [503]}})
        for status, expected in ((404, (201, None)), (501, (201, None)), (503, (409, "outcome-unknown")), (502, (502, None))):
            with self.subTest(status):
                upstream.answer_next(response_bytes(status, b"first"))
                proxy.post(f'"k{status}"')
                self.assertEqual(proxy.post(f'"k{status}"').summary(), expected)


@on_both_stores
class FailedAttempts(SystemCase):
    def test_upstream_never_reached(self):
        """[R61][R93] Connection refused: 502 #upstream-unreachable, and the key is free."""
        port = free_port()
        upstream, proxy = self.setup_pair(upstreams={"app": {"servers": [f"http://127.0.0.1:{port}"]}})
        self.assert_problem(proxy.post('"k"'), "upstream-unreachable")
        upstream = self.upstream(port=port)
        answer = proxy.post('"k"', b'{"another":"payload"}')
        self.assertEqual((answer.status, answer.replayed), (201, False))
        self.assertEqual(upstream.requests[0].all("Idempotency-Attempt"), [])

    def test_connect_timeout(self):
        """[R61] No connection in time: 502 or 504, and the key is free."""
        deaf = self.deaf_listener()
        proxy = self.proxy(self.config(deaf, upstreams={"app": {"timeouts": {"connect": "200ms"}}}))
        for _ in range(2):
            self.assert_problem(proxy.post('"k"'), "upstream-unreachable")

    def test_broken_responses_are_unknown(self):
        """[R60][R62][R87][R120] Anything sent and no complete response: 502, then held, never sent again."""
        upstream, proxy = self.setup_pair()
        for number, (name, steps) in enumerate(BROKEN_RESPONSES.items()):
            with self.subTest(name):
                upstream.answer(*steps)
                self.assert_problem(proxy.post(f'"k{number}"'), "upstream-failed")
                self.assert_problem(proxy.post(f'"k{number}"'), "outcome-unknown")
                self.assertEqual(upstream.hits(f'"k{number}"'), 1)

    def test_kept_connection_that_dies_under_the_request(self):
        """[R60] A pooled connection closed by the upstream at the request is no reason to send it again."""
        upstream, proxy = self.setup_pair()
        with proxy.connect() as connection:
            connection.ask("POST", "/pay", keyed('"warm"'), b"{}")
            upstream.answer(CLOSE)
            self.assert_problem(connection.ask("POST", "/pay", keyed('"k"'), b"{}"), "upstream-failed")
        self.assertEqual(upstream.hits('"k"'), 1)

    def test_response_timeout(self):
        """[R62] 504 #upstream-timeout after the upstream's response time, then held."""
        upstream, proxy = self.setup_pair(Gate(), upstreams={"app": {"timeouts": {"response": "300ms"}}})
        self.assert_problem(proxy.post('"k"'), "upstream-timeout")
        self.assert_problem(proxy.post('"k"'), "outcome-unknown")
        self.assertEqual(upstream.hits('"k"'), 1)

    def test_stalled_body(self):
        """[R62][R87] A response whose body stops coming is given up after `body_idle`."""
        upstream, proxy = self.setup_pair(WHOLE[:-500], Gate(), server={"timeouts": {"body_idle": "300ms"}})
        self.assertIn(proxy.post('"k"').problem(), ("upstream-timeout", "upstream-failed"))
        self.assert_problem(proxy.post('"k"'), "outcome-unknown")
        self.assertEqual(upstream.hits(), 1)

    def test_large_response_cut_off(self):
        """[R147][R87] Cut off upstream is cut off downstream, and never recorded as complete."""
        upstream, proxy = self.setup_pair()
        head = b"HTTP/1.1 201 Created\r\n"
        part = b"x" * (1 << 20)
        for name, steps in (("length", (head + b"Content-Length: 9000000\r\n\r\n" + part, CLOSE)),
                            ("chunked", (head + b"Transfer-Encoding: chunked\r\n\r\n100000\r\n" + part + b"\r\n", CLOSE))):
            with self.subTest(name):
                upstream.answer(*steps)
                with proxy.connect() as connection:
                    connection.send(request_bytes("POST", "/pay", keyed(f'"{name}"'), b'{"amount":100}'))
                    try:
                        response = connection.receive()
                        self.assert_problem(response, "upstream-failed")
                    except (Broken, ConnectionResetError):
                        pass  # the head had gone out already
                self.assert_problem(self.settle(lambda key=name: proxy.post(f'"{key}"')), "outcome-unknown")
                self.assertEqual(upstream.hits(f'"{name}"'), 1)

    def test_retry_policy(self):
        """[R63] `unknown_outcome: retry`: the next request is forwarded and says Idempotency-Attempt: 2."""
        upstream, proxy = self.setup_pair(policy={"unknown_outcome": "retry"})
        upstream.answer_next(CLOSE)
        self.assert_problem(proxy.post('"k"'), "upstream-failed")
        second = proxy.post('"k"')
        self.assertEqual((second.status, second.replayed), (201, False))
        self.assertEqual([r.all("Idempotency-Attempt") for r in upstream.requests], [[], ["2"]])
        self.assert_replay_of(second, proxy.post('"k"'))
        self.assertEqual(upstream.hits(), 2)

    def test_freeing_status_after_a_take_over(self):
        """[R62] The earlier attempt may have acted: the key is unknown, not free, and stays bound to its payload."""
        upstream, proxy = self.setup_pair(policy={"unknown_outcome": "retry"})
        upstream.answer_next(CLOSE)
        upstream.answer_next(response_bytes(429, b"later"))
        proxy.post('"k"')
        self.assertEqual(proxy.post('"k"').status, 429)
        self.assert_problem(proxy.post('"k"', b'{"another":"payload"}'), "key-reused")
        self.assertEqual(proxy.post('"k"').status, 201)
        self.assertEqual(upstream.requests[-1].get("Idempotency-Attempt"), "3")

    def test_fail_policy(self):
        """[R62] `unknown_outcome: fail`: the 502 or 504 is the result, replayed from then on."""
        upstream, proxy = self.setup_pair(policy={"unknown_outcome": "fail"})
        upstream.answer_next(CLOSE)
        first = proxy.post('"broken"')
        self.assertEqual(first.summary(), (502, "upstream-failed"))
        replay = proxy.post('"broken"')
        self.assertEqual((replay.summary(), replay.body, replay.replayed), ((502, "upstream-failed"), first.body, True))
        upstream.answer_next(response_bytes(504, b"gateway says"))
        first = proxy.post('"gateway"')
        self.assert_replay_of(first, proxy.post('"gateway"'))
        self.assertEqual(upstream.hits(), 2)

    def test_own_errors_are_never_results(self):
        """[R93] A refusal leaves no record: the same key is a first request afterwards."""
        upstream, proxy = self.setup_pair(server={"limits": {"request_body": "1KiB"}})
        self.assert_problem(proxy.post('"k"', b"x" * 2000), "body-too-large")
        self.assertFalse(proxy.post('"k"').replayed)
        self.assertEqual(upstream.hits(), 1)

    def test_should_retry_of_the_upstream_is_replayed_as_false(self):
        """[R146] A recorded error does not tell the client to go on."""
        _, proxy = self.setup_pair(response_bytes(500, b"", [("x-should-retry", "true"), ("Stripe-Should-Retry", "true")]))
        first, replay = proxy.post('"k"'), proxy.post('"k"')
        for name in ("x-should-retry", "Stripe-Should-Retry"):
            self.assertEqual((first.get(name), replay.get(name)), ("true", "false"))


if __name__ == "__main__":
    unittest.main(verbosity=2)

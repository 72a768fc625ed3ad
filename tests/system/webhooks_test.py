"""Webhooks as real senders shape them (../data/webhooks): delivered twice, out of order, at the same time and after failures."""

import os
import re
import unittest

from harness.cases import SystemCase
from harness.http import Head, response_bytes
from harness.upstream import CLOSE, Gate

MESSAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "webhooks")

# A policy a sender, as one would write it; `scope` is [route] where nothing else is said.
POLICIES = {
    "standard-webhooks": {"preset": "webhook"},
    "stripe": {"preset": "webhook", "key": {"from": "json:/id"}, "fingerprint": {"body": "json", "ignore": ["/pending_webhooks"]}},
    "github": {"preset": "webhook", "key": {"from": "header:X-GitHub-Delivery"},
               "scope": ["route", "header:X-GitHub-Hook-Installation-Target-ID"]},
    "shopify": {"preset": "webhook", "key": {"from": {"all": ["header:X-Shopify-Event-Id", "header:X-Shopify-Topic"]}},
                "scope": ["route", "header:X-Shopify-Shop-Domain"]},
    "cloudevents": {"preset": "cloudevents"},
    "toss": {"preset": "webhook", "key": {"from": "header:tosspayments-webhook-transmission-id"}},
    "paypal": {"preset": "webhook", "key": {"from": "json:/id"}},
}
ORDERS = ("A1 A2 B1 B2", "A1 B1 A2 B2", "B1 A1 A2 B2", "B2 A1 B1 A2", "A2 B2 B1 A1")
IN_FLIGHT = (409, 503)  # what senders deliver again


def messages_of(sender):
    """Name to bytes, from the sender's file."""
    with open(os.path.join(MESSAGES, f"{sender}.http"), encoding="utf-8") as file:
        parts = file.read().split("### ")[1:]
    messages = {}
    for part in parts:
        name, _, message = part.partition("\n")
        head, _, body = message.partition("\n\n")
        content = body.rstrip("\n").encode()
        lines = [*head.encode().split(b"\n"), b"Content-Length: %d" % len(content)]
        messages[name] = b"\r\n".join(lines) + b"\r\n\r\n" + content
    return messages


def numbered_answers():
    """An upstream whose answers tell apart how often it ran: 200 as senders want it, with the number of the execution."""
    count = iter(range(1, 1000))
    return lambda _: response_bytes(200, b"received %d" % next(count), [("Content-Type", "text/plain")])


class Deliveries(SystemCase):
    def receiver(self, *steps, policies=None):
        """An upstream and a proxy with a route a sender."""
        self.use_new_store()
        upstream = self.upstream(*(steps or (numbered_answers(),)))
        routes = [{"name": sender, "match": {"methods": ["POST"], "path": f"/hooks/{sender}/**"}, "upstream": "app",
                   "idempotency": {"scope": ["route"], **policy}}
                  for sender, policy in (policies or POLICIES).items()]
        return upstream, self.proxy({**self.config(upstream), "routes": routes})

    def deliver(self, proxy, message):
        with proxy.connect() as connection:
            connection.send(message)
            return connection.receive()

    @staticmethod
    def senders():
        """(sender, its messages)."""
        return [(sender, messages_of(sender)) for sender in POLICIES]


class EverySender(Deliveries):
    def test_delivered_twice(self):
        """[R8][R109][R110][R111] One execution; the second delivery gets the first one's 200 again, not 204."""
        upstream, proxy = self.receiver()
        for sender, messages in self.senders():
            with self.subTest(sender):
                before = upstream.hits()
                first, second = self.deliver(proxy, messages["A1"]), self.deliver(proxy, messages["A2"])
                self.assertEqual((first.status, first.replayed), (200, False))
                self.assert_replay_of(first, second)
                self.assertEqual(upstream.hits() - before, 1)

    def test_the_receiver_gets_what_was_sent(self):
        """[R10][R150] Signatures cover the content and the fields: both arrive as they are."""
        upstream, proxy = self.receiver()
        for sender, messages in self.senders():
            with self.subTest(sender):
                self.deliver(proxy, messages["A1"])
                head, _, body = messages["A1"].partition(b"\r\n\r\n")
                sent = Head(head + b"\r\n\r\n").pairs()
                self.assertEqual([pair for pair in sent if pair not in upstream.requests[-1].pairs()], [])
                self.assertEqual(upstream.requests[-1].body, body)

    def test_out_of_order(self):
        """[R34][R110] Whichever comes first runs; each event runs once and keeps its own answer."""
        for order in ORDERS:
            upstream, proxy = self.receiver()
            for sender, messages in self.senders():
                with self.subTest(sender):
                    before, firsts = upstream.hits(), {}
                    for name in order.split():
                        answer = self.deliver(proxy, messages[name])
                        if name[0] in firsts:
                            self.assert_replay_of(firsts[name[0]], answer)
                        else:
                            self.assertEqual((answer.status, answer.replayed), (200, False), f"{sender} {order}: {name}")
                            firsts[name[0]] = answer
                    self.assertNotEqual(firsts["A"].body, firsts["B"].body)
                    self.assertEqual(upstream.hits() - before, 2)

    def test_second_delivery_while_the_first_runs(self):
        """[R113] 409 with Retry-After: never 200, which would end the retries, and never 410, which ends subscriptions."""
        upstream, proxy = self.receiver()
        for sender, messages in self.senders():
            with self.subTest(sender):
                gate, before = Gate(), upstream.hits()
                upstream.answer_next(gate, response_bytes(200, b"slow"))
                with proxy.connect() as first:
                    first.send(messages["A1"])
                    upstream.wait_for(before + 1)
                    second = self.deliver(proxy, messages["A2"])
                    self.assertIn(second.status, IN_FLIGHT)
                    self.assert_problem(second, "in-flight")
                    gate.set()
                    original = first.receive()
                self.assert_replay_of(original, self.deliver(proxy, messages["A2"]))
                self.assertEqual(upstream.hits() - before, 1)

    def test_redelivery_after_a_failure(self):
        """[R92][R109] What the receiver refused or broke off is executed when it comes again."""
        failures = {"500": (response_bytes(500, b"bug"),), "503": (response_bytes(503, b"down"),), "404": (response_bytes(404, b"no"),),
                    "410": (response_bytes(410, b"gone"),), "502": (response_bytes(502, b"gateway"),), "broken off": (CLOSE,)}
        for failure, steps in failures.items():
            upstream, proxy = self.receiver()
            for sender, messages in self.senders():
                with self.subTest(sender):
                    before = upstream.hits()
                    upstream.answer_next(*steps)
                    failed = self.deliver(proxy, messages["A1"])
                    self.assertEqual(failed.status, int(failure) if failure.isdigit() else 502, f"{sender} {failure}")
                    again = self.deliver(proxy, messages["A2"])
                    self.assertEqual((again.status, again.replayed), (200, False), f"{sender} {failure}")
                    self.assert_replay_of(again, self.deliver(proxy, messages["A1"]))
                    self.assertEqual(upstream.hits() - before, 2)


class SingleSenders(Deliveries):
    def test_webhook_preset(self):
        """[R102][R109] The id is taken as it is, the content alone decides, days of lifetime, and no id is no error."""
        upstream, proxy = self.receiver()
        message = messages_of("standard-webhooks")["A1"]
        first = self.deliver(proxy, message)
        elsewhere = message.replace(b"/hooks/standard-webhooks ", b"/hooks/standard-webhooks/v2?source=a ")
        self.assert_replay_of(first, self.deliver(proxy, elsewhere.replace(b"application/json", b"application/json;charset=utf-8")))
        other = message.replace(b'"John"', b'"Jane"')
        self.assert_problem(self.deliver(proxy, other), "key-reused")
        self.assertEqual(upstream.hits(), 1)
        without_id = message.replace(b"webhook-id: ", b"x-other-id: ")
        for _ in range(2):
            self.assertEqual(self.deliver(proxy, without_id).status, 200)
        self.assertEqual(upstream.hits(), 3)
        page = proxy.ask("GET", "/.well-known/idempotency", [("Accept", "application/json")]).json()
        route = next(route for route in page["routes"] if route["route"] == "standard-webhooks")
        self.assertGreaterEqual(route["ttl_ms"], 4 * 24 * 3600 * 1000)

    def test_successes_are_recorded_and_nothing_else(self):
        """[R91][R109][R110] 2xx as it was; every other status frees the id."""
        upstream, proxy = self.receiver()
        message = messages_of("standard-webhooks")["A1"]
        for status in (200, 201, 202, 204, 301, 302, 307, 400, 401, 404, 409, 410, 422, 429, 500, 502, 503, 504, 599):
            with self.subTest(status):
                upstream.answer(response_bytes(status, b"" if status == 204 else b"answer"))
                this = message.replace(b"msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", b"msg_%d" % status)
                before = upstream.hits()
                self.assertEqual([self.deliver(proxy, this).status for _ in range(2)], [status, status])
                self.assertEqual(upstream.hits() - before, 1 if status < 300 else 2)

    def test_two_apps_with_one_id(self):
        """[R34][R112] GitHub gives an event one id for all who hear of it: told apart by the app, or by the address."""
        messages = messages_of("github")
        by_path = {"github": {**POLICIES["github"], "scope": ["route", "path"]}}
        own_address = {name: message.replace(b"/hooks/github ", b"/hooks/github/second ") if name.startswith("OTHER") else message
                       for name, message in messages.items()}
        for told_apart_by, policies, sent in (("app", None, messages), ("path", by_path, own_address)):
            with self.subTest(told_apart_by):
                upstream, proxy = self.receiver(policies=policies)
                one, other = self.deliver(proxy, sent["A1"]), self.deliver(proxy, sent["OTHER1"])
                self.assertEqual([(a.status, a.replayed) for a in (one, other)], [(200, False)] * 2)
                self.assert_replay_of(one, self.deliver(proxy, sent["A2"]))
                self.assert_replay_of(other, self.deliver(proxy, sent["OTHER2"]))
                self.assertEqual(upstream.hits(), 2)

    def test_two_subscriptions_to_one_event(self):
        """[R110] Shopify: another webhook id, the same event id and topic: one execution."""
        upstream, proxy = self.receiver()
        messages = messages_of("shopify")
        self.assert_replay_of(self.deliver(proxy, messages["A1"]), self.deliver(proxy, messages["A3"]))
        self.assertEqual(upstream.hits(), 1)

    def test_one_event_in_both_modes(self):
        """[R8] CloudEvents: fields or members, the identity is source and id."""
        upstream, proxy = self.receiver()
        messages = messages_of("cloudevents")
        self.assert_replay_of(self.deliver(proxy, messages["A1"]), self.deliver(proxy, messages["A3"]))
        self.assert_replay_of(self.deliver(proxy, messages["B1"]), self.deliver(proxy, messages["B2"]))
        self.assertEqual(upstream.hits(), 2)
        elsewhere = messages["A1"].replace(b"/shops/17/orders", b"/shops/18/orders")
        self.assertEqual((self.deliver(proxy, elsewhere).replayed, upstream.hits()), (False, 3), "another source, the same id")

    def test_what_field_lines_cannot_hold(self):
        """[R8] CloudEvents: binary mode writes it percent-encoded (HTTP binding 1.0.2, section 3.1.3.2); it is the same event."""
        upstream, proxy = self.receiver()
        messages = messages_of("cloudevents")
        self.assert_replay_of(self.deliver(proxy, messages["C1"]), self.deliver(proxy, messages["C2"]))
        self.assertEqual(upstream.hits(), 1)

    def test_data_that_has_an_id_of_its_own(self):
        """[R8] CloudEvents: in binary mode the content is the event's data; members of it name no event."""
        upstream, proxy = self.receiver()
        messages = messages_of("cloudevents")
        named = [message.replace(b'"order":"6735"', b'"source":"/x","id":"1"') for message in (messages["A1"], messages["B2"])]
        named = [re.sub(rb"Content-Length: \d+", b"Content-Length: %d" % len(m.partition(b"\r\n\r\n")[2]), m) for m in named]
        self.assertEqual([self.deliver(proxy, message).replayed for message in (*named, *named)], [False, False, True, True])
        self.assertEqual(upstream.hits(), 2)

    def test_stripe_event_that_tells_something_else(self):
        """[R41][R50] What is left out may differ, anything else may not; the answer says which part it was."""
        upstream, proxy = self.receiver()
        message = messages_of("stripe")["A1"]
        self.deliver(proxy, message)
        refused = self.deliver(proxy, message.replace(b'"amount":2000', b'"amount":9000'))
        self.assert_problem(refused, "key-reused")
        self.assertIn("body", refused.json()["detail"])
        self.assertNotIn("9000", refused.body.decode())
        self.assertEqual(upstream.hits(), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)

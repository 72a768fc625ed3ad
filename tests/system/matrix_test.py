"""Every preset in every situation: what the last request gets, how often the upstream ran, and whether it says that it is a replay.

The expected values come from the table of presets in config/README.md and from the API that each preset is named after.
"""

import itertools
import unittest

from harness.cases import SystemCase, on_both_stores
from harness.client import MARKER
from harness.http import request_bytes, response_bytes
from harness.upstream import CLOSE, Gate
from harness.waiting import wait_until

# What happens in each situation; the row tells of the request that comes last.
SITUATIONS = {
    "first": "a request whose key was never seen",
    "retry": "the same again",
    "mismatch": "another request under the same key",
    "in flight": "the same while the first one runs",
    "unknown": "the same after the upstream took the first one and closed the connection",
    "expired": "the same when the key's lifetime is over",
    "2xx": "the same after the upstream answered 200",
    "4xx": "the same after the upstream answered 404, and would again",
    "5xx": "the same after the upstream answered 500, and would again",
    "busy": "the same after the upstream answered 409, and would again",
    "gateway": "the same after the upstream, a gateway itself, answered 502, and would again",
    "no key": "a request without a key",
}

TABLE = """
preset            situation  status  problem          executions  marker
ietf              first      201     -                1           no
ietf              retry      201     -                1           yes
ietf              mismatch   422     key-reused       1           no
ietf              in flight  409     in-flight        1           no
ietf              unknown    409     outcome-unknown  1           no
ietf              expired    201     -                2           no
ietf              2xx        200     -                1           yes
ietf              4xx        404     -                1           yes
ietf              5xx        500     -                1           yes
ietf              busy       409     -                2           no
ietf              gateway    409     outcome-unknown  1           no
ietf              no key     400     key-missing      0           no

stripe-v1         first      201     -                1           no
stripe-v1         retry      201     -                1           yes
stripe-v1         mismatch   400     key-reused       1           no
stripe-v1         in flight  409     in-flight        1           no
stripe-v1         unknown    502     upstream-failed  1           yes
stripe-v1         expired    201     -                2           no
stripe-v1         2xx        200     -                1           yes
stripe-v1         4xx        404     -                1           yes
stripe-v1         5xx        500     -                1           yes
stripe-v1         busy       409     -                2           no
stripe-v1         gateway    502     -                1           yes
stripe-v1         no key     400     key-missing      0           no

stripe-v2         first      201     -                1           no
stripe-v2         retry      201     -                1           yes
stripe-v2         mismatch   400     key-reused       1           no
stripe-v2         in flight  409     in-flight        1           no
stripe-v2         unknown    201     -                2           no
stripe-v2         expired    201     -                2           no
stripe-v2         2xx        200     -                1           yes
stripe-v2         4xx        404     -                2           no
stripe-v2         5xx        500     -                2           no
stripe-v2         busy       409     -                2           no
stripe-v2         gateway    502     -                2           no
stripe-v2         no key     400     key-missing      0           no

brandur           first      201     -                1           no
brandur           retry      201     -                1           yes
brandur           mismatch   409     key-reused       1           no
brandur           in flight  409     in-flight        1           no
brandur           unknown    201     -                2           no
brandur           expired    201     -                2           no
brandur           2xx        200     -                1           yes
brandur           4xx        404     -                1           yes
brandur           5xx        500     -                1           yes
brandur           busy       409     -                2           no
brandur           gateway    502     -                2           no
brandur           no key     400     key-missing      0           no

toss              first      201     -                1           no
toss              retry      201     -                1           yes
toss              mismatch   422     key-reused       1           no
toss              in flight  409     in-flight        1           no
toss              unknown    409     outcome-unknown  1           no
toss              expired    201     -                2           no
toss              2xx        200     -                1           yes
toss              4xx        404     -                1           yes
toss              5xx        500     -                1           yes
toss              busy       409     -                2           no
toss              gateway    409     outcome-unknown  1           no
toss              no key     400     key-missing      0           no

aws-client-token  first      201     -                1           no
aws-client-token  retry      201     -                1           yes
aws-client-token  mismatch   400     key-reused       1           no
aws-client-token  in flight  201     -                1           yes
aws-client-token  unknown    409     outcome-unknown  1           no
aws-client-token  expired    201     -                2           no
aws-client-token  2xx        200     -                1           yes
aws-client-token  4xx        404     -                2           no
aws-client-token  5xx        500     -                2           no
aws-client-token  busy       409     -                2           no
aws-client-token  gateway    502     -                2           no
aws-client-token  no key     400     key-missing      0           no

webhook           first      201     -                1           no
webhook           retry      201     -                1           yes
webhook           mismatch   422     key-reused       1           no
webhook           in flight  409     in-flight        1           no
webhook           unknown    201     -                2           no
webhook           expired    201     -                2           no
webhook           2xx        200     -                1           yes
webhook           4xx        404     -                2           no
webhook           5xx        500     -                2           no
webhook           busy       409     -                2           no
webhook           gateway    502     -                2           no
webhook           no key     201     -                1           no

cloudevents       first      201     -                1           no
cloudevents       retry      201     -                1           yes
cloudevents       mismatch   201     -                1           yes
cloudevents       in flight  409     in-flight        1           no
cloudevents       unknown    201     -                2           no
cloudevents       expired    201     -                2           no
cloudevents       2xx        200     -                1           yes
cloudevents       4xx        404     -                2           no
cloudevents       5xx        500     -                2           no
cloudevents       busy       409     -                2           no
cloudevents       gateway    502     -                2           no
cloudevents       no key     400     key-missing      0           no
"""


def cells(line):
    """Columns are two spaces or more apart."""
    return tuple(cell.strip() for cell in line.split("  ") if cell.strip())


ROWS = [cells(line) for line in TABLE.strip().splitlines()[1:] if line]
PRESETS = list(dict.fromkeys(row[0] for row in ROWS))

JSON = ("Content-Type", "application/json")
FORM = ("Content-Type", "application/x-www-form-urlencoded")


def as_idempotency_key(spelling, content_type=JSON, body=b'{"amount":%d}'):
    def request(key, number):
        return ([("Idempotency-Key", spelling.format(key))] if key else []) + [content_type], body % number
    return request


def client_token(key, number):
    token = f"&ClientToken={key}" if key else ""
    return [FORM], f"Action=RunInstances&Version=2016-11-15&MinCount={number}{token}".encode()


def webhook(key, number):
    signed = [("webhook-timestamp", f"{1674087231 + number}"), ("webhook-signature", "v1,c2lnbmF0dXJl")]
    return ([("webhook-id", key)] if key else []) + [*signed, JSON], b'{"type":"contact.created","data":%d}' % number


def cloudevents(key, number):
    event = [("ce-specversion", "1.0"), ("ce-type", "order.placed"), ("ce-source", "/shops/17"), ("ce-id", key)]
    return (event if key else []) + [JSON], b'{"order":%d}' % number


# How a request of each kind is written: fields and body for a key (None: without one) and a number that makes it another one.
SENDERS = {
    "ietf": as_idempotency_key('"{}"'),
    "stripe-v1": as_idempotency_key("{}", FORM, b"amount=%d&currency=eur"),
    "stripe-v2": as_idempotency_key("{}"),
    "brandur": as_idempotency_key("{}"),
    "toss": as_idempotency_key("{}"),
    "aws-client-token": client_token,
    "webhook": webhook,
    "cloudevents": cloudevents,
}


def created(status=201):
    """An upstream that creates at /NAME/items/1, and shows there what it has created."""
    def answer(request):
        path = request.target.partition("?")[0]
        if request.method == "GET":
            return response_bytes(200, b'{"id":1,"state":"current"}', [JSON])
        return response_bytes(status, b'{"id":1,"state":"new"}', [JSON, ("Location", f"{path}/items/1")])
    return answer


@on_both_stores
class Matrix(SystemCase):
    def start(self):
        """Two routes a preset: the preset itself, and one whose keys live a second."""
        self.upstream_now = self.upstream(created())
        routes = []
        for preset in PRESETS:
            routes.append(self.route(preset, preset, {}))
            routes.append(self.route(f"{preset}-brief", preset, {"lease": "1s", "ttl": "1s"}))
        self.proxy_now = self.proxy({**self.config(self.upstream_now), "routes": routes})
        self.keys = (f"key-{number:08}" for number in itertools.count(1))

    @staticmethod
    def route(name, preset, more):
        policy = {"preset": preset, "scope": ["route"], **more}
        return {"name": name, "match": {"methods": ["POST"], "path": f"/{name}"}, "upstream": "app", "idempotency": policy}

    def ask(self, preset, key, number=100, brief=False):
        fields, body = SENDERS[preset](key, number)
        return self.proxy_now.ask("POST", f"/{preset}{'-brief' if brief else ''}", fields, body)

    def executions(self):
        return sum(1 for request in self.upstream_now.requests if request.method == "POST")

    # --- the situations: each gives the last answer

    def first(self, preset):
        return self.ask(preset, next(self.keys))

    def retry(self, preset, *steps, number=100):
        """`steps`: what the upstream does with the first request, and with a second one should it get it."""
        key = next(self.keys)
        if steps:
            self.upstream_now.answer(*steps)
        self.ask(preset, key)
        last = self.ask(preset, key, number)
        self.upstream_now.answer(created())
        return last

    def mismatch(self, preset):
        return self.retry(preset, number=101)

    def in_flight(self, preset):
        key, gate = next(self.keys), Gate()
        fields, body = SENDERS[preset](key, 100)
        before = len(self.upstream_now.requests)
        self.upstream_now.answer_next(gate, created())
        with self.proxy_now.connect() as first, self.proxy_now.connect() as second:
            first.send(request_bytes("POST", f"/{preset}", fields, body))
            self.upstream_now.wait_for(before + 1)
            second.send(request_bytes("POST", f"/{preset}", fields, body))
            if preset == "aws-client-token":  # waits: the second has come as far as it can
                wait_until(lambda: self.proxy_now.metric("oncegate_requests_in_flight", route=preset) == 2, "the second waits")
                gate.set()
            answer = second.receive()
            gate.set()
            self.assertEqual((first.receive().status, answer.replayed), (201, preset == "aws-client-token"))
        return answer

    def unknown(self, preset):
        key = next(self.keys)
        self.upstream_now.answer_next(CLOSE)
        self.assert_problem(self.ask(preset, key), "upstream-failed")
        return self.ask(preset, key)

    def no_key(self, preset):
        return self.ask(preset, None)

    def status(self, preset, status):
        return self.retry(preset, created(status))

    def last_of(self, preset, situation):
        statuses = {"2xx": 200, "4xx": 404, "5xx": 500, "busy": 409, "gateway": 502}
        if situation in statuses:
            return self.status(preset, statuses[situation])
        return getattr(self, situation.replace(" ", "_"))(preset)

    def outcome(self, preset, situation):
        """As a row of the table has it."""
        before = self.executions()
        return self.as_row(preset, situation, self.last_of(preset, situation), self.executions() - before)

    @staticmethod
    def as_row(preset, situation, last, executions):
        marked = any(name.lower() == MARKER for name, _ in last.pairs())
        return (preset, situation, str(last.status), last.problem() or "-", str(executions), "yes" if marked else "no")

    def test_the_table(self):
        """[R4][R5][R41][R55][R58][R59][R62][R63][R91][R109] All rows but those of expiry, on one proxy."""
        self.start()
        for row in ROWS:
            if row[1] != "expired":
                with self.subTest(" ".join(row[:2])):
                    self.assertEqual(self.outcome(*row[:2]), row)

    def test_expired(self):
        """[R102][R105][R106] The rows of expiry: all keys are made first, then asked for until they run again."""
        self.start()
        keys = {preset: next(self.keys) for preset in PRESETS}
        for preset, key in keys.items():
            self.ask(preset, key, brief=True)
        for row in (row for row in ROWS if row[1] == "expired"):
            with self.subTest(row[0]):
                before = self.executions()
                last = wait_until(lambda preset=row[0]: not (answer := self.ask(preset, keys[preset], brief=True)).replayed and answer,
                                  "the key has expired")
                self.assertEqual(self.as_row(*row[:2], last, 1 + self.executions() - before), row)


class Table(unittest.TestCase):
    def test_every_preset_has_every_situation_once(self):
        """No row is missing, none is there twice."""
        self.assertEqual([row[:2] for row in ROWS], list(itertools.product(SENDERS, SITUATIONS)))
        self.assertEqual({len(row) for row in ROWS}, {6})


if __name__ == "__main__":
    unittest.main(verbosity=2)

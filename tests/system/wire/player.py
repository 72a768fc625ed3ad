"""Plays one case: talks, collects what came out on both sides, compares it with the expectation."""

import dataclasses
import itertools

from harness.client import Connection
from harness.http import Broken
from harness.waiting import wait_until
from wire import case as words
from wire.case import HALF_CLOSE, INTERIM, KEYED_TARGET, RECEIVE, SETTLE, TARGET, Split, Trickle
from wire.sockets import send_split, send_trickling
from wire.wellformed import has_valid_date, own_request_faults, own_response_faults, request_faults, response_faults

PROBE = b"GET /wire/probe HTTP/1.1\r\nHost: a.example\r\n\r\n"
GOOD_BODY = b"good"


@dataclasses.dataclass
class Heard:
    """What came out."""
    responses: list = dataclasses.field(default_factory=list)
    interim: list = dataclasses.field(default_factory=list)
    exchanges: list = dataclasses.field(default_factory=list)
    touched: bool = False
    cut: bool = False
    silent: bool = False     # closed where a response was due
    sent: bytes = b""


class Player:
    """`own`: the proxy is Oncegate, with its promises and its keyed route; otherwise any, and every expectation of a case will do."""

    def __init__(self, port, recorder, patience, own):
        self._port = port
        self._recorder = recorder
        self._patience = patience
        self._own = own
        self._numbers = itertools.count(1)

    def play(self, case, keyed):
        """Faults of one playing; empty when all is as expected."""
        key = b'"%s-%d' % (case.id.encode(), next(self._numbers))
        expects = [on_keyed_route(expect, case.keyed) if keyed else expect for expect in case.expect]
        steps = [rendered(step, key, keyed) for step in case.steps()]
        if self._own:
            return self._once(case, steps, expects[0], key if case.has_key() else None, keyed)
        found = []
        for expect in expects:
            faults = self._once(case, steps, expect, None, False)
            if not faults:
                return []
            found.append(faults)
        return found[0]

    def _once(self, case, steps, expect, key, keyed):
        self._recorder.begin(case.answers)
        heard = Heard(sent=b"".join(words.step_bytes(step) for step in steps))
        last_request = steps[len(steps) - steps[::-1].index(RECEIVE):] if RECEIVE in steps else steps
        try:
            with Connection(self._port, self._patience) as client:
                faults = self._talk(client, case, steps, expect, heard)
                if not self._recorder.settle():
                    faults.append("an upstream exchange does not end")
                heard.exchanges, heard.touched = list(self._recorder.exchanges), self._recorder.touched
                faults += self._compare(expect, heard)
                if not faults:
                    faults += self._follow_up(client, expect, heard, key if keyed else None, b"".join(map(words.step_bytes, last_request)))
        except (OSError, Broken, ValueError, AssertionError) as error:
            faults = [f"{type(error).__name__}: {error}"]
        if not self._recorder.finish():
            faults.append("an upstream connection does not end")
        if not faults:
            faults = self._strays(expect, heard)
        if faults:
            faults += shown(heard)
        return faults

    # --- talking

    def _talk(self, client, case, steps, expect, heard):
        methods = list(case.methods) + ["POST"] * len(expect.status)
        for step in steps:
            if step == RECEIVE:
                self._receive(client, methods, heard)
            elif step == INTERIM:
                heard.interim.append(client.receive_head())
            elif step == SETTLE:
                self._recorder.settle()
            elif step == HALF_CLOSE:
                client.finish_sending()
            else:
                self._send(client, step)
        while len(heard.responses) < len(expect.status) and not heard.silent and not heard.cut:
            self._receive(client, methods, heard)
        if not expect.closes or heard.silent or heard.cut or status_faults(expect, heard):
            return []
        return [] if client.closed_by_peer() else ["the connection is not closed"]

    def _send(self, client, step):
        try:
            if isinstance(step, Trickle):
                send_trickling(client.sock, step.data, self._patience)
            elif isinstance(step, Split):
                send_split(client.sock, step.data, step.at, self._patience)
            else:
                client.send(step)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all was sent

    def _receive(self, client, methods, heard):
        try:
            response = client.receive(methods[len(heard.responses)])
        except Broken as broken:
            if broken.message is None:
                raise
            heard.cut, response = True, broken.message
            response.body = broken.received
        except ConnectionResetError:
            response = None
        if response is None:
            heard.silent = True
            return
        heard.interim += response.interim
        heard.responses.append(response)

    # --- comparing

    def _compare(self, expect, heard):
        if expect.broken:
            seen = heard.cut or heard.silent or heard.responses[-1].status == 502
            return self._compare_upstream(expect, heard) + ([] if seen else [f"passed on as sound: {heard.responses[-1]}"])
        faults = []
        if heard.silent and not expect.silent:
            faults.append(f"closed after {len(heard.responses)} of {len(expect.status)} responses")
        faults += status_faults(expect, heard)
        if heard.cut != expect.cut:
            faults.append("the response is cut off" if heard.cut else "the response ends as if it were whole")
        faults += self._compare_downstream(expect, heard) if heard.responses else []
        faults += self._compare_upstream(expect, heard)
        return faults

    def _compare_downstream(self, expect, heard):
        last = heard.responses[-1]
        faults = missing(expect.gives, last.lines, "the client") + unwanted(expect.withholds, last, "the client")
        if expect.body is not None:
            bodies = expect.body if isinstance(expect.body, tuple) else (expect.body,)
            faults += [f"body {short(response.body)}, not {short(body)}"
                       for body, response in zip(reversed(bodies), reversed(heard.responses)) if body != response.body]
        if expect.starts is not None and not last.start_line.startswith(expect.starts):
            faults.append(f"status line {last.start_line!r}, not {expect.starts!r}")
        if expect.has_date and not has_valid_date(last):
            faults.append(f"Date {last.all('Date')}")
        if expect.trailers is not None and last.trailers != [words.as_bytes(line) for line in expect.trailers]:
            faults.append(f"trailers {last.trailers}")
        statuses = [head.status for head in heard.interim]
        if expect.interim is not None and statuses != list(expect.interim):
            faults.append(f"interim responses {statuses}, not {list(expect.interim)}")
        for response in [*heard.interim, *heard.responses]:
            faults += response_faults(response) + (own_response_faults(response) if self._own else [])
        return faults

    def _compare_upstream(self, expect, heard):
        whole = [exchange for exchange in heard.exchanges if exchange.whole]
        faults = []
        if expect.hits is not None and len(whole) != expect.hits:
            faults.append(f"the upstream got {len(whole)} whole requests, not {expect.hits}")
        if heard.touched and not expect.touched:
            faults.append("something reached the upstream")
        for exchange in heard.exchanges:
            faults += request_faults(exchange) + (own_request_faults(exchange) if self._own else [])
        if not whole:
            return faults
        last = whole[-1]
        faults += missing(expect.has, last.lines, "the upstream")
        faults += [f"the upstream got {name}" for name in expect.lacks if last.values(name)]
        if expect.line is not None and last.start_line != words.as_bytes(expect.line):
            faults.append(f"request line {last.start_line!r}, not {expect.line!r}")
        via = b", ".join(last.values("Via"))
        if expect.via is not None and not (via.startswith(expect.via) and is_name(via[len(expect.via):])):
            faults.append(f"Via {via!r}, not {expect.via!r} and a name")
        if expect.content is not None and last.content != expect.content:
            faults.append(f"content {short(last.content)}, not {short(expect.content)}")
        if expect.carries is not None and last.trailers != [words.as_bytes(line) for line in expect.carries]:
            faults.append(f"trailers at the upstream {last.trailers}")
        return faults

    # --- what comes after

    def _follow_up(self, client, expect, heard, key, request):
        faults = []
        if expect.closes is False:
            faults += self._probe(client, "the same connection")
        if not faults and expect.reuses is not None:
            with Connection(self._port, self._patience) as other:
                faults += self._probe(other, "a new connection")
            used = {exchange.connection for exchange in heard.exchanges}
            again = self._recorder.exchanges[-1].connection in used
            if again != expect.reuses:
                faults.append("the upstream connection is used again" if again else "the upstream connection is not kept")
        if not faults and key and expect.key:
            faults += self._ask_again(expect, heard, key, request)
        return faults

    def _probe(self, client, where):
        before = len(self._recorder.exchanges)
        client.send_anyway(PROBE)
        answer = client.receive("GET")
        if answer is None or answer.status != 200 or answer.body != b"ok" or not self._recorder.settle():
            return [f"a request on {where} is not served: {answer}"]
        return [] if len(self._recorder.exchanges) == before + 1 else ["the upstream did not get the next request"]

    def _ask_again(self, expect, heard, key, request):
        """[R58][R62][R74] With the same key: executed when it is free, replayed when recorded, refused when unknown."""
        hits = len(self._recorder.exchanges)
        with Connection(self._port, self._patience) as other:
            if expect.key == "free":
                other.send(rendered(words.sized(GOOD_BODY), key, True))
                answer = other.receive()
                executed = len(self._recorder.exchanges) == hits + 1 and self._recorder.exchanges[-1].content == GOOD_BODY
                fine = answer.status == 200 and executed and not answer.replayed
                return [] if fine and self._recorder.settle() else [f"the key is not free: {answer}"]
            answer = wait_until(lambda: self._not_in_flight(other, request), "an answer other than in-flight", self._patience)
        if len(self._recorder.exchanges) != hits:
            return ["a retry reached the upstream again"]
        if expect.key == "unknown":
            return [] if answer.summary() == (409, "outcome-unknown") else [f"a retry is not told of an unknown outcome: {answer}"]
        first = heard.responses[-1]
        same = (answer.status, answer.body, answer.end_to_end()) == (first.status, first.body, first.end_to_end())
        return [] if same and answer.replayed else [f"not a replay: {answer} {answer.lines} of {first} {first.lines}"]

    @staticmethod
    def _not_in_flight(client, request):
        """The client may see the end of a broken answer before its outcome is settled."""
        client.send(request)
        answer = client.receive()
        return answer if answer is None or answer.summary() != (409, "in-flight") else None

    def _strays(self, expect, heard):
        """Looked at when every connection has ended: what came late counts too. Where only whole requests are forbidden, the beginning
        of one may have come."""
        came = sum(1 for exchange in self._recorder.exchanges if exchange.whole or not expect.touched)
        known = sum(1 for exchange in heard.exchanges if exchange.whole)
        allowed = known + (expect.closes is False) + (expect.reuses is not None) + (expect.key == "free")
        return ["the upstream got requests nobody sent"] if came > allowed else []


def on_keyed_route(expect, differences):
    """The expectation as it is there: the target is another, and what the case says of itself."""
    renamed = {name: value.replace(TARGET, KEYED_TARGET) for name in ("line", "content") if (value := getattr(expect, name))}
    return dataclasses.replace(expect, **{**renamed, **differences})


def rendered(step, key, keyed):
    """The step with this playing's key, and for the keyed route with its target."""
    if isinstance(step, Trickle):
        return Trickle(rendered(step.data, key, keyed))
    if isinstance(step, Split):
        whole = rendered(step.data, key, keyed)
        at = step.at if step.at * 2 < len(step.data) else len(whole) - len(step.data) + step.at
        return Split(whole, at)
    if not isinstance(step, bytes):
        return step
    step = step.replace(b'"K', key)
    return step.replace(TARGET, KEYED_TARGET) if keyed else step


def status_faults(expect, heard):
    pairs = zip(expect.status, heard.responses)
    return [f"status {response.status}, not {wanted}" for wanted, response in pairs
            if response.status not in (wanted if isinstance(wanted, (set, frozenset)) else {wanted})]


def missing(lines, there, where):
    return [f"{where} did not get {line!r}" for line in lines if words.as_bytes(line) not in there]


def unwanted(names, message, where):
    return [f"{where} got {name}" for name in names if message.all(name)]


def is_name(text):
    """received-by with an optional comment."""
    return bool(text) and b"," not in text.partition(b"(")[0] and b" " not in text.partition(b" (")[0]


def short(data):
    return repr(data if len(data) <= 60 else data[:28] + b"..." + data[-28:])


def shown(heard):
    """The bytes of a failed case."""
    sent = heard.sent if len(heard.sent) < 1500 else heard.sent[:700] + b"..." + heard.sent[-700:]
    lines = [f"  sent      {sent!r}"]
    lines += [f"  upstream  {exchange.raw[:1500]!r} {short(exchange.content)}" for exchange in heard.exchanges]
    lines += [f"  received  {response.raw[:1500]!r} {short(response.body)}" for response in heard.responses]
    return lines

"""The vocabulary of the cases: what goes in, how the upstream answers, what must come out. No I/O.

A case is plain data: an id, the place that demands it, the bytes a client sends, the bytes the upstream answers with, and one or more
expectations. The first expectation is what Oncegate does; the others are what the standard allows as well, and count for other proxies
only. Level: MUST and SHOULD as the standard has it, STRICT where it leaves the choice and the stricter reading was taken.

Requests name the target /wire and the key "K". A request that carries the key is played on two routes: as it is, on a plain one, and
with /keyed in place of /wire on one that enforces the key. Every playing gets a key of its own.
"""

import dataclasses
from typing import NamedTuple

MUST, SHOULD, STRICT = "MUST", "SHOULD", "STRICT"

TARGET, KEYED_TARGET = b"/wire", b"/keyed"
KEY = b'Idempotency-Key: "K"'
HOST = b"Host: a.example"

# Steps of a client beside bytes.
RECEIVE = "receive"        # waits for a final response before it sends on
INTERIM = "interim"        # waits for a 1xx head
SETTLE = "settle"          # waits until the upstream has done all that its script says
HALF_CLOSE = "half close"  # ends its sending side


class Trickle(NamedTuple):
    """A client's or upstream's step: the bytes one by one, each only when the peer has read those before it."""
    data: bytes


class Split(NamedTuple):
    """The bytes in two parts, the second when the peer has read the first."""
    data: bytes
    at: int


# Steps of an upstream beside bytes.
CLOSE = "close"
RESET = "reset"
EARLY = "early"            # first step: the answer begins before the request's body is read
READ_BODY = "read body"    # after an early answer began: now read the body


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode("latin-1")


def lines_of(lines):
    return b"".join(as_bytes(line) + b"\r\n" for line in lines)


def post(*fields, body=b"", line=b"POST /wire HTTP/1.1", host=HOST, key=KEY):
    """A keyed POST; `fields` are whole lines, framing included. Nothing is added but Host and the key."""
    return lines_of((line, *([host] if host else []), *([key] if key else []), *fields)) + b"\r\n" + body


def get(*fields, line=b"GET /wire HTTP/1.1", host=HOST, body=b""):
    """A GET: no key, so for the plain route alone."""
    return post(*fields, line=line, host=host, key=None, body=body)


def sized(body, *fields, **more):
    """A keyed POST with a Content-Length."""
    return post(*fields, b"Content-Length: %d" % len(body), body=body, **more)


def chunked(body, *fields, **more):
    """A keyed POST whose chunked body is given raw."""
    return post(*fields, b"Transfer-Encoding: chunked", body=body, **more)


def reply(*fields, status=b"HTTP/1.1 200 OK", body=b""):
    """A raw response, framing included in `fields`."""
    return lines_of((status, *fields)) + b"\r\n" + body


def sized_reply(body, *fields, **more):
    return reply(*fields, b"Content-Length: %d" % len(body), body=body, **more)


@dataclasses.dataclass(frozen=True)
class Expect:
    """None: not looked at. Statuses are one entry a final response, each a number or a set of allowed ones."""
    status: tuple = (200,)
    closes: bool | None = None      # of the client's connection, after the last response
    hits: int | None = None         # whole requests at the upstream
    touched: bool = True            # False: not a byte came to the upstream
    line: bytes | None = None       # request line there
    has: tuple = ()                 # whole field lines there
    lacks: tuple = ()               # names that must not be there
    via: bytes | None = None        # how Via begins there, all its lines joined; a name without spaces ends it
    content: bytes | None = None    # body there, transfer coding removed
    carries: tuple | None = None    # trailer lines there
    starts: bytes | None = None     # how the status line begins at the client
    has_date: bool = False          # one valid Date there
    gives: tuple = ()               # whole field lines at the client
    withholds: tuple = ()           # names that must not be at the client
    body: bytes | tuple | None = None
    trailers: tuple | None = None   # trailer lines at the client
    interim: tuple | None = None    # 1xx statuses before the response
    cut: bool = False               # the response must end visibly unfinished
    broken: bool = False            # a 502 or a visible end before the end: either will do
    silent: bool = False            # a close without any response is fine too
    reuses: bool | None = None      # whether the next request travels on the same upstream connection
    key: str | None = None          # of the key afterwards: free, recorded, unknown


@dataclasses.dataclass(frozen=True)
class Case:
    id: str
    source: str
    send: object                    # bytes, or a tuple of bytes and steps
    expect: tuple                   # the first is Oncegate's
    answers: tuple = ()             # of the upstream, in turn: bytes or tuples of bytes and steps; OK when used up
    level: str = MUST
    keyed: dict | None = dataclasses.field(default_factory=dict)  # what differs on the keyed route; None: not played there
    methods: tuple = ()             # of the requests in turn, where a response depends on it (HEAD)

    def steps(self):
        return self.send if isinstance(self.send, tuple) else (self.send,)

    def has_key(self):
        return any(b'"K' in step_bytes(step) for step in self.steps())


def step_bytes(step):
    """The bytes of a step, none for one that has none."""
    if isinstance(step, (Trickle, Split)):
        return step.data
    return step if isinstance(step, bytes) else b""


def refused(id, source, send, status=400, *, or_repaired=False, keyed=None, **more):
    """Refused with this status, closed, nothing reaches the upstream, nothing is claimed. `or_repaired`: another proxy may pass it
    on, provided that what it passes on is well-formed; the player looks at that."""
    expect = [Expect(status=(status,), closes=True, hits=0, touched=False, key="free")]
    if or_repaired:
        expect.append(Expect(status=({200, 201},)))
    return Case(id, source, send, tuple(expect), keyed=keyed if keyed is not None else {}, **more)


def refused_body(id, source, send, status=400, *, or_repaired=False, **more):
    """A body that turns out malformed. A plain route streams, so that its beginning may be on the way already: what the upstream got
    must stay unfinished. Where the whole body is read first, nothing goes."""
    plain = Expect(status=(status,), closes=True, hits=0, key="free", silent=True)
    expect = [plain, Expect(status=({200, 201},))] if or_repaired else [plain]
    return Case(id, source, send, tuple(expect), keyed={"touched": False, "silent": False}, **more)


def passed(id, source, send, *, also=(), level=MUST, keyed=None, methods=(), answers=(), no_key=False, **wanted):
    """Forwarded once, answered, and the connection stays of use."""
    wanted = {"closes": False, "hits": 1, "key": "recorded", **wanted}
    return Case(id, source, send, (Expect(**wanted), *also), answers=answers, level=level, methods=methods,
                keyed=None if no_key else keyed or {})


def answered(id, source, answer, *, also=(), level=MUST, send=None, keyed=None, methods=(), plain_only=False, **wanted):
    """A sound request, and an upstream that answers with exactly these bytes."""
    wanted = {"hits": 1, "key": "recorded", **wanted}
    return Case(id, source, send or sized(b"hello"), (Expect(**wanted), *also), answers=(answer,), level=level, methods=methods,
                keyed=None if plain_only else keyed or {})


def bad_answer(id, source, answer, *, or_repaired=False, level=MUST, send=None, hits=1, **more):
    """An answer that no reading may accept: 502, its connection is not used again, a key is unknown afterwards."""
    expect = [Expect(status=(502,), hits=hits, reuses=False, key="unknown")]
    if or_repaired:
        expect.append(Expect(status=(frozenset(range(200, 600)),)))
    return Case(id, source, send or sized(b"hello"), tuple(expect), answers=(answer,), level=level, **more)


def cut_answer(id, source, answer, *, level=MUST, body=None, send=None, or_whole=False, keyed=None, **more):
    """A body that breaks off: the client must be able to see it, and a key is unknown afterwards. A route that reads the whole
    response before it sends any of it may answer 502 instead."""
    plain = Expect(cut=True, hits=1, reuses=False, key="unknown", body=body)
    whole = (Expect(),) if or_whole else ()
    return Case(id, source, send or sized(b"hello"), (plain, Expect(broken=True), *whole), answers=(answer,), level=level,
                keyed=keyed or {"cut": False, "status": (502,), "body": None}, **more)

"""Trailer sections, both ways. RFC 9110 §6.5; RFC 9112 §7.1.2. A plain route passes them on, a keyed one leaves them out (R78):
what is recorded is a head and a body."""

from wire.case import STRICT, Expect, answered, chunked, cut_answer, get, passed, refused_body, reply

UP = "RFC 9110 §6.5.1; RFC 9112 §7.1.2"
TE = b"Transfer-Encoding: chunked"
HIDDEN = b"POST /wire/hidden HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n"


def up(id, *trailers, carries=None, source=UP, fields=(), **more):
    """A request with these trailer lines; the upstream gets `carries` (those, when None)."""
    lines = b"".join((line if isinstance(line, bytes) else line.encode()) + b"\r\n" for line in trailers)
    return passed(id, source, chunked(b"2\r\nhi\r\n0\r\n" + lines + b"\r\n", *fields), content=b"hi",
                  carries=tuple(trailers) if carries is None else carries, keyed={"carries": ()}, also=(Expect(content=b"hi",
                                                                                                               carries=()),), **more)


def dropped(id, line, **more):
    """A name that has no place in a trailer section must not be merged into the head (§6.5.1), nor travel further."""
    name = line.partition(":")[0]
    more.setdefault("lacks", (name,))
    return up(id, line, carries=(), **more)


def bad(id, raw, **more):
    return refused_body(id, UP + "; R117, R119", chunked(b"2\r\nhi\r\n0\r\n" + raw + HIDDEN), **more)


def down(id, *lines, trailers=None, fields=(), **more):
    raw = b"".join((line if isinstance(line, bytes) else line.encode()) + b"\r\n" for line in lines)
    return answered(id, UP, reply(*fields, TE, body=b"2\r\nok\r\n0\r\n" + raw + b"\r\n"), body=b"ok",
                    trailers=tuple(lines) if trailers is None else trailers, keyed={"trailers": ()}, also=(Expect(body=b"ok",
                                                                                                                  trailers=()),), **more)


def bad_down(id, raw, **more):
    """Trailers that no reading accepts: the message is not whole."""
    return cut_answer(id, UP + "; R120", reply(TE, body=b"2\r\nok\r\n0\r\n" + raw), **more)


CASES = [
    up("trailer-one", "X-T: 1"),
    up("trailer-two", "X-T: 1", "X-U: 2"),
    up("trailer-repeated", "X-T: 1", "X-T: 2"),
    up("trailer-empty-value", "X-T: "),
    up("trailer-obs-text", b"X-T: caf\xe9"),
    up("trailer-checksum", "Content-MD5: abc", "Digest: sha-256=x"),
    up("trailer-announced", "X-T: 1", fields=("Trailer: X-T",)),
    up("trailer-not-merged", "X-T: 1", lacks=("X-T",)),
    dropped("trailer-host", "Host: b.example", lacks=()),
    # Framing in a trailer section is an attempt to be read twice: not dropped but refused.
    bad("trailer-content-length", b"Content-Length: 5\r\n\r\n", level=STRICT, or_repaired=True),
    bad("trailer-transfer-encoding", b"Transfer-Encoding: gzip\r\n\r\n", level=STRICT, or_repaired=True),
    dropped("trailer-authorization", "Authorization: x"),
    dropped("trailer-cookie", "Cookie: a=1"),
    dropped("trailer-idempotency-key", 'Idempotency-Key: "other"', lacks=()),
    dropped("trailer-via", "Via: 1.1 x", lacks=()),
    dropped("trailer-x-forwarded-for", "X-Forwarded-For: 1.2.3.4", lacks=()),
    dropped("trailer-forwarded", "Forwarded: for=1.2.3.4", lacks=()),
    dropped("trailer-connection", "Connection: close"),
    dropped("trailer-keep-alive", "Keep-Alive: 5"),
    dropped("trailer-te", "TE: trailers"),
    dropped("trailer-upgrade", "Upgrade: x"),
    dropped("trailer-trailer", "Trailer: X"),
    dropped("trailer-expect", "Expect: 100-continue"),
    dropped("trailer-max-forwards", "Max-Forwards: 1"),
    dropped("trailer-content-type", "Content-Type: text/html"),
    dropped("trailer-content-encoding", "Content-Encoding: gzip"),
    dropped("trailer-content-range", "Content-Range: bytes 0-1/2"),
    dropped("trailer-idempotency-attempt", "Idempotency-Attempt: 3"),
    # Connection may name a trailer field as well: it does not travel (§7.6.1).
    up("trailer-named-by-connection", "X-T: 1", carries=(), fields=("Connection: X-T",), source="RFC 9110 §7.6.1; R121"),
    up("trailer-named-by-connection-among-others", "X-T: 1", "X-U: 2", carries=("X-U: 2",), fields=("Connection: keep-alive, x-t",),
       source="RFC 9110 §7.6.1; R121"),

    bad("trailer-without-colon", b"X-T\r\n\r\n", or_repaired=True),
    bad("trailer-name-empty", b": 1\r\n\r\n", or_repaired=True),
    bad("trailer-space-before-colon", b"X-T : 1\r\n\r\n"),
    bad("trailer-bad-name", b"X(T): 1\r\n\r\n", or_repaired=True),
    bad("trailer-nul", b"X-T: a\x00b\r\n\r\n", or_repaired=True),
    bad("trailer-control", b"X-T: a\x01b\r\n\r\n", level=STRICT, or_repaired=True),
    bad("trailer-bare-cr", b"X-T: a\rb\r\n\r\n", or_repaired=True),
    bad("trailer-bare-lf", b"X-T: a\n\r\n", level=STRICT, or_repaired=True),
    bad("trailer-section-of-bare-lf", b"X-T: a\n\n", level=STRICT, or_repaired=True),
    bad("trailer-fold", b"X-T: a\r\n b\r\n\r\n", or_repaired=True),
    bad("trailer-leading-space", b" X-T: a\r\n\r\n", or_repaired=True),
    bad("trailer-space-line", b"X-T: a\r\n \r\n\r\n", or_repaired=True),
    bad("trailer-section-too-large", b"X-T: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n" * 3000 + b"\r\n", level=STRICT, or_repaired=True),
    bad("trailer-too-large", b"X-T: " + b"y" * 100_000 + b"\r\n\r\n", level=STRICT, or_repaired=True),
    passed("request-behind-trailers", UP, chunked(b"2\r\nhi\r\n0\r\nX-T: 1\r\n\r\n") + get(), status=(200, 200), methods=("POST", "GET"),
           hits=2, no_key=True),

    down("answer-trailer-one", "X-T: 1"),
    down("answer-trailer-several", "X-T: 1", "X-U: 2", "X-T: 3"),
    down("answer-trailer-grpc", "grpc-status: 0", "grpc-message: ok"),
    down("answer-trailer-not-merged", "X-T: 1", withholds=("X-T",)),
    bad_down("answer-trailer-content-length", b"Content-Length: 99\r\n\r\n", level=STRICT, or_whole=True),
    bad_down("answer-trailer-transfer-encoding", b"Transfer-Encoding: gzip\r\n\r\n", level=STRICT, or_whole=True),
    down("answer-trailer-connection", "Connection: close", trailers=()),
    down("answer-trailer-set-cookie", "Set-Cookie: a=1", trailers=(), withholds=("Set-Cookie",)),
    down("answer-trailer-cache-control", "Cache-Control: no-store", trailers=()),
    down("answer-trailer-content-type", "Content-Type: text/html", trailers=(), withholds=("Content-Type",)),
    down("answer-trailer-location", "Location: /x", trailers=()),
    down("answer-trailer-outcome", "Idempotency-Outcome: free", trailers=()),
    down("answer-trailer-named-by-connection", "X-T: 1", trailers=(), fields=("Connection: X-T",)),
    answered("answer-trailer-to-http10", UP, reply(TE, body=b"2\r\nok\r\n0\r\nX-T: 1\r\n\r\n"), send=get(line=b"GET /wire HTTP/1.0"),
             body=b"ok",
             withholds=("Transfer-Encoding", "Trailer"), closes=True),
    bad_down("answer-trailer-without-colon", b"X-T\r\n\r\n"),
    bad_down("answer-trailer-fold", b"X-T: a\r\n b\r\n\r\n"),
    bad_down("answer-trailer-nul", b"X-T: a\x00\r\n\r\n"),
    bad_down("answer-trailer-bare-lf", b"X-T: a\n\n"),
]

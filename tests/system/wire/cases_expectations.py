"""Expect, Max-Forwards, CONNECT, TRACE, OPTIONS, and bodies that are too large. RFC 9110 §7.6.2, §9.3, §10.1.1."""

from wire.case import HALF_CLOSE, INTERIM, SHOULD, STRICT, Case, Expect, get, passed, post, refused, sized, sized_reply

EXPECT = "RFC 9110 §10.1.1; R123"
HOPS = "RFC 9110 §7.6.2; R125"
WAITING = b"Expect: 100-continue"
TOO_LARGE = b"Content-Length: 2000000"


def expecting(*fields, body=b"hello", **more):
    """Head first; the body when 100 has come."""
    head = post(*fields, b"Content-Length: %d" % len(body), **more)
    return (head, INTERIM, body)


def local(id, send, source=HOPS, **more):
    """Answered here, not forwarded."""
    return Case(id, source, send, (Expect(status=({200, 204},), hits=0, touched=False, **more),))


CASES = [
    passed("expect-continue", EXPECT, expecting(WAITING), interim=(100,), content=b"hello", lacks=("Expect",)),
    passed("expect-continue-in-capitals", EXPECT, expecting("Expect: 100-Continue"), interim=(100,), content=b"hello"),
    passed("expect-continue-chunked", EXPECT, (post(WAITING, "Transfer-Encoding: chunked"), INTERIM, b"5\r\nhello\r\n0\r\n\r\n"),
           interim=(100,), content=b"hello"),
    passed("expect-continue-large", EXPECT, expecting(WAITING, body=b"x" * 300_000), interim=(100,), content=b"x" * 300_000),
    # 100 may be left out when content has come already: either is right.
    passed("expect-continue-body-at-once", EXPECT, sized(b"hello", WAITING), content=b"hello"),
    passed("expect-continue-upstream-sends-its-own", EXPECT + "; R124", expecting(WAITING), interim=(100,), content=b"hello",
           answers=(b"HTTP/1.1 100 Continue\r\n\r\n" + sized_reply(b"ok"),), also=(Expect(content=b"hello"),)),
    # Nothing is to follow: there is nothing to invite.
    passed("expect-continue-without-body", EXPECT, get(WAITING), interim=(), level=SHOULD, also=(Expect(),)),
    passed("expect-continue-with-length-zero", EXPECT, sized(b"", WAITING), level=SHOULD, also=(Expect(),)),
    passed("expect-on-http10-is-ignored", EXPECT, sized(b"hello", WAITING, line=b"POST /wire HTTP/1.0"), interim=(), content=b"hello",
           closes=True),
    Case("expect-final-answer-instead", EXPECT, post(WAITING, TOO_LARGE),
         (Expect(status=(413,), interim=(), closes=True, hits=0, touched=False, key="free", gives=("Connection: close",)),), level=SHOULD),
    refused("expect-with-bad-framing", EXPECT, post(WAITING, "Content-Length: x")),
    refused("expect-without-host", EXPECT, post(WAITING, "Content-Length: 5", host=None)),
    Case("expect-with-a-bad-key", EXPECT + "; R123",
         post(WAITING, "Content-Length: 5", 'Idempotency-Key: "K2"').replace(b"/wire", b"/keyed"),
         (Expect(status=(400,), interim=(), closes=True, hits=0, touched=False), Expect(status=({200, 404},))), level=STRICT, keyed=None),
    Case("expect-other", EXPECT, sized(b"hello", "Expect: 200-ok"), (Expect(status=(417,), hits=0, touched=False, key="free"), Expect()),
         level=STRICT),
    Case("expect-continue-and-other", EXPECT, sized(b"hello", "Expect: 100-continue, x=1"),
         (Expect(status=(417,), hits=0, touched=False, key="free"), Expect()), level=STRICT),
    Case("expect-continue-disguised", EXPECT, sized(b"hello", "Expect: y 100-continue"),
         (Expect(status=(417,), hits=0, touched=False, key="free"), Expect()), level=STRICT),
    Case("expect-continue-quoted", EXPECT, sized(b"hello", 'Expect: "100-continue"'),
         (Expect(status=(417,), hits=0, touched=False, key="free"), Expect()), level=STRICT),
    Case("expect-other-on-a-get", EXPECT, get("Expect: magic"), (Expect(status=(417,), hits=0, touched=False), Expect()), level=STRICT),
    Case("expect-continue-then-the-client-leaves", EXPECT + "; R65", (post(WAITING, "Content-Length: 5"), INTERIM, HALF_CLOSE),
         (Expect(status=(400,), silent=True, closes=True, hits=0, key="free"),), keyed={"touched": False}),

    local("options-hops-zero", get("Max-Forwards: 0", line=b"OPTIONS /wire HTTP/1.1")),
    local("options-star-hops-zero", get("Max-Forwards: 0", line=b"OPTIONS * HTTP/1.1")),
    Case("trace-hops-zero", HOPS + "; RFC 9110 §9.3.8", get("Max-Forwards: 0", "X-A: 1", line=b"TRACE /wire HTTP/1.1"),
         (Expect(status=(200,), hits=0, touched=False, gives=("Content-Type: message/http",),
                 body=b"TRACE /wire HTTP/1.1\r\nHost: a.example\r\nMax-Forwards: 0\r\nX-A: 1\r\n\r\n"), Expect(status=({405,
                                                                                                                        501},), hits=0))),
    Case("trace-shows-no-secrets", "RFC 9110 §9.3.8",
         get("Max-Forwards: 0", "Cookie: a=1", "Authorization: x", line=b"TRACE /wire HTTP/1.1"),
         (Expect(status=(200,), hits=0, touched=False, body=b"TRACE /wire HTTP/1.1\r\nHost: a.example\r\nMax-Forwards: 0\r\n\r\n"),
          Expect(status=({405, 501},), hits=0))),
    passed("options-hops-one", HOPS, get("Max-Forwards: 1", line=b"OPTIONS /wire HTTP/1.1"), has=("Max-Forwards: 0",)),
    passed("options-hops-many", HOPS, get("Max-Forwards: 70", line=b"OPTIONS /wire HTTP/1.1"), has=("Max-Forwards: 69",)),
    passed("options-star-hops", HOPS, get("Max-Forwards: 3", line=b"OPTIONS * HTTP/1.1"), has=("Max-Forwards: 2",),
           line=b"OPTIONS * HTTP/1.1"),
    passed("trace-hops-one", HOPS, get("Max-Forwards: 1", line=b"TRACE /wire HTTP/1.1"), has=("Max-Forwards: 0",),
           also=(Expect(status=({405, 501},), hits=0),)),
    passed("options-without-hops", HOPS, get(line=b"OPTIONS /wire HTTP/1.1"), lacks=("Max-Forwards",)),
    passed("get-hops-may-be-ignored", HOPS, get("Max-Forwards: 0"), has=("Max-Forwards: 0",), level=STRICT, also=(Expect(),)),

    Case("connect", "RFC 9110 §9.3.6; R135", b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
         (Expect(status=({405, 501},), closes=True, hits=0, touched=False), Expect(status=(400,), hits=0)), level=STRICT),
    Case("connect-without-port", "RFC 9110 §9.3.6; RFC 9112 §3.2.3", b"CONNECT a.example HTTP/1.1\r\nHost: a.example\r\n\r\n",
         (Expect(status=({400, 405, 501},), closes=True, hits=0, touched=False),), level=SHOULD),
    Case("connect-with-a-path", "RFC 9112 §3.2.3", b"CONNECT /wire HTTP/1.1\r\nHost: a.example\r\n\r\n",
         (Expect(status=({400, 405, 501},), closes=True, hits=0, touched=False),), level=SHOULD),
    Case("connect-then-bytes", "RFC 9110 §9.3.6; R135", b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"
         b"GET /wire HTTP/1.1\r\nHost: a.example\r\n\r\n", (Expect(status=({400, 405, 501},), closes=True, hits=0,
                                                                   touched=False),), level=STRICT),

    Case("body-over-the-limit", "RFC 9110 §15.5.14; R131", post(TOO_LARGE),
         (Expect(status=(413,), closes=True, hits=0, touched=False, key="free", gives=("Connection: close",)),
          Expect(status=({200, 413},))), level=STRICT),
    Case("body-over-the-limit-sent", "RFC 9110 §15.5.14; R128, R131", post(TOO_LARGE, body=b"x" * 2_000_000),
         (Expect(status=(413,), closes=True, hits=0, touched=False, key="free"), Expect(status=({200, 413},))), level=STRICT),
    Case("body-of-the-limit", "R131", sized(b"x" * (1 << 20)), (Expect(hits=1, content=b"x" * (1 << 20), key="recorded"),), level=STRICT),
    Case("body-huge", "RFC 9110 §15.5.14; R131", post("Content-Length: 9223372036854775807"),
         (Expect(status=({400, 413},), closes=True, hits=0, touched=False, key="free"),), level=SHOULD),
    # A body that ends early is an incomplete request: it must not be taken for a whole one.
    Case("body-ends-early", "RFC 9112 §8; R65", (post("Content-Length: 10", body=b"half"), HALF_CLOSE),
         (Expect(status=(400,), silent=True, closes=True, hits=0, key="free"),), keyed={"touched": False}),
    Case("body-does-not-come", "RFC 9112 §8; R65", (post("Content-Length: 10"), HALF_CLOSE),
         (Expect(status=(400,), silent=True, closes=True, hits=0, key="free"),), keyed={"touched": False}),
]

"""What one connection carries: keep-alive, pipelining, unread bodies, peers that go away. RFC 9112 §9."""

from wire.case import CLOSE, EARLY, HALF_CLOSE, READ_BODY, RECEIVE, RESET, SETTLE, SHOULD, STRICT, Case, Expect, answered, \
    bad_answer, chunked, get, passed, post, reply, sized, sized_reply

KEEP = "RFC 9112 §9.3; R127"
PIPE = "RFC 9112 §9.3.2; R129"
AFTER = "RFC 9112 §6.3, §9.3; R114"
GONE = "RFC 9112 §9.5, §9.3.1; R60, R62"
EARLY_ANSWER = "RFC 9112 §9.3, §9.5"
SECOND = get(line=b"GET /wire/second HTTP/1.1")
HIDDEN = b"GET /wire/hidden HTTP/1.1\r\nHost: a.example\r\n\r\n"
KEYED = sized(HIDDEN).replace(b"/wire HTTP", b"/keyed HTTP")
HTTP10 = b"GET /wire HTTP/1.0"


def several(id, source, *requests, bodies=None, methods=None, also=(), **wanted):
    """Sent in one go, answered in order."""
    answers = tuple(sized_reply(body) for body in bodies) if bodies else ()
    wanted = {"status": (200,) * len(requests), "hits": len(requests), "closes": False, "body": bodies, **wanted}
    return Case(id, source, b"".join(requests), (Expect(**wanted), *also), answers=answers, methods=tuple(methods or ()), keyed=None)


def nothing_behind(id, bad, status=400, source=AFTER, **more):
    """A sound request, a bad one, a sound one: the first is answered, the second refused, the third never read."""
    return Case(id, source, get() + bad + SECOND, (Expect(status=(200, status), hits=1, closes=True),), methods=("GET", "GET"), keyed=None,
                **more)


def dies(id, *steps, status=502, **more):
    """The upstream takes the request and goes: it may have acted, so it is not asked again."""
    return bad_answer(id, GONE, steps, **more)


CASES = [
    passed("http11-stays-open", KEEP, get()),
    passed("http11-close", "RFC 9112 §9.6", get("Connection: close"), closes=True, gives=("Connection: close",),
           also=(Expect(closes=True),)),
    passed("http11-close-in-capitals", "RFC 9112 §9.6", get("Connection: CLOSE"), closes=True),
    passed("http11-close-in-a-list", "RFC 9112 §9.6", get("Connection: keep-alive, close"), closes=True),
    passed("http11-close-on-a-second-line", "RFC 9112 §9.6", get("Connection: keep-alive", "Connection: close"), closes=True),
    passed("http11-close-as-part-of-a-word", "RFC 9112 §9.6", get("Connection: x-close"), closes=False, level=STRICT, also=(Expect(),)),
    passed("http11-keep-alive", KEEP, get("Connection: keep-alive")),
    passed("http10-closes", KEEP, get(line=HTTP10), closes=True),
    passed("http10-keep-alive", KEEP, get("Connection: keep-alive", line=HTTP10), gives=("Connection: keep-alive",), closes=False,
           also=(Expect(closes=True),), level=STRICT),
    passed("http10-keep-alive-in-capitals", KEEP, get("Connection: Keep-Alive", line=HTTP10), gives=("Connection: keep-alive",),
           closes=False,
           also=(Expect(closes=True), Expect()), level=STRICT),
    passed("http10-keep-alive-and-close", KEEP, get("Connection: keep-alive, close", line=HTTP10), closes=True),
    passed("http10-post", KEEP, sized(b"hello", line=b"POST /wire HTTP/1.0"), content=b"hello", closes=True),
    passed("close-and-body", "RFC 9112 §9.6", sized(b"hello", "Connection: close"), content=b"hello", closes=True),
    Case("close-and-more-behind", "RFC 9112 §9.6", get("Connection: close") + SECOND, (Expect(hits=1, closes=True),), methods=("GET",),
         keyed=None),
    Case("http10-and-more-behind", KEEP, get(line=HTTP10) + SECOND, (Expect(hits=1, closes=True),), methods=("GET",), keyed=None),
    passed("half-closed-after-the-request", "RFC 9112 §9.6; R64", (sized(b"hello"), HALF_CLOSE), content=b"hello", closes=True,
           level=STRICT),
    passed("half-closed-after-a-get", "RFC 9112 §9.6; R64", (get(), HALF_CLOSE), closes=True, level=STRICT),

    several("pipelined-two", PIPE, get(), SECOND, bodies=(b"one", b"two")),
    several("pipelined-ten", PIPE, *(get(line=b"GET /wire/%d HTTP/1.1" % n) for n in range(10)),
            bodies=tuple(b"%d" % n for n in range(10))),
    several("pipelined-posts", PIPE, sized(b"a", key=None), chunked(b"1\r\nb\r\n0\r\n\r\n", key=None), sized(b"c", key=None),
            bodies=(b"1", b"2", b"3"), content=b"c"),
    several("pipelined-with-an-empty-line-between", "RFC 9112 §2.2", get() + b"\r\n", SECOND, bodies=(b"one", b"two")),
    several("pipelined-head", PIPE, get(line=b"HEAD /wire HTTP/1.1"), SECOND, bodies=(b"", b"two"), methods=("HEAD", "GET")),
    several("pipelined-last-closes", PIPE, get(), get("Connection: close"), bodies=(b"one", b"two"), closes=True),
    several("pipelined-keyed-and-plain", PIPE, sized(b"a").replace(b"/wire", b"/keyed"), get(), sized(b"a").replace(b"/wire", b"/keyed"),
            status=(200, 200, 200), hits=2, also=(Expect(status=(200, 200, 200), hits=3),)),
    Case("pipelined-behind-an-error-of-the-application", PIPE, get() + SECOND, (Expect(status=(500, 200), hits=2, closes=False),),
         answers=(sized_reply(b"no", status=b"HTTP/1.1 500 No"),), methods=("GET", "GET"), keyed=None),
    Case("pipelined-behind-a-failed-upstream", PIPE, get() + SECOND, (Expect(status=(502, 200), hits=2),), answers=((CLOSE,),),
         methods=("GET", "GET"), keyed=None),
    Case("pipelined-behind-an-unknown-expectation", PIPE, sized(b"hello", "Expect: x", key=None) + SECOND,
         (Expect(status=(417, 200), hits=1), Expect(status=(417,)), Expect(status=(200, 200))), methods=("POST", "GET"), level=STRICT, keyed=None),
    Case("pipelined-behind-options-answered-here", "RFC 9110 §7.6.2",
         get("Max-Forwards: 0", "Content-Length: 5", line=b"OPTIONS /wire HTTP/1.1", body=b"hello") + SECOND,
         (Expect(status=({200, 204}, 200), hits=1, closes=False),), methods=("OPTIONS", "GET"), keyed=None),

    # What is answered here has read its request to the end: content is never the next request.
    Case("content-behind-the-policy-page", "RFC 9112 §6.3, §9.3; contract §3",
         get(b"Content-Length: %d" % len(HIDDEN), line=b"GET /.well-known/idempotency HTTP/1.1", body=HIDDEN) + SECOND,
         (Expect(status=(200, 200), hits=1, closes=False, line=b"GET /wire/second HTTP/1.1"), Expect(status=(200, 200), hits=2)),
         methods=("GET", "GET"), level=STRICT, keyed=None),
    Case("content-behind-a-replay", "RFC 9112 §6.3, §9.3", (KEYED, RECEIVE, KEYED + SECOND),
         (Expect(status=(200, 200, 200), hits=2, closes=False, line=b"GET /wire/second HTTP/1.1"), Expect(status=(200, 200, 200), hits=3)),
         methods=("POST", "POST", "GET"), level=STRICT, keyed=None),

    nothing_behind("nothing-behind-both-framings", post("Transfer-Encoding: chunked", "Content-Length: 5", body=b"0\r\n\r\n"),
                   level=STRICT),
    nothing_behind("nothing-behind-bad-length", post("Content-Length: x")),
    nothing_behind("nothing-behind-two-lengths", post("Content-Length: 0", "Content-Length: 5")),
    nothing_behind("nothing-behind-unknown-coding", post("Transfer-Encoding: x", body=b"0\r\n\r\n"), {400, 501}),
    nothing_behind("nothing-behind-no-host", get(host=None), source="RFC 9112 §3.2", level=STRICT),
    nothing_behind("nothing-behind-bad-line", b"GARBAGE\r\n\r\n", source="RFC 9112 §2.2", level=STRICT),
    nothing_behind("nothing-behind-bad-name", get("X A: 1"), source="RFC 9112 §5.1", level=STRICT),
    nothing_behind("nothing-behind-bad-chunk", chunked(b"x\r\n", key=None)),
    nothing_behind("nothing-behind-long-target", get(line=b"GET /wire/" + b"a" * 100_000 + b" HTTP/1.1"), 414, source="RFC 9112 §3",
                   level=STRICT),
    nothing_behind("nothing-behind-future-version", get(line=b"GET /wire HTTP/2.0"), {400, 505}, source="RFC 9112 §2.3", level=STRICT),
    nothing_behind("nothing-behind-connect", b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n", {400, 405, 501},
                   source="RFC 9110 §9.3.6", level=STRICT),

    dies("upstream-closes-at-once", CLOSE),
    dies("upstream-resets-at-once", RESET),
    dies("upstream-closes-in-the-status-line", b"HTTP/1.1 20", CLOSE),
    dies("upstream-closes-after-the-status-line", b"HTTP/1.1 200 OK\r\n", CLOSE),
    dies("upstream-closes-in-a-field", b"HTTP/1.1 200 OK\r\nContent-Le", CLOSE),
    dies("upstream-closes-before-the-empty-line", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", CLOSE),
    dies("upstream-resets-in-the-head", b"HTTP/1.1 200 OK\r\nContent-Le", RESET),
    dies("upstream-closes-after-an-empty-line", b"\r\n", CLOSE),
    dies("upstream-closes-before-the-body-is-read", EARLY, CLOSE, send=sized(b"x" * 200_000), hits=None),
    dies("upstream-resets-before-the-body-is-read", EARLY, RESET, send=sized(b"x" * 200_000), hits=None),
    dies("upstream-closes-on-a-get", CLOSE, send=get()),

    # An idle connection that the upstream closed is seen before a request is put on it.
    Case("idle-connection-closed", "RFC 9112 §9.5", (get(), RECEIVE, SETTLE, post("Content-Length: 2", body=b"hi")),
         (Expect(status=(200, 200), hits=2, content=b"hi", closes=False, key="recorded"),), answers=((sized_reply(b"ok"),
                                                                                                      CLOSE),), methods=("GET", "POST")),
    Case("idle-connection-reset", "RFC 9112 §9.5", (get(), RECEIVE, SETTLE, post("Content-Length: 2", body=b"hi")),
         (Expect(status=(200, 200), hits=2, content=b"hi", closes=False, key="recorded"),), answers=((sized_reply(b"ok"),
                                                                                                      RESET),), methods=("GET", "POST")),
    Case("idle-connection-spoke", "RFC 9112 §9.2; R130", (get(), RECEIVE, SETTLE, post("Content-Length: 2", body=b"hi")),
         (Expect(status=(200, 200), hits=2, content=b"hi", body=(b"ok", b"right"), key="recorded"),),
         answers=((sized_reply(b"ok"), sized_reply(b"wrong")), sized_reply(b"right")), methods=("GET", "POST")),
    # One that dies with the request on it is another matter: sent once, never again.
    Case("reused-connection-dies", GONE, (get(), RECEIVE, SETTLE, post("Content-Length: 2", body=b"hi")),
         (Expect(status=(200, 502), hits=2, key="unknown"),),
         answers=(sized_reply(b"ok"), (CLOSE,)), methods=("GET", "POST")),
    Case("reused-connection-reset", GONE, (get(), RECEIVE, SETTLE, post("Content-Length: 2", body=b"hi")),
         (Expect(status=(200, 502), hits=2, key="unknown"),),
         answers=(sized_reply(b"ok"), (RESET,)), methods=("GET", "POST")),
    Case("reused-connection-dies-in-the-answer", GONE, (get(), RECEIVE, SETTLE, post("Content-Length: 2", body=b"hi")),
         (Expect(status=(200, 502), hits=2, key="unknown"),), answers=(sized_reply(b"ok"), (b"HTTP/1.1 2", CLOSE)), methods=("GET",
                                                                                                                             "POST")),

    # An answer may come before the body was read (§9.5); it is passed on, and neither side is held up.
    answered("answer-before-the-body", EARLY_ANSWER, (EARLY, sized_reply(b"no", status=b"HTTP/1.1 413 Too Large"), READ_BODY),
             send=sized(b"x" * 100), status=(413,), body=b"no"),
    answered("answer-before-a-large-body", EARLY_ANSWER, (EARLY, sized_reply(b"no", status=b"HTTP/1.1 413 Too Large"), READ_BODY),
             send=sized(b"x" * 900_000),
             status=(413,), body=b"no", hits=None),
    answered("answer-before-a-chunked-body", EARLY_ANSWER, (EARLY, sized_reply(b"ok"), READ_BODY), send=chunked(b"5\r\nhello\r\n0\r\n\r\n"),
             body=b"ok"),
    answered("interim-before-the-body", "RFC 9110 §15.2", (EARLY, b"HTTP/1.1 103 Early Hints\r\n\r\n", READ_BODY, sized_reply(b"ok")),
             send=sized(b"hello"),
             body=b"ok", interim=(103,)),
    answered("many-small-answers-in-one", "RFC 9112 §9.2; R130", sized_reply(b"ok") * 20, body=b"ok", reuses=False, level=SHOULD,
             also=(Expect(body=b"ok"),)),
    answered("answer-with-bodyless-error-and-close", "RFC 9112 §9.6",
             (reply("Connection: close", "Content-Length: 0", status=b"HTTP/1.1 500 No"), CLOSE), status=(500,),
             body=b"", closes=False, reuses=False),
]

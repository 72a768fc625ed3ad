"""1xx responses. RFC 9110 §15.2; R77, R124."""

from wire.case import CLOSE, STRICT, Expect, answered, bad_answer, get, reply, sized, sized_reply

INTERIM = "RFC 9110 §15.2; R124"
OK = sized_reply(b"ok")
HTTP10 = sized(b"hi", line=b"POST /wire HTTP/1.0")


def hints(*fields, status=b"HTTP/1.1 103 Early Hints"):
    return reply(*fields, status=status)


CASES = [
    answered("early-hints", INTERIM, hints("Link: </a.css>; rel=preload") + OK, interim=(103,), body=b"ok", closes=False, reuses=True),
    answered("early-hints-twice", INTERIM, hints("Link: </a>") + hints("Link: </b>") + OK, interim=(103, 103), body=b"ok"),
    answered("early-hints-without-fields", INTERIM, hints() + OK, interim=(103,), body=b"ok"),
    answered("processing", INTERIM, hints(status=b"HTTP/1.1 102 Processing") + OK, interim=(102,), body=b"ok"),
    answered("interim-unknown", INTERIM, hints(status=b"HTTP/1.1 199 Whatever") + OK, interim=(199,), body=b"ok"),
    answered("interim-several-kinds", INTERIM, hints(status=b"HTTP/1.1 102 P") + hints() + hints(status=b"HTTP/1.1 104 U") + OK,
             interim=(102, 103, 104), body=b"ok"),
    # 100 was asked for by nobody: it says nothing, and the client may have had one already.
    answered("continue-unasked", INTERIM, b"HTTP/1.1 100 Continue\r\n\r\n" + OK, body=b"ok", also=(Expect(body=b"ok"),)),
    answered("continue-unasked-twice", INTERIM, b"HTTP/1.1 100 Continue\r\n\r\n" * 2 + OK, body=b"ok"),
    answered("continue-then-hints", INTERIM, b"HTTP/1.1 100 Continue\r\n\r\n" + hints() + OK, body=b"ok"),
    answered("interim-hop-by-hop", "RFC 9110 §7.6.1; R75", hints("Connection: X-Hop", "X-Hop: 1", "Keep-Alive: 5", "Link: </a>") + OK,
             interim=(103,), body=b"ok"),
    # A 1xx has no content whatever it says (RFC 9112 §6.3): what follows is the next head.
    answered("interim-with-a-length", "RFC 9112 §6.3 item 1", hints("Content-Length: 5") + OK, interim=(103,), body=b"ok",
             also=(Expect(status=(502,)),)),
    answered("interim-with-a-coding", "RFC 9112 §6.1, §6.3 item 1", hints("Transfer-Encoding: chunked") + OK, interim=(103,), body=b"ok",
             also=(Expect(status=(502,)),)),
    answered("interim-reason-missing", "RFC 9112 §4", hints(status=b"HTTP/1.1 103") + OK, interim=(103,), body=b"ok",
             also=(Expect(body=b"ok"),)),
    answered("interim-to-http10", INTERIM + ", R127", hints() + OK, send=HTTP10, interim=(), body=b"ok", closes=True),
    answered("continue-to-http10", INTERIM + ", R127", b"HTTP/1.1 100 Continue\r\n\r\n" + OK, send=HTTP10, interim=(), body=b"ok",
             closes=True),
    answered("interim-before-head-answer", INTERIM, hints() + reply("Content-Length: 5"), send=get(line=b"HEAD /wire HTTP/1.1"),
             methods=("HEAD",),
             interim=(103,), body=b"", gives=("Content-Length: 5",)),
    answered("interim-before-no-content", INTERIM, hints() + reply(status=b"HTTP/1.1 204 No Content"), status=(204,), interim=(103,),
             body=b""),
    answered("interim-then-an-error", INTERIM, hints() + sized_reply(b"no", status=b"HTTP/1.1 422 No"), status=(422,), interim=(103,),
             body=b"no"),
    answered("ten-hints", INTERIM, hints("Link: </a>") * 10 + OK, interim=(103,) * 10, body=b"ok"),
    # A 102 now and then is how a server says that it is still at work: only the time for the answer bounds them.
    answered("hundreds-of-hints", INTERIM, hints("Link: </a>") * 500 + OK, interim=(103,) * 500, body=b"ok"),

    bad_answer("switching-unasked", "RFC 9110 §15.2.2, §7.8; R135",
               b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
    bad_answer("switching-unasked-to-a-wish", "RFC 9110 §7.8; R135",
               b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
               send=sized(b"hi", "Connection: Upgrade", "Upgrade: websocket")),
    bad_answer("interim-then-nothing", "RFC 9112 §8", (hints(), CLOSE)),
    bad_answer("interim-malformed", "RFC 9112 §5.1; R120", hints("X A: 1") + OK, or_repaired=True),
    bad_answer("interim-with-bare-lf", "RFC 9112 §2.2; R120", b"HTTP/1.1 103 Early Hints\n\n" + OK, or_repaired=True, level=STRICT),
    bad_answer("interim-http2", "RFC 9112 §2.3", b"HTTP/2 103 Early Hints\r\n\r\n" + OK, or_repaired=True),
]

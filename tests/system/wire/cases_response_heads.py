"""Heads of responses, odd and wrong. RFC 9112 §4, §5; RFC 9110 §15.2, §6.6.1.

What no reading accepts is a 502 and the end of that connection; another proxy may pass it on when it has made it well-formed."""

from wire.case import CLOSE, SHOULD, STRICT, Expect, answered, bad_answer, get, reply, sized_reply

LINE = "RFC 9112 §4; RFC 9110 §2.2; R120"
FIELD = "RFC 9112 §5; RFC 9110 §2.2, §5.5; R120"
KEPT = "RFC 9110 §5.1, §5.3, §5.5; R74"


def line(id, status_line, **more):
    """A whole response but for its first line."""
    return bad_answer(id, LINE, sized_reply(b"ok", status=status_line), or_repaired=True, **more)


def good_line(id, status_line, status=200, **more):
    return answered(id, "RFC 9112 §4; RFC 9110 §15", sized_reply(b"ok", status=status_line), status=(status,), body=b"ok", closes=False,
                    **{"key": "recorded", **more})


def field(id, raw_line, source=FIELD, **more):
    return bad_answer(id, source, sized_reply(b"ok", raw_line), or_repaired=True, **more)


def kept(id, *lines, source=KEPT, **more):
    return answered(id, source, sized_reply(b"ok", *lines), gives=lines, body=b"ok", closes=False, **more)


CASES = [
    good_line("status-plain", b"HTTP/1.1 200 OK", reuses=True),
    good_line("status-reason-empty", b"HTTP/1.1 200 "),
    good_line("status-reason-missing", b"HTTP/1.1 200"),
    good_line("status-reason-words", b"HTTP/1.1 200 All is well, really"),
    good_line("status-reason-obs-text", b"HTTP/1.1 200 \xfcber"),
    good_line("status-reason-tab", b"HTTP/1.1 200 a\tb"),
    good_line("status-reason-other", b"HTTP/1.1 200 Not Found"),
    good_line("status-unknown-2xx", b"HTTP/1.1 299 X", 299),
    good_line("status-unknown-4xx", b"HTTP/1.1 499 X", 499),
    good_line("status-unknown-5xx", b"HTTP/1.1 599 X", 599),
    good_line("status-redirect", b"HTTP/1.1 301 Moved", 301),
    good_line("status-error", b"HTTP/1.1 500 Oops", 500),
    good_line("status-free", b"HTTP/1.1 503 Busy", 503, key=None),
    good_line("status-http10", b"HTTP/1.0 200 OK", reuses=False),
    good_line("status-later-minor", b"HTTP/1.2 200 OK", also=(Expect(status=(502,)),), level=SHOULD),
    answered("own-version-in-responses", "RFC 9112 §2.3; RFC 9110 §6.2", sized_reply(b"ok", status=b"HTTP/1.0 200 OK"), body=b"ok",
             starts=b"HTTP/1.1 200 "),
    answered("own-version-to-http10", "RFC 9110 §6.2", sized_reply(b"ok"), send=get(line=b"GET /wire HTTP/1.0"), body=b"ok", closes=True,
             starts=b"HTTP/1.1 200 ",
             also=(Expect(starts=b"HTTP/1.0 200 "),)),

    line("status-two-digits", b"HTTP/1.1 20 OK"),
    line("status-four-digits", b"HTTP/1.1 2000 OK"),
    line("status-zero", b"HTTP/1.1 000 OK"),
    line("status-099", b"HTTP/1.1 099 OK"),
    # Three digits, so in the grammar, and invalid (RFC 9110 §15).
    line("status-600", b"HTTP/1.1 600 OK", level=STRICT),
    line("status-999", b"HTTP/1.1 999 OK", level=STRICT),
    line("status-negative", b"HTTP/1.1 -20 OK"),
    line("status-plus", b"HTTP/1.1 +20 OK"),
    line("status-letters", b"HTTP/1.1 abc OK"),
    line("status-hex", b"HTTP/1.1 0xC8 OK"),
    line("status-fraction", b"HTTP/1.1 200.1 OK"),
    line("status-missing", b"HTTP/1.1"),
    line("status-missing-with-space", b"HTTP/1.1 "),
    line("status-missing-with-reason", b"HTTP/1.1 OK"),
    line("status-glued-reason", b"HTTP/1.1 200OK"),
    line("status-two-spaces", b"HTTP/1.1  200 OK"),
    line("status-tab", b"HTTP/1.1\t200 OK"),
    line("status-tab-before-reason", b"HTTP/1.1 200\tOK"),
    line("status-leading-space", b" HTTP/1.1 200 OK"),
    line("status-leading-empty-line", b"\r\nHTTP/1.1 200 OK", level=STRICT),
    line("answer-version-lower-case", b"http/1.1 200 OK"),
    line("answer-version-other-protocol", b"ICY 200 OK"),
    line("answer-version-smtp", b"220 mail.example ESMTP"),
    line("answer-version-without-minor", b"HTTP/1 200 OK"),
    line("answer-version-without-dot", b"HTTP/11 200 OK"),
    line("answer-version-two-digits", b"HTTP/1.10 200 OK"),
    line("answer-version-letter", b"HTTP/1.x 200 OK"),
    line("answer-version-2.0", b"HTTP/2.0 200 OK"),
    line("answer-version-2", b"HTTP/2 200"),
    line("answer-version-0.9", b"HTTP/0.9 200 OK"),
    line("answer-version-space", b"HTTP /1.1 200 OK"),
    line("reason-nul", b"HTTP/1.1 200 O\x00K"),
    line("reason-control", b"HTTP/1.1 200 O\x01K"),
    line("reason-bare-cr", b"HTTP/1.1 200 O\rK"),
    line("reason-escape", b"HTTP/1.1 200 \x1b[2J"),
    bad_answer("status-line-bare-lf", "RFC 9112 §2.2; R120", b"HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok", or_repaired=True,
               level=STRICT),
    bad_answer("head-bare-lf", "RFC 9112 §2.2; R120", b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", or_repaired=True, level=STRICT),
    bad_answer("http09-answer", LINE, (b"hello, I am a body\n", CLOSE)),
    bad_answer("html-answer", LINE, (b"<html>\r\n\r\n</html>", CLOSE)),
    bad_answer("binary-answer", LINE, (bytes(range(256)) + b"\r\n\r\n", CLOSE)),
    bad_answer("request-as-answer", LINE, (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", CLOSE)),
    bad_answer("http2-frames-as-answer", LINE, (bytes.fromhex("000000040000000000"), CLOSE)),
    bad_answer("tls-alert-as-answer", LINE, (bytes.fromhex("15030100020228"), CLOSE)),

    field("answer-name-with-space", "X A: 1"),
    field("answer-name-empty", ": 1"),
    field("answer-name-without-colon", "X-A"),
    field("answer-name-with-parenthesis", "X(A): 1"),
    field("answer-name-with-nul", b"X\x00A: 1"),
    field("answer-name-with-obs-text", b"X\xe9A: 1"),
    field("answer-name-with-control", b"X\x01A: 1"),
    # A proxy has to remove this white space or not to pass the response on (§5.1): not passed on.
    field("answer-space-before-colon", "X-A : 1", "RFC 9112 §5.1; R120"),
    field("answer-tab-before-colon", "X-A\t: 1", "RFC 9112 §5.1; R120"),
    field("answer-length-space-before-colon", "Content-Length : 2", "RFC 9112 §5.1; R120"),
    field("answer-value-nul", b"X-A: a\x00b", "RFC 9110 §5.5; R120"),
    field("answer-value-bare-cr", b"X-A: a\rb", "RFC 9112 §2.2; RFC 9110 §5.5; R120"),
    field("answer-value-bare-cr-splitting", b"X-A: a\r\rSet-Cookie: b", "RFC 9112 §2.2; RFC 9110 §5.5; R120"),
    field("answer-value-bare-lf", b"X-A: a\nX-B: b", "RFC 9112 §2.2; RFC 9110 §5.5; R120", level=STRICT),
    field("answer-value-control", b"X-A: a\x01b", "RFC 9110 §5.5; R120", level=STRICT),
    field("answer-value-del", b"X-A: a\x7fb", "RFC 9110 §5.5; R120", level=STRICT),
    field("answer-fold", "X-A: 1\r\n 2", "RFC 9112 §5.2; R120"),
    field("answer-fold-tab", "X-A: 1\r\n\t2", "RFC 9112 §5.2; R120"),
    field("answer-fold-empty", "X-A:\r\n 2", "RFC 9112 §5.2; R120"),
    field("answer-fold-hiding-a-length", "X-A: 1\r\n Content-Length: 9", "RFC 9112 §5.2; R120"),
    bad_answer("answer-space-before-first-field", "RFC 9112 §2.2; R120", b"HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 2\r\n\r\nok",
               or_repaired=True),
    bad_answer("answer-head-too-large", "a bound on what is kept", sized_reply(b"ok", "X-A: " + "v" * 400_000), or_repaired=True,
               level=STRICT),
    bad_answer("answer-head-of-too-many-fields", "a bound on what is kept",
               sized_reply(b"ok", *(f"X-{n}: " + "v" * 60 for n in range(6000))),
               or_repaired=True, level=STRICT),
    bad_answer("answer-line-without-end", "a bound on what is kept", b"HTTP/1.1 200 " + b"x" * 400_000 + b"\r\nContent-Length: 2\r\n\r\nok",
               or_repaired=True, level=STRICT),

    kept("answer-field-unknown", "X-Anything: at all"),
    kept("answer-field-spelling", "x-LoWer-UpPer: 1"),
    kept("answer-field-underscore", "X_Under: 1"),
    kept("answer-field-empty", "X-Empty: ", also=(Expect(gives=("X-Empty:",)),)),
    kept("answer-field-obs-text", b"X-Name: caf\xe9"),
    kept("answer-field-utf8", "X-Name: café".encode()),
    kept("answer-field-every-byte", b"X-Bytes: " + bytes(range(0x21, 0x7F)) + bytes(range(0x80, 0x100))),
    kept("answer-field-inner-spaces", "X-Spaces: a  b\tc"),
    kept("answer-field-repeated", "X-R: 1", "X-Other: x", "X-R: 2"),
    kept("answer-cookies-apart", "Set-Cookie: a=1; Path=/", "Set-Cookie: b=2", "Set-Cookie: c=\"x,y\""),
    kept("answer-links-apart", "Link: </a>; rel=a", "Link: </b>; rel=b"),
    kept("answer-server-kept", "Server: upstream/1.0", level=STRICT, also=(Expect(),)),
    kept("answer-via-kept", "Via: 1.1 inner", also=(Expect(),)),
    kept("answer-encoding-kept", "Content-Encoding: gzip", "Vary: Accept-Encoding", source="RFC 9110 §7.7; R85"),
    kept("answer-etag-kept", 'ETag: W/"x"', "Last-Modified: Tue, 15 Nov 1994 08:12:31 GMT"),
    kept("answer-authenticate-kept", 'WWW-Authenticate: Basic realm="x"', "WWW-Authenticate: Bearer"),
    kept("answer-cache-control-kept", "Cache-Control: no-store", "Expires: 0", "Pragma: no-cache"),
    kept("answer-location-kept", "Location: /x?y#z"),
    answered("answer-partial", "RFC 9110 §15.3.7", sized_reply(b"ok", "Content-Range: bytes 0-1/9", status=b"HTTP/1.1 206 Partial"),
             status=(206,), gives=("Content-Range: bytes 0-1/9",), body=b"ok", send=get("Range: bytes=0-1"), has=("Range: bytes=0-1",)),
    kept("answer-long-field", "X-Long: " + "v" * 8000, level=SHOULD),
    kept("answer-many-fields", *(f"X-{n}: {n}" for n in range(200)), level=SHOULD),
    kept("answer-date-kept", "Date: Tue, 15 Nov 1994 08:12:31 GMT", source="RFC 9110 §6.6.1; R79", level=STRICT, also=(Expect(),)),
    answered("answer-date-added", "RFC 9110 §6.6.1; R79", sized_reply(b"ok"), has_date=True, body=b"ok"),
    answered("answer-date-added-to-an-error", "RFC 9110 §6.6.1; R79", sized_reply(b"no", status=b"HTTP/1.1 404 No"), status=(404,),
             has_date=True),
    answered("answer-date-added-to-no-content", "RFC 9110 §6.6.1; R79", reply(status=b"HTTP/1.1 204 No Content"), status=(204,),
             has_date=True),
]


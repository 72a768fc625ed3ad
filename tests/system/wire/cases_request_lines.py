"""The request line and what stands before it. RFC 9112 §2.2, §2.3, §3."""

from wire.case import SHOULD, STRICT, Case, Expect, get, passed, post, refused, sized

LINE = "RFC 9112 §3"
VERSION = "RFC 9112 §2.3"
BEFORE = "RFC 9112 §2.2; R119"
GOOD = b"GET /wire/second HTTP/1.1\r\nHost: a.example\r\n\r\n"


def line(id, text, source=LINE, status=400, **more):
    """A request whose first line is this, with another behind it that must not be served."""
    return refused(id, source, post("Content-Length: 0", line=text) + GOOD, status, **more)


CASES = [
    passed("line-plain", LINE, sized(b""), line=b"POST /wire HTTP/1.1"),
    passed("line-after-an-empty-line", BEFORE, b"\r\n" + sized(b"")),
    passed("line-after-two-empty-lines", BEFORE, b"\r\n\r\n" + sized(b"")),
    passed("http10-is-answered", VERSION, get(line=b"GET /wire HTTP/1.0", host=None), closes=True),
    passed("own-version-is-sent-on", VERSION, get(line=b"GET /wire HTTP/1.0"), closes=True, line=b"GET /wire HTTP/1.1",
           also=(Expect(line=b"GET /wire HTTP/1.0"),)),
    passed("later-minor-version", "RFC 9110 §2.5", get(line=b"GET /wire HTTP/1.2"), line=b"GET /wire HTTP/1.1", level=SHOULD,
           also=(Expect(status=(505,)),)),
    passed("minor-version-nine", "RFC 9110 §2.5", get(line=b"GET /wire HTTP/1.9"), level=SHOULD, also=(Expect(status=(505,)),)),
    passed("unknown-method", "RFC 9110 §9.1", get(line=b"BREW /wire HTTP/1.1"), line=b"BREW /wire HTTP/1.1"),
    passed("method-is-case-sensitive", "RFC 9110 §9.1", get(line=b"get /wire HTTP/1.1"), line=b"get /wire HTTP/1.1",
           also=(Expect(status=({400, 405, 501},)),)),
    passed("method-of-every-token-character", "RFC 9110 §9.1, §5.6.2", get(line=b"!#$%&'*+-.^_`|~0Az /wire HTTP/1.1"),
           line=b"!#$%&'*+-.^_`|~0Az /wire HTTP/1.1", also=(Expect(status=({400, 405, 501},)),)),
    passed("method-of-a-hundred-letters", "RFC 9110 §9.1", get(line=b"M" * 100 + b" /wire HTTP/1.1"), line=b"M" * 100 + b" /wire HTTP/1.1",
           also=(Expect(status=({400, 405, 501},)),)),

    line("two-spaces-before-target", b"POST  /wire HTTP/1.1", level=SHOULD, or_repaired=True),
    line("two-spaces-before-version", b"POST /wire  HTTP/1.1", level=SHOULD, or_repaired=True),
    line("space-after-version", b"POST /wire HTTP/1.1 ", level=SHOULD, or_repaired=True),
    line("tab-between-parts", b"POST\t/wire\tHTTP/1.1", level=SHOULD, or_repaired=True),
    line("tab-before-version", b"POST /wire\tHTTP/1.1", level=SHOULD, or_repaired=True),
    line("vertical-tab-between-parts", b"POST\x0b/wire\x0bHTTP/1.1", level=SHOULD, or_repaired=True),
    line("leading-space", b" POST /wire HTTP/1.1", level=SHOULD, or_repaired=True),
    line("leading-tab", b"\tPOST /wire HTTP/1.1", level=SHOULD, or_repaired=True),
    line("space-in-target", b"POST /wire/a b HTTP/1.1", LINE + "; RFC 9112 §3.2", level=SHOULD),
    line("no-target", b"POST HTTP/1.1", level=SHOULD),
    line("empty-target", b"POST  HTTP/1.1", level=SHOULD),
    line("only-a-method", b"POST", level=SHOULD),
    line("http09", b"POST /wire", level=SHOULD),
    line("http09-with-space", b"POST /wire ", level=SHOULD),
    line("extra-word", b"POST /wire HTTP/1.1 x", level=SHOULD),
    line("method-with-colon", b"PO:ST /wire HTTP/1.1", level=SHOULD),
    line("method-with-parenthesis", b"PO(ST /wire HTTP/1.1", level=SHOULD),
    line("method-with-slash", b"PO/ST /wire HTTP/1.1", level=SHOULD),
    line("method-quoted", b'"POST" /wire HTTP/1.1', level=SHOULD),
    line("method-with-nul", b"PO\x00ST /wire HTTP/1.1", level=SHOULD),
    line("method-with-control", b"PO\x01ST /wire HTTP/1.1", level=SHOULD),
    line("method-with-obs-text", b"PO\xe9ST /wire HTTP/1.1", level=SHOULD),
    line("version-in-lower-case", b"POST /wire http/1.1", VERSION, level=SHOULD, or_repaired=True),
    line("version-other-name", b"POST /wire HTTPS/1.1", VERSION, level=SHOULD),
    line("version-without-minor", b"POST /wire HTTP/1", VERSION, level=SHOULD),
    line("version-without-dot", b"POST /wire HTTP/11", VERSION, level=SHOULD),
    line("version-comma", b"POST /wire HTTP/1,1", VERSION, level=SHOULD),
    line("version-two-digit-minor", b"POST /wire HTTP/1.10", VERSION, level=SHOULD),
    line("version-leading-zero", b"POST /wire HTTP/01.1", VERSION, level=SHOULD),
    line("version-letter", b"POST /wire HTTP/1.x", VERSION, level=SHOULD),
    line("version-negative", b"POST /wire HTTP/-1.1", VERSION, level=SHOULD),
    line("version-space-inside", b"POST /wire HTTP/ 1.1", VERSION, level=SHOULD),
    line("version-0.9", b"POST /wire HTTP/0.9", VERSION + "; RFC 9110 §15.6.6", {400, 505}, level=SHOULD),
    line("version-2.0", b"POST /wire HTTP/2.0", VERSION + "; RFC 9110 §15.6.6", {400, 505}, level=SHOULD),
    line("version-3.0", b"POST /wire HTTP/3.0", VERSION + "; RFC 9110 §15.6.6", {400, 505}, level=SHOULD),
    refused("http2-preface", "RFC 9113 §3.4", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9), {400, 505}, level=SHOULD),
    refused("tls-hello", BEFORE, bytes.fromhex("16030100c8010000c40303") + bytes(190) + b"\r\n\r\n", level=SHOULD),
    refused("garbage", BEFORE, b"\x80\x81\x82\xff\xfe garbage\r\n\r\n", level=SHOULD),
    refused("json-where-a-request-was-due", BEFORE, b'{"amount":100}\r\n\r\n', level=SHOULD),
    refused("status-line-where-a-request-was-due", BEFORE, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", level=SHOULD),
    refused("nul-before-the-line", BEFORE, b"\x00" + sized(b""), level=SHOULD),
    # A bare LF may be taken for a line end (§2.2); two readers of one head must agree, so it is refused here.
    refused("bare-lf-after-line", BEFORE, b"POST /wire HTTP/1.1\nHost: a.example\r\nContent-Length: 0\r\n\r\n", level=STRICT,
            or_repaired=True),
    refused("bare-lf-everywhere", BEFORE, b"POST /wire HTTP/1.1\nHost: a.example\nContent-Length: 0\n\n", level=STRICT, or_repaired=True),
    refused("bare-cr-in-line", BEFORE, b"POST /wire\rHTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n", or_repaired=True),
    refused("bare-cr-after-line", BEFORE, b"POST /wire HTTP/1.1\rHost: a.example\r\nContent-Length: 0\r\n\r\n"),
    refused("bare-cr-before-crlf", BEFORE, b"POST /wire HTTP/1.1\r\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n", or_repaired=True),
    # One empty line is to be ignored (SHOULD, "at least one"); a stream of them is not a request.
    refused("many-empty-lines", BEFORE, b"\r\n" * 50 + sized(b""), level=STRICT, or_repaired=True),
    refused("bare-cr-before-line", BEFORE, b"\r" + sized(b"")),
    refused("bare-cr-and-empty-line-before-line", BEFORE, b"\r\r\n" + sized(b"")),
    refused("empty-lines-of-lf", BEFORE, b"\n\n" + sized(b""), level=STRICT, or_repaired=True),
    refused("space-before-first-field", BEFORE, b"POST /wire HTTP/1.1\r\n Host: a.example\r\nContent-Length: 0\r\n\r\n"),
    refused("space-before-first-field-good-host-later", BEFORE,
            b"POST /wire HTTP/1.1\r\n X: 1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n", or_repaired=True),
    refused("tab-before-first-field", BEFORE, b"POST /wire HTTP/1.1\r\n\tX: 1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n",
            or_repaired=True),
    refused("blank-line-of-spaces", BEFORE, b"POST /wire HTTP/1.1\r\n  \r\nHost: a.example\r\nContent-Length: 0\r\n\r\n", or_repaired=True),

    passed("target-of-8000-bytes", "RFC 9112 §3 (8000 octets are to be supported); R131",
           get(line=b"GET /wire/" + b"a" * 7980 + b" HTTP/1.1"),
           line=b"GET /wire/" + b"a" * 7980 + b" HTTP/1.1", level=SHOULD),
    refused("target-too-long", "RFC 9112 §3; RFC 9110 §15.5.15; R131", get(line=b"GET /wire/" + b"a" * 50_000 + b" HTTP/1.1"), 414),
    refused("target-longer-than-a-head", "RFC 9112 §3; RFC 9110 §15.5.15; R131", get(line=b"GET /wire/" + b"a" * 200_000 + b" HTTP/1.1"),
            414),
    refused("query-too-long", "RFC 9112 §3; RFC 9110 §15.5.15; R131", get(line=b"GET /wire?" + b"a" * 50_000 + b" HTTP/1.1"), 414),
    refused("method-too-long", "RFC 9112 §3", get(line=b"M" * 100_000 + b" /wire HTTP/1.1"), {400, 414, 431, 501}, level=SHOULD),
    Case("nothing-at-all", "RFC 9112 §9.5", ("half close",), (Expect(status=(400,), silent=True, closes=True, hits=0, touched=False),)),
    Case("half-a-line", "RFC 9112 §8; R65", (b"POST /wi", "half close"),
         (Expect(status=(400,), silent=True, closes=True, hits=0, touched=False),)),
    Case("half-a-head", "RFC 9112 §8; R65", (b"POST /wire HTTP/1.1\r\nHost: a.example\r\nContent-Le", "half close"),
         (Expect(status=(400,), silent=True, closes=True, hits=0, touched=False),)),
    Case("head-without-its-empty-line", "RFC 9112 §8; R69", (b"GET /wire HTTP/1.1\r\nHost: a.example\r\n", "half close"),
         (Expect(status=(400,), silent=True, closes=True, hits=0, touched=False),)),
]

"""Field lines of requests: grammar, what must be kept as it is, limits. RFC 9112 §5; RFC 9110 §5."""

from wire.case import SHOULD, STRICT, Expect, passed, post, refused, sized

NAME = "RFC 9112 §5.1; RFC 9110 §5.1; R119"
VALUE = "RFC 9110 §5.5; R119"
FOLD = "RFC 9112 §5.2; R119"
KEPT = "RFC 9110 §5.1, §5.3, §5.5; R150"


def bad(id, line, source=NAME, **more):
    return refused(id, source, sized(b"", line), **more)


def kept(id, *lines, source=KEPT, **more):
    """Forwarded line by line, byte for byte, in this order."""
    return passed(id, source, sized(b"hi", *lines), has=lines, content=b"hi", **more)


CASES = [
    bad("name-space-before-colon", "X-A : 1"),
    bad("name-tab-before-colon", "X-A\t: 1"),
    bad("name-nul-before-colon", b"X-A\x00: 1"),
    bad("name-empty", ": 1", level=SHOULD, or_repaired=True),
    bad("name-empty-with-space", " : 1", or_repaired=True),
    bad("name-without-colon", "X-A", level=SHOULD, or_repaired=True),
    bad("name-with-space", "X A: 1", or_repaired=True),
    bad("name-with-parenthesis", "X(A): 1", or_repaired=True),
    bad("name-with-slash", "X/A: 1", or_repaired=True),
    bad("name-with-at", "X@A: 1", or_repaired=True),
    bad("name-with-comma", "X,A: 1", or_repaired=True),
    bad("name-with-semicolon", "X;A: 1", or_repaired=True),
    bad("name-with-equals", "X=A: 1", or_repaired=True),
    bad("name-with-brackets", "X[A]: 1", or_repaired=True),
    bad("name-with-braces", "X{A}: 1", or_repaired=True),
    bad("name-with-question-mark", "X?A: 1", or_repaired=True),
    bad("name-with-angle", "X<A: 1", or_repaired=True),
    bad("name-with-backslash", "X\\A: 1", or_repaired=True),
    bad("name-quoted", '"X-A": 1', or_repaired=True),
    bad("name-with-nul", b"X\x00A: 1", or_repaired=True),
    bad("name-with-control", b"X\x01A: 1", or_repaired=True),
    bad("name-with-del", b"X\x7fA: 1", or_repaired=True),
    bad("name-with-obs-text", b"X\xe9A: 1", or_repaired=True),
    bad("name-with-utf8", "X-é: 1".encode(), or_repaired=True),
    bad("name-with-bare-cr", b"X\rA: 1", "RFC 9112 §2.2; R119", or_repaired=True),

    bad("value-with-nul", b"X-A: a\x00b", VALUE, or_repaired=True),
    bad("value-with-nul-first", b"X-A: \x00", VALUE, or_repaired=True),
    bad("value-with-bare-cr", b"X-A: a\rb", "RFC 9112 §2.2; " + VALUE, or_repaired=True),
    bad("value-with-bare-cr-hiding-a-line", b"X-A: a\rX-B: b", "RFC 9112 §2.2; " + VALUE, or_repaired=True),
    bad("value-ending-in-cr", b"X-A: a\r", "RFC 9112 §2.2; " + VALUE, or_repaired=True),
    # Bare LF: a line end to some readers, so refused (§2.2 leaves the choice).
    bad("value-with-bare-lf", b"X-A: a\nX-B: b", "RFC 9112 §2.2; " + VALUE, level=STRICT, or_repaired=True),
    # Other control characters may be kept in a safe context only (§5.5): refused.
    bad("value-with-control", b"X-A: a\x01b", VALUE, level=STRICT, or_repaired=True),
    bad("value-with-escape", b"X-A: a\x1b[2Jb", VALUE, level=STRICT, or_repaired=True),
    bad("value-with-vertical-tab", b"X-A: a\x0bb", VALUE, level=STRICT, or_repaired=True),
    bad("value-with-form-feed", b"X-A: a\x0cb", VALUE, level=STRICT, or_repaired=True),
    bad("value-with-backspace", b"X-A: a\x08b", VALUE, level=STRICT, or_repaired=True),
    bad("value-with-del", b"X-A: a\x7fb", VALUE, level=STRICT, or_repaired=True),

    bad("fold-with-space", "X-A: 1\r\n 2", FOLD, or_repaired=True),
    bad("fold-with-tab", "X-A: 1\r\n\t2", FOLD, or_repaired=True),
    bad("fold-of-an-empty-value", "X-A:\r\n 1", FOLD, or_repaired=True),
    bad("fold-hiding-a-length", "X-A: 1\r\n Content-Length: 5", FOLD, or_repaired=True),
    bad("fold-to-an-empty-line", "X-A: 1\r\n \r\nX-B: 2", FOLD, or_repaired=True),
    bad("fold-after-a-bare-lf", b"X-A: 1\n 2", FOLD, or_repaired=True),
    refused("fold-of-host", FOLD, post("Content-Length: 0", host=b"Host: a\r\n .example")),
    refused("fold-of-the-key", FOLD, post("Content-Length: 0", key=b'Idempotency-Key:\r\n "K"'), or_repaired=True),

    kept("field-unknown", "X-Anything: at all"),
    kept("field-with-underscore", "X_Under_Score: 1"),
    kept("field-with-dot", "X.Dotted: 1"),
    kept("field-of-every-token-character", "!#$%&'*+-.^_`|~09azAZ: 1"),
    kept("field-spelling", "x-LoWer-UpPer: 1"),
    kept("field-empty", "X-Empty: ", also=(Expect(has=("X-Empty:",)),)),
    kept("field-obs-text", b"X-Name: caf\xe9"),
    kept("field-utf8", "X-Name: café".encode()),
    kept("field-every-obs-text-byte", b"X-Bytes: " + bytes(range(0x80, 0x100))),
    kept("field-every-visible-byte", b"X-Bytes: " + bytes(range(0x21, 0x7F))),
    kept("field-inner-spaces-and-tabs", b"X-Spaces: a  b\tc"),
    kept("field-with-colons", "X-Colons: a:b: c"),
    kept("field-quoted-comma", 'X-List: "a,b", c'),
    kept("field-repeated-in-order", "X-R: 1", "X-Other: x", "X-R: 2", "x-r: 3"),
    kept("field-cookies-apart", "Cookie: a=1", "Cookie: b=2"),
    kept("field-authorization", "Authorization: Bearer abc.def==", source="RFC 9110 §11.6.2; R133"),
    kept("field-cache-control", "Cache-Control: no-cache", "Pragma: no-cache"),
    kept("field-conditional", 'If-Match: "x"', 'If-None-Match: "y"', source=KEPT + "; R137"),
    kept("field-range", "Range: bytes=0-1"),
    kept("field-date", "Date: Tue, 15 Nov 1994 08:12:31 GMT"),
    kept("field-content-fields", "Content-Type: text/plain", "Content-Encoding: gzip", "Content-Language: de", "Content-MD5: xx"),
    kept("field-cdn-loop", "CDN-Loop: other", source="RFC 8586 §2; R134"),
    kept("field-early-data", "Priority: u=1", "DNT: 1"),
    kept("field-long", "X-Long: " + "v" * 8000, level=SHOULD),
    kept("field-many", *(f"X-{number}: {number}" for number in range(200)), level=SHOULD),
    passed("field-padded", "RFC 9112 §5.1", sized(b"hi", "X-A: \t  padded \t "), has=("X-A: padded",), level=STRICT,
           also=(Expect(),)),
    passed("field-without-space", "RFC 9112 §5.1", sized(b"hi", "X-A:tight"), has=("X-A: tight",), also=(Expect(has=("X-A:tight",)),)),

    refused("head-too-large-one-field", "RFC 9110 §5.4; RFC 6585 §5; R131", sized(b"", "X-A: " + "v" * 70_000), 431, level=STRICT,
            or_repaired=True),
    refused("head-too-large-many-fields", "RFC 9110 §5.4; RFC 6585 §5; R131", sized(b"", *("X-A: " + "v" * 60 for _ in range(2000))), 431,
            level=STRICT, or_repaired=True),
    refused("head-too-large-long-name", "RFC 9110 §5.4; RFC 6585 §5; R131", sized(b"", "X" * 70_000 + ": v"), 431, level=STRICT,
            or_repaired=True),
    # Only the proxy speaks of attempts.
    passed("forwarded-attempt-of-a-client", "contract §3",
           sized(b"", "Idempotency-Attempt: 7", "Idempotency-Token: x", "Idempotency-Recovery-Point: y"),
           lacks=("Idempotency-Attempt", "Idempotency-Token", "Idempotency-Recovery-Point"), level=STRICT, also=(Expect(),)),
]

"""The chunked transfer coding from clients, sound and broken. RFC 9112 §7.1.

The grammar of a chunk knows CR LF alone: the leave to take a bare LF (§2.2) is for heads. A line that two readers may end at different
places is refused."""

from wire.case import HALF_CLOSE, SHOULD, STRICT, Expect, Case, chunked, passed, refused_body

CHUNK = "RFC 9112 §7.1"
EXTENSION = "RFC 9112 §7.1.1"
END = b"0\r\n\r\n"
HELLO = b"5\r\nhello\r\n"
HIDDEN = b"POST /wire/hidden HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n"


def sound(id, body, content=b"hello", source=CHUNK, **more):
    return passed(id, source, chunked(body), content=content, **more)


def broken(id, body, source=CHUNK, **more):
    return refused_body(id, source + "; R117", chunked(body + HIDDEN), **more)


def unfinished(id, *steps):
    """The client ends its side in the middle: an incomplete request, which must not be taken for a whole one (RFC 9112 §8)."""
    plain = Expect(status=(400,), closes=True, hits=0, key="free", silent=True)
    return Case(id, "RFC 9112 §8; R65", (*steps, HALF_CLOSE), (plain,), keyed={"touched": False})


CASES = [
    sound("chunk-one", HELLO + END),
    sound("chunk-none", END, b""),
    sound("chunk-several", b"1\r\nh\r\n3\r\nell\r\n1\r\no\r\n" + END),
    sound("chunk-size-upper-hex", b"A\r\n0123456789\r\n" + END, b"0123456789"),
    sound("chunk-size-lower-hex", b"a\r\n0123456789\r\n" + END, b"0123456789"),
    sound("chunk-size-two-digits", b"1f\r\n" + b"x" * 31 + b"\r\n" + END, b"x" * 31),
    sound("chunk-size-leading-zeros", b"00005\r\nhello\r\n" + END),
    sound("chunk-size-many-leading-zeros", b"0" * 15 + b"5\r\nhello\r\n" + END),
    sound("chunk-size-longer-than-64-bits-of-zeros", b"0" * 30 + b"5\r\nhello\r\n" + END),
    sound("chunk-last-longer-than-64-bits-of-zeros", HELLO + b"0" * 30 + b"\r\n\r\n"),
    sound("chunk-last-many-zeros", HELLO + b"0000\r\n\r\n"),
    sound("chunk-of-crlf", b"4\r\n\r\n\r\n\r\n" + END, b"\r\n\r\n"),
    sound("chunk-like-an-end", b"5\r\n0\r\n\r\n\r\n" + END, b"0\r\n\r\n"),
    sound("chunk-binary", b"100\r\n" + bytes(range(256)) + b"\r\n" + END, bytes(range(256))),
    sound("chunk-many", b"1\r\nx\r\n" * 2000 + END, b"x" * 2000),
    sound("chunk-large", b"20000\r\n" + b"y" * 0x20000 + b"\r\n" + END, b"y" * 0x20000),
    # A recipient must ignore extensions it does not know.
    sound("extension-name", b"5;x\r\nhello\r\n" + END, source=EXTENSION),
    sound("extension-value", b"5;x=1\r\nhello\r\n" + END, source=EXTENSION),
    sound("extension-quoted", b'5;x="a b"\r\nhello\r\n' + END, source=EXTENSION),
    sound("extension-quoted-with-semicolon", b'5;x="a;b"\r\nhello\r\n' + END, source=EXTENSION),
    sound("extension-quoted-escape", b'5;x="a\\"b"\r\nhello\r\n' + END, source=EXTENSION),
    sound("extension-two", b"5;x=1;y=2\r\nhello\r\n" + END, source=EXTENSION),
    sound("extension-on-last", HELLO + b"0;x=1\r\n\r\n", source=EXTENSION),
    # Bad white space must not be sent, but must be understood (RFC 9110 §5.6.3).
    sound("extension-space-before-semicolon", b"5 ;x\r\nhello\r\n" + END, source=EXTENSION),
    sound("extension-space-after-semicolon", b"5; x\r\nhello\r\n" + END, source=EXTENSION),
    sound("extension-spaces-around-equals", b"5;x = 1\r\nhello\r\n" + END, source=EXTENSION),
    sound("extension-tabs", b"5\t;\tx\t=\t1\r\nhello\r\n" + END, source=EXTENSION),
    sound("extension-of-4-KiB", b"5;x=" + b"y" * 4096 + b"\r\nhello\r\n" + END, source=EXTENSION),

    broken("size-empty", b"\r\nhello\r\n" + END),
    broken("size-word", b"x\r\nhello\r\n" + END),
    broken("size-letter-g", b"g\r\nhello\r\n" + END),
    broken("size-0x", b"0x5\r\nhello\r\n" + END),
    broken("size-plus", b"+5\r\nhello\r\n" + END),
    broken("size-minus", b"-5\r\nhello\r\n" + END),
    broken("size-minus-zero", b"-0\r\n\r\n"),
    broken("size-inner-space", b"1 5\r\nhello\r\n" + END),
    broken("size-underscore", b"0_5\r\nhello\r\n" + END),
    broken("size-comma", b"5,\r\nhello\r\n" + END),
    broken("size-decimal-point", b"5.0\r\nhello\r\n" + END),
    broken("size-leading-space", b" 5\r\nhello\r\n" + END),
    broken("size-leading-tab", b"\t5\r\nhello\r\n" + END),
    broken("size-trailing-space", b"5 \r\nhello\r\n" + END, level=STRICT, or_repaired=True),
    broken("size-trailing-tab", b"5\t\r\nhello\r\n" + END, level=STRICT, or_repaired=True),
    broken("size-nul", b"5\x00\r\nhello\r\n" + END),
    broken("size-obs-text", b"5\xa0\r\nhello\r\n" + END),
    broken("size-quoted", b'"5"\r\nhello\r\n' + END),
    broken("size-over-64-bits", b"10000000000000005\r\nhello\r\n" + END),
    broken("size-wraps-64-bits", b"FFFFFFFFFFFFFFFF0\r\nhello\r\n" + END),
    broken("size-of-a-thousand-digits", b"5" * 1000 + b"\r\nhello\r\n" + END),
    # Leading zeros have no end in the grammar; a line of kilobytes is not a size any more.
    broken("size-of-20-KiB-of-zeros", b"0" * 20_480 + b"5\r\nhello\r\n" + END, level=STRICT, or_repaired=True),
    broken("size-larger-than-data", b"6\r\nhello\r\n" + END),
    broken("size-smaller-than-data", b"4\r\nhello\r\n" + END),
    broken("data-without-crlf", b"5\r\nhello" + END),
    broken("data-followed-by-lf", b"5\r\nhello\n" + END),
    broken("data-followed-by-cr", b"5\r\nhello\r" + END),
    broken("data-followed-by-others", b"5\r\nhelloXX" + END),
    broken("data-followed-by-two-crlf", b"5\r\nhello\r\n\r\n" + END),
    broken("line-with-bare-lf", b"5\nhello\r\n" + END),
    broken("line-with-bare-cr", b"5\rhello\r\n" + END),
    broken("line-lf-cr", b"5\n\rhello\r\n" + END),
    broken("line-cr-cr-lf", b"5\r\r\nhello\r\n" + END),
    broken("all-lines-with-bare-lf", b"5\nhello\n0\n\n"),
    broken("last-line-with-bare-lf", HELLO + b"0\n\r\n"),
    broken("last-line-bare-lf-twice", HELLO + b"0\n\n"),
    broken("end-with-bare-lf", HELLO + b"0\r\n\n"),
    broken("end-with-bare-cr", HELLO + b"0\r\n\rX"),
    broken("second-chunk-bad", HELLO + b"zz\r\nhello\r\n" + END),
    broken("second-chunk-bare-lf", HELLO + b"5\nhello\r\n" + END),

    broken("extension-bare-lf", b"5;x\nhello\r\n" + END, EXTENSION),
    broken("extension-bare-lf-then-lines", b"5;x\nGET / HTTP/1.1\r\nhello\r\n" + END, EXTENSION),
    broken("extension-bare-cr", b"5;x\ry\r\nhello\r\n" + END, EXTENSION),
    broken("extension-nul", b"5;x\x00\r\nhello\r\n" + END, EXTENSION),
    broken("extension-lf-in-quotes", b'5;x="a\nb"\r\nhello\r\n' + END, EXTENSION),
    broken("extension-crlf-in-quotes", b'5;x="a\r\nb"\r\nhello\r\n' + END, EXTENSION),
    broken("extension-open-quote", b'5;x="a\r\nhello\r\n' + END, EXTENSION),
    broken("extension-empty-name", b"5;\r\nhello\r\n" + END, EXTENSION, level=STRICT, or_repaired=True),
    broken("extension-without-semicolon", b"5 x=1\r\nhello\r\n" + END, EXTENSION),
    broken("extension-of-100-KB", b"5;" + b"x" * 100_000 + b"\r\nhello\r\n" + END, EXTENSION + "; R117", level=STRICT, or_repaired=True),
    broken("extension-on-every-chunk", b"1;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\nh\r\n" * 4000 + END, EXTENSION + "; R117", level=STRICT,
           or_repaired=True),

    unfinished("ends-before-the-size", chunked(b"")),
    unfinished("ends-in-the-size", chunked(b"5")),
    unfinished("ends-in-the-data", chunked(b"5\r\nhel")),
    unfinished("ends-after-the-data", chunked(b"5\r\nhello")),
    unfinished("ends-after-the-chunk", chunked(HELLO)),
    unfinished("ends-in-the-last-chunk", chunked(HELLO + b"0")),
    unfinished("ends-after-the-last-size", chunked(HELLO + b"0\r\n")),
    unfinished("ends-in-the-trailers", chunked(HELLO + b"0\r\nX-T: 1\r\n")),

    # 413 for a chunked body as soon as it is too long (R131); a plain route may have sent the beginning on already.
    Case("chunked-over-the-limit", "RFC 9110 §15.5.14; R131", chunked((b"10000\r\n" + b"z" * 0x10000 + b"\r\n") * 17 + END),
         (Expect(status=(413,), hits=0, key="free"), Expect()), level=SHOULD, keyed={"touched": False}),
]

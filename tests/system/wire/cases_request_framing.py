"""Where a request ends: Content-Length and Transfer-Encoding in every wrong and odd form. RFC 9112 §6.

Smuggling is two readers disagreeing, so what has two readings is refused, also where the standard would let one reader choose."""

from wire.case import SHOULD, STRICT, chunked, get, passed, post, refused, sized

HIDDEN = b"POST /wire/hidden HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n"
EMPTY = b"0\r\n\r\n"
TE = b"Transfer-Encoding: chunked"
LENGTH = "RFC 9112 §6.3 item 5; RFC 9110 §8.6; R115"
CODING = "RFC 9112 §6.1, §6.3 item 4; R116"


def bad_length(id, *values, level="MUST", **more):
    """Content-Length lines of these values before a body that hides a request: 400 and close (§6.3)."""
    return refused(id, LENGTH, post(*(b"Content-Length: " + value for value in values), body=HIDDEN), level=level, **more)


def bad_coding(id, *values, status=frozenset({400, 501}), body=EMPTY, **more):
    return refused(id, CODING, post(*(b"Transfer-Encoding: " + value for value in values), body=body + HIDDEN), status, **more)


BOTH = "RFC 9112 §6.1, §6.3 item 3; R114"

CASES = [
    passed("length-zero", LENGTH, sized(b""), content=b""),
    passed("length-exact", LENGTH, sized(b"hello"), content=b"hello"),
    passed("length-leading-zeros", LENGTH, post("Content-Length: 0005", body=b"hello"), content=b"hello"),
    passed("length-spaces-around", "RFC 9112 §5.1", post("Content-Length: \t 5 \t", body=b"hello"), content=b"hello"),
    passed("length-no-space", "RFC 9112 §5.1", post("Content-Length:5", body=b"hello"), content=b"hello"),
    passed("length-name-in-upper-case", "RFC 9110 §5.1", post("CONTENT-LENGTH: 5", body=b"hello"), content=b"hello"),
    passed("length-binary-body", "RFC 9110 §6.4; R85", sized(bytes(range(256)) * 4), content=bytes(range(256)) * 4),
    passed("body-like-a-request", "RFC 9112 §6.3", sized(b"GET / HTTP/1.1\r\n\r\n"), content=b"GET / HTTP/1.1\r\n\r\n"),
    passed("body-like-chunks", "RFC 9112 §6.3", sized(b"5\r\nhello\r\n0\r\n\r\n"), content=b"5\r\nhello\r\n0\r\n\r\n"),
    passed("post-without-framing", "RFC 9112 §6.3 item 7", post(), content=b""),

    # The standard allows a list of equal values to be read as one. R115 does not: no sane client sends it.
    bad_length("length-list-of-equals", b"0, 0", level=STRICT, or_repaired=True),
    bad_length("length-two-equal-lines", b"0", b"0", level=STRICT, or_repaired=True),
    bad_length("length-list", b"5, 6"),
    bad_length("length-two-lines", b"5", b"6"),
    bad_length("length-two-lines-zero-first", b"0", b"69"),
    bad_length("length-two-lines-zero-last", b"69", b"0"),
    bad_length("length-plus", b"+5"),
    bad_length("length-minus", b"-1"),
    bad_length("length-minus-zero", b"-0"),
    bad_length("length-hex", b"0x5"),
    bad_length("length-hex-digit", b"a"),
    bad_length("length-empty", b""),
    bad_length("length-blank", b"  "),
    bad_length("length-word", b"five"),
    bad_length("length-fraction", b"5.0"),
    bad_length("length-exponent", b"1e1"),
    bad_length("length-inner-space", b"1 5"),
    bad_length("length-inner-tab", b"1\t5"),
    bad_length("length-underscore", b"1_0"),
    bad_length("length-quoted", b'"5"'),
    bad_length("length-parameter", b"5;x=1"),
    bad_length("length-trailing-comma", b"5,", level=STRICT, or_repaired=True),
    bad_length("length-leading-comma", b",5", level=STRICT, or_repaired=True),
    bad_length("length-trailing-letter", b"5x"),
    bad_length("length-over-63-bits", b"9223372036854775808"),
    bad_length("length-over-64-bits", b"18446744073709551621"),
    bad_length("length-of-a-thousand-digits", b"1" * 1000),
    bad_length("length-full-width-digit", b"\xef\xbc\x95"),
    bad_length("length-obs-text", b"5\xa0"),
    bad_length("length-vertical-tab", b"\x0b5"),
    bad_length("length-form-feed", b"5\x0c"),
    refused("length-on-http10-twice", LENGTH, post("Content-Length: 5", "Content-Length: 6", line=b"POST /wire HTTP/1.0", body=HIDDEN)),
    refused("length-on-get-bad", LENGTH, get("Content-Length: x", body=HIDDEN)),

    refused("both-framings", BOTH, post(TE, "Content-Length: 5", body=EMPTY + HIDDEN), or_repaired=True, level=STRICT),
    refused("both-framings-length-first", BOTH, post("Content-Length: 5", TE, body=EMPTY + HIDDEN), or_repaired=True, level=STRICT),
    refused("both-framings-length-zero", BOTH, post("Content-Length: 0", TE, body=EMPTY + HIDDEN), or_repaired=True, level=STRICT),
    refused("both-framings-length-of-all", BOTH, post("Content-Length: 5", TE, body=EMPTY), or_repaired=True, level=STRICT),
    refused("both-framings-on-get", BOTH, get("Content-Length: 5", TE, body=EMPTY), or_repaired=True, level=STRICT),
    refused("both-framings-bad-length", BOTH, post("Content-Length: x", TE, body=EMPTY), or_repaired=True, level=STRICT),
    refused("both-framings-bad-coding", BOTH, post("Content-Length: 5", "Transfer-Encoding: x", body=b"hello"), {400, 501}),

    passed("coding-in-capitals", "RFC 9112 §7; RFC 9110 §10.1.4", post("Transfer-Encoding: CHUNKED", body=b"5\r\nhello\r\n" + EMPTY),
           content=b"hello"),
    passed("coding-name-in-capitals", "RFC 9110 §5.1", post("TRANSFER-ENCODING:chunked", body=b"5\r\nhello\r\n" + EMPTY), content=b"hello"),
    passed("coding-spaces-around", "RFC 9112 §5.1", post("Transfer-Encoding: \tchunked\t ", body=b"5\r\nhello\r\n" + EMPTY),
           content=b"hello"),
    # Chunked is not last: the end cannot be told, 400 and close (501 where the coding is not known at all).
    bad_coding("coding-gzip", b"gzip"),
    bad_coding("coding-chunked-then-gzip", b"chunked, gzip"),
    bad_coding("coding-chunked-then-identity", b"chunked, identity"),
    bad_coding("coding-chunked-then-gzip-two-lines", b"chunked", b"gzip"),
    bad_coding("coding-identity", b"identity"),
    bad_coding("coding-xchunked", b"xchunked"),
    bad_coding("coding-chunked-x", b"chunked-x"),
    bad_coding("coding-chunk", b"chunk"),
    bad_coding("coding-quoted", b'"chunked"'),
    bad_coding("coding-single-quoted", b"'chunked'"),
    bad_coding("coding-two-words", b"chunked chunked"),
    bad_coding("coding-unknown", b"cow"),
    bad_coding("coding-vertical-tab", b"\x0bchunked"),
    bad_coding("coding-form-feed", b"chunked\x0c"),
    bad_coding("coding-nul", b"chunked\x00"),
    bad_coding("coding-obs-text", b"chunked\xa0"),
    bad_coding("coding-bare-cr", b"\rchunked", or_repaired=True),
    bad_coding("coding-empty", b""),
    bad_coding("coding-blank-tab", b"\t"),
    bad_coding("coding-parameter", b"chunked;q=1"),
    bad_coding("coding-parameter-quoted", b'chunked;a="b, c"'),
    # Chunked twice is forbidden to a sender (§6.1); a reader that takes it would have to decode twice.
    bad_coding("coding-chunked-twice", b"chunked, chunked", level=STRICT, or_repaired=True),
    bad_coding("coding-chunked-on-two-lines", b"chunked", b"chunked", level=STRICT, or_repaired=True),
    # Lists may hold empty elements (RFC 9110 §5.6.1.2); in the one field that decides where a message ends they are refused.
    bad_coding("coding-leading-comma", b", chunked", level=STRICT, or_repaired=True),
    bad_coding("coding-trailing-comma", b"chunked,", level=STRICT, or_repaired=True),
    # Chunked last, but what is below it is not understood: 501 (§6.1).
    bad_coding("coding-gzip-then-chunked", b"gzip, chunked", level=SHOULD),
    bad_coding("coding-gzip-then-chunked-two-lines", b"gzip", b"chunked", level=SHOULD),
    bad_coding("coding-identity-then-chunked", b"identity, chunked", level=SHOULD),
    bad_coding("coding-unknown-then-chunked", b"cow, chunked", level=SHOULD),
    refused("coding-on-http10", "RFC 9112 §6.1; R116", chunked(EMPTY + HIDDEN, line=b"POST /wire HTTP/1.0")),
    refused("coding-on-http10-with-length", "RFC 9112 §6.1; R116",
            chunked(EMPTY + HIDDEN, "Content-Length: 5", line=b"POST /wire HTTP/1.0")),
    refused("coding-on-http10-kept-alive", "RFC 9112 §6.1; R116",
            chunked(EMPTY + HIDDEN, "Connection: keep-alive", line=b"POST /wire HTTP/1.0")),
    refused("coding-space-before-colon", "RFC 9112 §5.1; R119", post("Transfer-Encoding : chunked", body=EMPTY + HIDDEN)),
    refused("coding-tab-before-colon", "RFC 9112 §5.1; R119", post("Transfer-Encoding\t: chunked", body=EMPTY + HIDDEN)),
    refused("length-space-before-colon", "RFC 9112 §5.1; R119", post("Content-Length : 5", body=b"hello")),
    refused("coding-nul-before-colon", CODING, post(b"Transfer-Encoding\x00: chunked", body=EMPTY + HIDDEN)),
    refused("coding-obs-text-before-colon", CODING, post(b"Transfer-Encoding\xa0: chunked", body=EMPTY + HIDDEN), or_repaired=True),
    refused("coding-behind-a-fold", "RFC 9112 §5.2; R119", sized(b"", "X-A: 1\r\n\tTransfer-Encoding: chunked"), or_repaired=True),
    refused("coding-behind-a-bare-lf", "RFC 9112 §2.2; R119", sized(b"", b"X-A: 1\nTransfer-Encoding: chunked"), level=STRICT,
            or_repaired=True),
    refused("coding-behind-a-bare-cr", "RFC 9112 §2.2; R119", sized(b"", b"X-A: 1\rTransfer-Encoding: chunked"), or_repaired=True),
    refused("coding-behind-two-bare-cr", "RFC 9112 §2.2; R119", sized(b"", b"X-A: 1\r\rTransfer-Encoding: chunked"), or_repaired=True),
    refused("length-behind-a-bare-lf", "RFC 9112 §2.2; R119", post(b"X-A: 1\nContent-Length: 5", body=b"hello"), level=STRICT,
            or_repaired=True),
    refused("lengths-one-with-a-space", LENGTH, post("Content-Length: 5", "Content-Length : 0", body=b"hello")),
    refused("coding-folded", "RFC 9112 §5.2; R119", post("Transfer-Encoding:\r\n chunked", body=EMPTY + HIDDEN), or_repaired=True),
    refused("length-folded", "RFC 9112 §5.2; R119", post("Content-Length:\r\n 5", body=b"hello"), or_repaired=True),
    # Another name: no framing, and passed on as any field (RFC 9110 §5.1). It must not be read as the real one either.
    passed("near-name-underscore", "RFC 9110 §5.1", post("Content_Length: 9", "Content-Length: 5", body=b"hello"), content=b"hello"),
    passed("near-name-coding-underscore", "RFC 9110 §5.1", post("Transfer_Encoding: chunked", "Content-Length: 5", body=b"hello"),
           content=b"hello"),
    passed("near-name-coding", "RFC 9110 §5.1", post("X-Transfer-Encoding: chunked", "Content-Length: 5", body=b"hello"), content=b"hello",
           has=("X-Transfer-Encoding: chunked",)),

    passed("content-on-get", "RFC 9110 §9.3.1; RFC 9112 §6.3; R136", get("Content-Length: 5", body=b"hello"), content=b"hello", hits=1),
    passed("content-on-delete", "RFC 9110 §9.3.5; R136", get("Content-Length: 5", line=b"DELETE /wire HTTP/1.1", body=b"hello"),
           content=b"hello"),
    passed("content-on-options", "RFC 9110 §9.3.7; R136", get("Content-Length: 5", line=b"OPTIONS /wire HTTP/1.1", body=b"hello"),
           content=b"hello"),
    passed("content-on-head", "RFC 9110 §9.3.2; R136", get("Content-Length: 5", line=b"HEAD /wire HTTP/1.1", body=b"hello"),
           content=b"hello",
           methods=("HEAD",), body=b""),
    passed("content-on-unknown-method", "RFC 9110 §9.1; R136", get("Content-Length: 5", line=b"BREW /wire HTTP/1.1", body=b"hello"),
           content=b"hello"),
    passed("chunked-content-on-get", "RFC 9112 §6.3; R136", get(TE, body=b"5\r\nhello\r\n" + EMPTY), content=b"hello"),
    passed("chunked-content-on-delete", "RFC 9112 §6.3; R136", get(TE, line=b"DELETE /wire HTTP/1.1", body=b"5\r\nhello\r\n" + EMPTY),
           content=b"hello"),
    passed("request-in-content-on-get", "RFC 9112 §6.3; R136", get(b"Content-Length: %d" % len(HIDDEN), body=HIDDEN), content=HIDDEN),
]


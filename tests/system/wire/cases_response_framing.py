"""Where a response ends, and what comes when it does not. RFC 9112 §6.3, §7.1, §8, §9.2; R76, R87, R120, R127, R130, R147."""

from wire.case import CLOSE, RESET, SHOULD, STRICT, Case, Expect, answered, bad_answer, cut_answer, get, reply, sized, sized_reply

LENGTH = "RFC 9112 §6.3 item 5; R120"
CODING = "RFC 9112 §6.1, §6.3 item 4; R120"
CHUNK = "RFC 9112 §7.1; R120, R147"
SHORT = "RFC 9112 §8; R87, R147"
BODILESS = "RFC 9112 §6.3 item 1; R76"
EXTRA = "RFC 9112 §9.2, §6.3; R130"
TE = b"Transfer-Encoding: chunked"
END = b"0\r\n\r\n"
STREAMED = {"cut": True, "status": (200,)}
STRAY = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"
NO_CONTENT = b"HTTP/1.1 204 No Content"
NOT_MODIFIED = b"HTTP/1.1 304 Not Modified"
HTTP10 = get(line=b"GET /wire HTTP/1.0")
HEAD = get(line=b"HEAD /wire HTTP/1.1")


def bad_length(id, *values, **more):
    return bad_answer(id, LENGTH, reply(*(b"Content-Length: " + value for value in values), body=b"ok" + STRAY), **more)


def bad_coding(id, *lines, **more):
    return bad_answer(id, CODING, (reply(*lines, body=b"2\r\nok\r\n" + END), CLOSE), **more)


def chunks(id, body, content=b"ok", **more):
    return answered(id, "RFC 9112 §7.1", reply(TE, body=body), body=content, closes=False, reuses=True, **more)


def bad_chunks(id, raw, *, level="MUST", or_whole=False):
    """Bad from its first chunk on, and seen before anything went to the client: a 502. Who has begun to answer may cut it off."""
    expect = (Expect(status=(502,), hits=1, reuses=False, key="unknown"), Expect(broken=True), *([Expect()] if or_whole else []))
    return Case(id, CHUNK, sized(b"hello"), expect, answers=(reply(TE, body=raw + b"\r\n" + STRAY),), level=level)


def short(id, *steps, **more):
    return cut_answer(id, SHORT, (*steps, CLOSE), **more)


def bodiless(id, status, answer, **more):
    return answered(id, BODILESS, answer, status=(status,), body=b"", closes=False, **more)


CASES = [
    answered("answer-length", LENGTH, sized_reply(b"hello"), body=b"hello", closes=False, reuses=True),
    answered("answer-length-zero", LENGTH, sized_reply(b""), body=b"", closes=False, reuses=True),
    answered("answer-length-leading-zeros", LENGTH, reply("Content-Length: 0002", body=b"ok"), body=b"ok", closes=False),
    answered("answer-binary", "RFC 9110 §6.4; R85", sized_reply(bytes(range(256)) * 8), body=bytes(range(256)) * 8),
    answered("answer-of-a-megabyte", "RFC 9110 §6.4; R85", sized_reply(b"0123456789abcdef" * 65_536), body=b"0123456789abcdef" * 65_536),
    answered("answer-like-a-response", "RFC 9112 §6.3", sized_reply(STRAY), body=STRAY, closes=False),
    bad_length("answer-length-list-of-equals", b"2, 2", level=STRICT, or_repaired=True),
    bad_length("answer-length-two-equal-lines", b"2", b"2", level=STRICT, or_repaired=True),
    bad_length("answer-length-list", b"2, 3"),
    bad_length("answer-length-two-lines", b"2", b"3"),
    bad_length("answer-length-plus", b"+2"),
    bad_length("answer-length-minus", b"-2"),
    bad_length("answer-length-hex", b"0x2"),
    bad_length("answer-length-empty", b""),
    bad_length("answer-length-word", b"two"),
    bad_length("answer-length-inner-space", b"0 2"),
    bad_length("answer-length-fraction", b"2.0"),
    bad_length("answer-length-over-64-bits", b"18446744073709551618"),
    bad_length("answer-length-over-63-bits", b"9223372036854775808"),
    bad_answer("answer-length-nul", LENGTH, reply(b"Content-Length: 2\x00", body=b"ok")),

    # Both: Transfer-Encoding may win, and "ought to be handled as an error" (§6.3 item 3).
    bad_answer("answer-both-framings", "RFC 9112 §6.3 item 3; R120", reply(TE, "Content-Length: 9", body=b"2\r\nok\r\n" + END),
               level=STRICT, or_repaired=True),
    bad_answer("answer-both-framings-length-first", "RFC 9112 §6.3 item 3; R120", reply("Content-Length: 2", TE, body=b"2\r\nok\r\n" + END),
               level=STRICT, or_repaired=True),
    # Not asked for with TE, so not to be sent (§7.4): no decoding is attempted.
    bad_coding("answer-coding-gzip", "Transfer-Encoding: gzip", level=STRICT, or_repaired=True),
    bad_coding("answer-coding-gzip-then-chunked", "Transfer-Encoding: gzip, chunked", level=STRICT, or_repaired=True),
    bad_coding("answer-coding-chunked-then-gzip", "Transfer-Encoding: chunked, gzip", level=STRICT, or_repaired=True),
    bad_coding("answer-coding-twice", "Transfer-Encoding: chunked, chunked", level=STRICT, or_repaired=True),
    bad_coding("answer-coding-two-lines", TE, TE, level=STRICT, or_repaired=True),
    bad_coding("answer-coding-identity", "Transfer-Encoding: identity", level=STRICT, or_repaired=True),
    bad_coding("answer-coding-unknown", "Transfer-Encoding: cow", level=STRICT, or_repaired=True),
    bad_coding("answer-coding-xchunked", "Transfer-Encoding: xchunked", level=STRICT, or_repaired=True),
    bad_coding("answer-coding-empty", "Transfer-Encoding:", level=STRICT, or_repaired=True),
    bad_coding("answer-coding-parameter", "Transfer-Encoding: chunked;q=1", level=STRICT, or_repaired=True),
    bad_coding("answer-coding-vertical-tab", b"Transfer-Encoding: \x0bchunked"),
    bad_coding("answer-coding-space-before-colon", "Transfer-Encoding : chunked", or_repaired=True),
    # The framing is to be treated as faulty (§6.1).
    bad_answer("answer-coding-on-http10", "RFC 9112 §6.1; R120", (reply(TE, status=b"HTTP/1.0 200 OK", body=b"2\r\nok\r\n" + END), CLOSE),
               level=STRICT, or_repaired=True),

    chunks("answer-chunks", b"2\r\nok\r\n" + END),
    chunks("answer-chunks-none", END, b""),
    chunks("answer-chunks-several", b"1\r\no\r\n1\r\nk\r\n" + END),
    chunks("answer-chunks-upper-hex", b"A\r\n0123456789\r\n" + END, b"0123456789"),
    chunks("answer-chunks-leading-zeros", b"0002\r\nok\r\n" + END),
    chunks("answer-chunks-extension", b'2;x=1;y="z"\r\nok\r\n' + END),
    chunks("answer-chunks-bad-white-space", b"2 ; x\r\nok\r\n" + END),
    chunks("answer-chunks-binary", b"100\r\n" + bytes(range(256)) + b"\r\n" + END, bytes(range(256))),
    chunks("answer-chunks-of-crlf", b"4\r\n\r\n\r\n\r\n" + END, b"\r\n\r\n"),
    chunks("answer-chunks-many", b"1\r\nx\r\n" * 3000 + END, b"x" * 3000),
    answered("answer-chunks-coding-in-capitals", "RFC 9112 §7", reply("Transfer-Encoding: Chunked", body=b"2\r\nok\r\n" + END), body=b"ok"),
    answered("answer-chunks-to-http10", "RFC 9112 §6.1; R127", reply(TE, body=b"2\r\nok\r\n" + END), send=HTTP10, body=b"ok",
             withholds=("Transfer-Encoding",), closes=True),

    bad_chunks("answer-size-word", b"x\r\nok\r\n" + END),
    bad_chunks("answer-size-empty", b"\r\nok\r\n" + END),
    bad_chunks("answer-size-minus", b"-2\r\nok\r\n" + END),
    bad_chunks("answer-size-0x", b"0x2\r\nok\r\n" + END),
    bad_chunks("answer-size-plus", b"+2\r\nok\r\n" + END),
    bad_chunks("answer-size-leading-space", b" 2\r\nok\r\n" + END),
    bad_chunks("answer-size-trailing-space", b"2 \r\nok\r\n" + END, level=STRICT, or_whole=True),
    bad_chunks("answer-size-overflow", b"10000000000000002\r\nok\r\n" + END),
    bad_chunks("answer-size-nul", b"2\x00\r\nok\r\n" + END),
    bad_chunks("answer-line-bare-lf", b"2\nok\r\n" + END),
    bad_chunks("answer-lines-all-bare-lf", b"2\nok\n0\n\n"),
    bad_chunks("answer-line-bare-cr", b"2\rok\r\n" + END),
    cut_answer("answer-data-without-crlf", CHUNK, reply(TE, body=b"2\r\nok" + END)),
    cut_answer("answer-data-too-long", CHUNK, reply(TE, body=b"2\r\nokay\r\n" + END)),
    cut_answer("answer-data-followed-by-lf", CHUNK, reply(TE, body=b"2\r\nok\n" + END)),
    cut_answer("answer-second-chunk-bad", CHUNK, reply(TE, body=b"2\r\nok\r\nz\r\n" + END), body=b"ok"),
    cut_answer("answer-second-chunk-bare-lf", CHUNK, reply(TE, body=b"2\r\nok\r\n2\nok\r\n" + END), body=b"ok"),
    cut_answer("answer-last-chunk-bare-lf", CHUNK, reply(TE, body=b"2\r\nok\r\n0\n\n"), body=b"ok"),
    bad_chunks("answer-extension-bare-lf", b"2;x\nok\r\n" + END),
    bad_chunks("answer-extension-open-quote", b'2;x="\r\nok\r\n' + END),
    bad_chunks("answer-extension-endless", b"2;" + b"x" * 100_000 + b"\r\nok\r\n" + END, level=STRICT, or_whole=True),

    short("short-length", reply("Content-Length: 10", body=b"half"), body=b"half"),
    short("short-length-nothing", reply("Content-Length: 10"), body=b""),
    short("short-length-by-one", reply("Content-Length: 10", body=b"123456789"), body=b"123456789"),
    short("short-length-large", reply("Content-Length: 3000000", body=b"y" * 500_000), keyed=STREAMED),
    short("short-chunks-without-last", reply(TE, body=b"4\r\nhalf\r\n"), body=b"half"),
    short("short-chunks-in-data", reply(TE, body=b"a\r\nhalf"), body=b"half"),
    short("short-chunks-in-size", reply(TE, body=b"4\r\nhalf\r\n1"), body=b"half"),
    short("short-chunks-in-last", reply(TE, body=b"4\r\nhalf\r\n0\r\n"), body=b"half"),
    short("short-chunks-in-trailers", reply(TE, body=b"4\r\nhalf\r\n0\r\nX-T: 1\r\n"), body=b"half"),
    short("short-chunks-nothing", reply(TE), body=b""),
    # Above what a keyed route holds back: it has begun to answer, and can only cut off as well.
    cut_answer("bad-chunk-behind-a-large-one", CHUNK, reply(TE, body=b"61a80\r\n" + b"y" * 400_000 + b"\r\nz\r\n" + END), keyed=STREAMED),
    cut_answer("large-chunks-without-last", SHORT, (reply(TE, body=b"61a80\r\n" + b"y" * 400_000 + b"\r\n"), CLOSE), keyed=STREAMED),
    cut_answer("reset-in-a-large-closed-body", SHORT, (reply(body=b"y" * 400_000), RESET), keyed={"broken": True}),
    cut_answer("reset-in-a-length", SHORT, (reply("Content-Length: 10", body=b"half"), RESET)),
    cut_answer("reset-in-chunks", SHORT, (reply(TE, body=b"4\r\nhalf\r\n"), RESET)),
    cut_answer("reset-in-a-closed-body", SHORT + "; RFC 9112 §9.8", (reply(body=b"half"), RESET)),

    answered("until-close", "RFC 9112 §6.3 item 8", (reply(body=b"to the end"), CLOSE), body=b"to the end", closes=False, reuses=False),
    answered("until-close-empty", "RFC 9112 §6.3 item 8", (reply(), CLOSE), body=b"", reuses=False),
    answered("until-close-large", "RFC 9112 §6.3 item 8", (reply(body=b"z" * 400_000), CLOSE), body=b"z" * 400_000, reuses=False),
    answered("until-close-http10", "RFC 9112 §6.3 item 8", (reply(status=b"HTTP/1.0 200 OK", body=b"old"), CLOSE), body=b"old",
             reuses=False),
    answered("until-close-to-http10", "RFC 9112 §6.3 item 8; R127", (reply(body=b"to the end"), CLOSE), send=HTTP10, body=b"to the end",
             withholds=("Transfer-Encoding",), closes=True),
    answered("until-close-to-http10-kept-alive", "RFC 9112 §6.3, §9.3; R127", (reply(body=b"to the end"), CLOSE),
             send=get("Connection: keep-alive",
                      line=b"GET /wire HTTP/1.0"), body=b"to the end", withholds=("Transfer-Encoding",), closes=True),
    answered("until-close-until-the-next-response", "RFC 9112 §6.3 item 8", (reply(body=b"ok" + STRAY), CLOSE), body=b"ok" + STRAY,
             reuses=False),

    bodiless("no-content", 204, reply(status=NO_CONTENT), withholds=("Content-Length", "Transfer-Encoding"), reuses=True),
    bodiless("no-content-with-length-zero", 204, reply("Content-Length: 0", status=NO_CONTENT), withholds=("Content-Length",)),
    bodiless("no-content-with-a-length", 204, reply("Content-Length: 5", status=NO_CONTENT, body=b"hello"), withholds=("Content-Length",),
             reuses=False),
    bodiless("no-content-with-chunks", 204, reply(TE, status=NO_CONTENT, body=b"2\r\nok\r\n" + END), withholds=("Transfer-Encoding",),
             reuses=False),
    bodiless("no-content-with-a-stray-body", 204, reply(status=NO_CONTENT, body=b"hello"), reuses=False),
    bodiless("not-modified", 304, reply('ETag: "x"', status=NOT_MODIFIED), gives=('ETag: "x"',), reuses=True),
    bodiless("not-modified-with-a-length", 304, reply("Content-Length: 500", status=NOT_MODIFIED), keyed={"gives": ()}, reuses=True),
    bodiless("not-modified-with-a-coding", 304, reply(TE, status=NOT_MODIFIED)),
    bodiless("not-modified-with-a-stray-body", 304, reply("Content-Length: 5", status=NOT_MODIFIED, body=b"hello"), reuses=False),
    answered("reset-content", "RFC 9110 §15.3.6", reply("Content-Length: 0", status=b"HTTP/1.1 205 Reset"), status=(205,), body=b"",
             closes=False),
    answered("head-with-a-length", BODILESS, reply("Content-Length: 500"), send=HEAD, methods=("HEAD",), body=b"",
             gives=("Content-Length: 500",),
             closes=False, reuses=True),
    answered("head-with-a-coding", BODILESS, reply(TE), send=HEAD, methods=("HEAD",), body=b"", closes=False, reuses=True),
    answered("head-without-framing", BODILESS, reply(), send=HEAD, methods=("HEAD",), body=b"", closes=False, withholds=("Content-Length",),
             also=(Expect(),)),
    answered("head-error", BODILESS, reply("Content-Length: 9", status=b"HTTP/1.1 404 No"), send=HEAD, methods=("HEAD",), status=(404,),
             body=b"",
             closes=False, gives=("Content-Length: 9",)),
    answered("head-answered-with-a-body", EXTRA, sized_reply(b"hello"), send=HEAD, methods=("HEAD",), body=b"", closes=False, reuses=False),

    answered("stray-bytes-behind", EXTRA, sized_reply(b"ok") + b"stray", body=b"ok", closes=False, reuses=False),
    answered("stray-response-behind", EXTRA, sized_reply(b"ok") + STRAY, body=b"ok", closes=False, reuses=False),
    answered("stray-response-later", EXTRA, (sized_reply(b"ok"), STRAY), body=b"ok", closes=False, reuses=False),
    answered("stray-crlf-behind", EXTRA, sized_reply(b"ok") + b"\r\n", body=b"ok", closes=False, reuses=False, level=SHOULD,
             also=(Expect(body=b"ok"),)),
    answered("stray-behind-chunks", EXTRA, reply(TE, body=b"2\r\nok\r\n" + END + STRAY), body=b"ok", closes=False, reuses=False),
    answered("stray-interim-behind", EXTRA, sized_reply(b"ok") + b"HTTP/1.1 103 E\r\n\r\n", body=b"ok", closes=False, reuses=False),
    answered("close-is-honoured", "RFC 9112 §9.6", sized_reply(b"ok", "Connection: close"), body=b"ok", closes=False, reuses=False),
    answered("close-in-a-list", "RFC 9112 §9.6", sized_reply(b"ok", "Connection: x, Close"), body=b"ok", reuses=False),
    answered("http10-upstream-without-keep-alive", "RFC 9112 §9.3", sized_reply(b"ok", status=b"HTTP/1.0 200 OK"), body=b"ok",
             reuses=False),
    answered("http10-upstream-keep-alive", "RFC 9112 §9.3", sized_reply(b"ok", "Connection: keep-alive", status=b"HTTP/1.0 200 OK"),
             body=b"ok",
             withholds=("Keep-Alive",)),
]

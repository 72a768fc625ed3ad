"""Messages that arrive in pieces: in two, cut at every byte, and byte by byte. TCP keeps no message boundaries (RFC 9112 §2.2, §7.1);
where a piece ends must not change what is read."""

from wire.case import SHOULD, STRICT, Split, Trickle, answered, chunked, get, passed, refused, refused_body, reply, sized, sized_reply

WHY = "RFC 9112 §2.2"
BODY = b"4\r\nWiki\r\n5;x=1\r\npedia\r\n0\r\nX-T: 1\r\n\r\n"
SIZED = sized(b"hello", "X-A: 1")
CHUNKED = chunked(BODY)
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
ANSWER = HINTS + sized_reply(b"hello", "X-A: 1")
CHUNKED_ANSWER = reply("Transfer-Encoding: chunked", body=BODY)
BAD_HEAD = sized(b"", "X A: 1")
BAD_CHUNK = chunked(b"4\r\nWiki\r\n5\npedia\r\n0\r\n\r\n")


def cuts(data):
    return range(1, len(data))


CASES = [
    passed("trickle-get", WHY, (Trickle(get("X-A: 1")),), has=("X-A: 1",)),
    passed("trickle-sized", WHY, (Trickle(SIZED),), content=b"hello", has=("X-A: 1",)),
    passed("trickle-chunked", WHY, (Trickle(CHUNKED),), content=b"Wikipedia"),
    passed("trickle-two-requests", WHY, (Trickle(get() + get()),), status=(200, 200), hits=2, methods=("GET", "GET")),
    passed("trickle-long-target", WHY, (Trickle(get(line=b"GET /wire/" + b"a" * 500 + b" HTTP/1.1")),), level=SHOULD),
    refused("trickle-bad-name", WHY, (Trickle(BAD_HEAD),)),
    refused("trickle-both-framings", WHY, (Trickle(chunked(b"", "Content-Length: 0")),), level=STRICT, or_repaired=True),
    refused_body("trickle-bad-chunk", WHY, (Trickle(BAD_CHUNK),)),
    answered("trickle-answer", WHY, (Trickle(ANSWER),), body=b"hello", interim=(103,), gives=("X-A: 1",), reuses=True),
    answered("trickle-chunked-answer", WHY, (Trickle(CHUNKED_ANSWER),), body=b"Wikipedia", trailers=("X-T: 1",), keyed={"trailers": ()},
             reuses=True),
    *(passed(f"split-sized-{at}", WHY, (Split(SIZED, at),), content=b"hello", has=("X-A: 1",)) for at in cuts(SIZED)),
    *(passed(f"split-chunked-{at}", WHY, (Split(CHUNKED, at),), content=b"Wikipedia") for at in cuts(CHUNKED)),
    *(refused_body(f"split-bad-chunk-{at}", WHY, (Split(BAD_CHUNK, at),)) for at in cuts(BAD_CHUNK)),
    *(answered(f"split-answer-{at}", WHY, (Split(ANSWER, at),), body=b"hello", interim=(103,), gives=("X-A: 1",),
               reuses=True) for at in cuts(ANSWER)),
    *(answered(f"split-chunked-answer-{at}", WHY, (Split(CHUNKED_ANSWER, at),), body=b"Wikipedia",
               reuses=True) for at in cuts(CHUNKED_ANSWER)),
]

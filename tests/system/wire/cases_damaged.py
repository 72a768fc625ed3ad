"""Sound requests with one byte replaced, inserted or taken out, at every place: the program must read what a second reader reads, no more
and no less. The client ends its side behind them, so that what is missing stays missing."""

from wire.case import HALF_CLOSE, Case, Expect, chunked, get, sized
from wire.damage import chosen
from wire.reference import REFUSED, UNFINISHED, requests_of

BASES = {
    "chunked": chunked(b"4;a=\"b\"\r\nWiki\r\n05\r\npedia\r\n0\r\nX-T: 1\r\n\r\n", "X-A: 1", key=None) + get(),
    "sized": sized(b"0123456789", "X-A:1", key=None, host=b"Host: a.example:80") + get(),
    "absolute": get("Accept: a", line=b"GET http://a.example/wire?q=1 HTTP/1.1") + get(),
    "http10": sized(b"01234", key=None, line=b"POST /wire HTTP/1.0"),
}


def case_of(name, data):
    contents, end = requests_of(data)
    if b" HTTP/1.0\r\n" in data.partition(b"\n")[0] + b"\n":
        contents, end = contents[:1], end if not contents else "closed"  # one request a connection
    refused = ({400, 408, 413, 414, 431, 501, 505},) if end in (REFUSED, UNFINISHED) else ()
    expect = Expect(status=(200,) * len(contents) + refused, closes=True, hits=len(contents), silent=bool(refused),
                    content=contents[-1] if contents else None)
    return Case(name, "RFC 9112", (data, HALF_CLOSE), (expect,), keyed=None)


CASES = [case_of(*one) for one in chosen(BASES, share=0.05)]

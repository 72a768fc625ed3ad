"""Sound responses with one byte replaced, inserted or taken out, at every place: what a second reader does not believe must not reach the
client as a whole response, and what it does must reach it with the same content. The upstream closes behind them."""

import dataclasses

from wire.case import CLOSE, Case, Expect, reply, sized, sized_reply
from wire.damage import chosen
from wire.reference import answer_of

BASES = {
    "answer-sized": sized_reply(b"0123456789", "X-A: 1"),
    "answer-chunked": reply("Transfer-Encoding: chunked", "X-A:1", body=b"4;a=\"b\"\r\nWiki\r\n05\r\npedia\r\n0\r\nX-T: 1\r\n\r\n"),
    "answer-with-hints": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + sized_reply(b"ok", status=b"HTTP/1.1 201 Created"),
    "answer-until-close": reply("X-A: 1", body=b"to the end"),
    "answer-http10": sized_reply(b"ok", "Connection: keep-alive", status=b"HTTP/1.0 200"),
}


def case_of(name, data):
    answer = answer_of(data)
    wanted = Expect(broken=True, key="unknown") if answer is None else Expect(status=(answer[0],), body=answer[1], key="recorded")
    return Case(name, "RFC 9112", sized(b"hi"), (dataclasses.replace(wanted, hits=1),), answers=((data, CLOSE),))


CASES = [case_of(*one) for one in chosen(BASES, share=0.04)]

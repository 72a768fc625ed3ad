"""Requests that no reading may accept, byte for byte."""

KEY = b'Idempotency-Key: "k"\r\n'
HOST = b"Host: api.example.com\r\n"


def post(*field_lines, body=b"", line=b"POST /pay HTTP/1.1", host=HOST):
    return line + b"\r\n" + host + KEY + b"".join(field + b"\r\n" for field in field_lines) + b"\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked"

# name -> bytes; each is refused with 400 (or a more precise 4xx/5xx) and the connection is closed.
FRAMING_FAULTS = {
    "both framings": post(CHUNKED, b"Content-Length: 5", body=b"0\r\n\r\n"),
    "both framings, length first": post(b"Content-Length: 5", CHUNKED, body=b"0\r\n\r\n"),
    "length list": post(b"Content-Length: 5, 6", body=b"hello"),
    "length list of equals": post(b"Content-Length: 5, 5", body=b"hello"),
    "two different lengths": post(b"Content-Length: 5", b"Content-Length: 6", body=b"hello!"),
    "two equal lengths": post(b"Content-Length: 5", b"Content-Length: 5", body=b"hello"),
    "plus sign": post(b"Content-Length: +5", body=b"hello"),
    "minus sign": post(b"Content-Length: -1", body=b"hello"),
    "hexadecimal length": post(b"Content-Length: 0x5", body=b"hello"),
    "empty length": post(b"Content-Length: ", body=b"hello"),
    "length beyond 64 bits": post(b"Content-Length: 18446744073709551621", body=b"hello"),
    "length with a space": post(b"Content-Length: 1 5", body=b"hello"),
    "gzip coding": post(b"Transfer-Encoding: gzip", body=b"hello"),
    "identity coding": post(b"Transfer-Encoding: identity", body=b"hello"),
    "chunked, gzip": post(b"Transfer-Encoding: chunked, gzip", body=b"0\r\n\r\n"),
    "gzip, chunked": post(b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"),
    "chunked twice": post(b"Transfer-Encoding: chunked, chunked", body=b"0\r\n\r\n"),
    "chunked on two lines": post(CHUNKED, CHUNKED, body=b"0\r\n\r\n"),
    "xchunked": post(b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n"),
    "quoted chunked": post(b'Transfer-Encoding: "chunked"', body=b"0\r\n\r\n"),
    "chunked with parameter": post(b"Transfer-Encoding: chunked;q=1", body=b"0\r\n\r\n"),
    "empty coding": post(b"Transfer-Encoding: ", body=b"0\r\n\r\n"),
    "coding after a vertical tab": post(b"Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n"),
    "chunked in HTTP/1.0": post(CHUNKED, body=b"0\r\n\r\n", line=b"POST /pay HTTP/1.0"),
}

HEAD_FAULTS = {
    "no Host": post(host=b""),
    "two Hosts": post(host=HOST + b"Host: other.example\r\n"),
    "two equal Hosts": post(host=HOST + HOST),
    "invalid Host": post(host=b"Host: a b\r\n"),
    "Host with a path": post(host=b"Host: a/b\r\n"),
    "space before the colon": post(b"X-A : 1"),
    "tab before the colon": post(b"Content-Length\t: 0"),
    "obs-fold": post(b"X-A: 1\r\n  folded"),
    "field line beginning with a space, first": post(host=b" X: 1\r\n" + HOST),
    "bare CR in a value": post(b"X-A: 1\rX-B: 2"),
    "bare LF line end": post(b"X-A: 1\nX-B: 2"),
    "NUL in a value": post(b"X-A: a\0b"),
    "control character in a value": post(b"X-A: a\x01b"),
    "DEL in a value": post(b"X-A: a\x7fb"),
    "NUL in a name": post(b"X\0A: b"),
    "no colon": post(b"X-A"),
    "empty name": post(b": 1"),
    "bad name character": post(b"X(A): 1"),
    "no target": post(line=b"POST HTTP/1.1"),
    "space in the target": post(line=b"POST /pay here HTTP/1.1"),
    "two spaces": post(line=b"POST  /pay HTTP/1.1"),
    "control in the target": post(line=b"POST /pa\x01y HTTP/1.1"),
    "fragment in the target": post(line=b"POST /pay#x HTTP/1.1"),
    "relative target": post(line=b"POST pay HTTP/1.1"),
    "asterisk with POST": post(line=b"POST * HTTP/1.1"),
    "bad method": post(line=b"PO(ST /pay HTTP/1.1"),
    "lower-case protocol": post(line=b"POST /pay http/1.1"),
    "bad version": post(line=b"POST /pay HTTP/1.x"),
    "future version": post(line=b"POST /pay HTTP/3.0"),
    "ancient version": b"POST /pay\r\n\r\n",
    "connect": b"CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n",
    "TLS hello": bytes.fromhex("16030100c8010000c40303") + bytes(190) + b"\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}

BODY_FAULTS = {
    "bad chunk size": post(CHUNKED, body=b"x\r\nhello\r\n0\r\n\r\n"),
    "empty chunk size": post(CHUNKED, body=b"\r\nhello\r\n0\r\n\r\n"),
    "negative chunk size": post(CHUNKED, body=b"-5\r\nhello\r\n0\r\n\r\n"),
    "0x chunk size": post(CHUNKED, body=b"0x5\r\nhello\r\n0\r\n\r\n"),
    "chunk size overflow": post(CHUNKED, body=b"10000000000000005\r\nhello\r\n0\r\n\r\n"),
    "no CRLF after a chunk": post(CHUNKED, body=b"5\r\nhelloXX0\r\n\r\n"),
    "bare LF after the size": post(CHUNKED, body=b"5\nhello\r\n0\r\n\r\n"),
    "space after the size": post(CHUNKED, body=b"5 \r\nhello\r\n0\r\n\r\n"),
    "over-long extension": post(CHUNKED, body=b"5;" + b"x" * 100_000 + b"\r\nhello\r\n0\r\n\r\n"),
    "over-long trailers": post(CHUNKED, body=b"0\r\n" + b"X: y\r\n" * 50_000 + b"\r\n"),
    "malformed trailer": post(CHUNKED, body=b"0\r\nno colon\r\n\r\n"),
}

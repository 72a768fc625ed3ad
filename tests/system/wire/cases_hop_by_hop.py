"""What belongs to one connection and what an intermediary adds. RFC 9110 §7.6; requests and responses."""

from wire.case import SHOULD, STRICT, Case, Expect, answered, chunked, get, passed, sized, sized_reply

NAMED = "RFC 9110 §7.6.1; R121"
LISTED = "RFC 9110 §7.6.1; R75"
VIA = "RFC 9110 §7.6.3; R122"


def hop(id, *lines, lacks, has=("X-Stays: 1",), source=NAMED, **more):
    """A request with these lines: those names do not travel, others do."""
    return passed(id, source, sized(b"hi", "X-Stays: 1", *lines), lacks=lacks, has=has, content=b"hi", **more)


def named_in_vain(id, name, value):
    """Naming what every recipient must see takes nothing away (§7.6.1 forbids to name it): it would disarm whoever stands behind."""
    line = f"{name}: {value}"
    return passed(id, NAMED, sized(b"hi", f"Connection: {name}", line), has=(line,), lacks=("Connection",), level=STRICT,
                  also=(Expect(lacks=(name,)),))


def hop_back(id, *lines, withholds, gives=("X-Stays: 1",), source=NAMED, **more):
    return answered(id, source, sized_reply(b"ok", "X-Stays: 1", *lines), withholds=withholds, gives=gives, body=b"ok", **more)


CASES = [
    hop("named-one", "Connection: X-Hop", "X-Hop: 1", lacks=("X-Hop", "Connection")),
    hop("named-other-case", "Connection: x-hOP", "X-Hop: 1", lacks=("X-Hop",)),
    hop("named-two", "Connection: X-Hop, X-Hip", "X-Hop: 1", "X-Hip: 2", lacks=("X-Hop", "X-Hip")),
    hop("named-on-two-lines", "Connection: X-Hop", "Connection: X-Hip", "X-Hop: 1", "X-Hip: 2", lacks=("X-Hop", "X-Hip")),
    hop("named-with-keep-alive", "Connection: keep-alive, X-Hop", "X-Hop: 1", lacks=("X-Hop", "Connection")),
    hop("named-with-close", "Connection: close, X-Hop", "X-Hop: 1", lacks=("X-Hop",), closes=True),
    hop("named-without-spaces", "Connection: a,X-Hop,b", "X-Hop: 1", lacks=("X-Hop",)),
    hop("named-with-empty-elements", "Connection: ,, X-Hop ,", "X-Hop: 1", lacks=("X-Hop",)),
    hop("named-with-tabs", "Connection:\tX-Hop\t,\tX-Hip", "X-Hop: 1", "X-Hip: 2", lacks=("X-Hop", "X-Hip")),
    hop("named-repeated-field", "Connection: X-Hop", "X-Hop: 1", "X-Hop: 2", lacks=("X-Hop",)),
    hop("named-before-and-behind", "X-Hop: 1", "Connection: X-Hop", "X-Hop: 2", lacks=("X-Hop",)),
    hop("named-absent", "Connection: X-Nothing", lacks=("X-Nothing", "Connection")),
    hop("named-many", "Connection: " + ", ".join(f"X-H{n}" for n in range(100)), *(f"X-H{n}: 1" for n in range(100)),
        lacks=tuple(f"X-H{n}" for n in range(100))),
    hop("named-cookie", "Connection: Cookie", "Cookie: a=1", lacks=("Cookie",)),
    hop("named-accept-encoding", "Connection: Accept-Encoding", "Accept-Encoding: gzip", lacks=("Accept-Encoding",)),
    hop("named-authorization", "Connection: Authorization", "Authorization: x", lacks=("Authorization",)),
    passed("named-coding-of-a-chunked-body", NAMED, chunked(b"2\r\nhi\r\n0\r\n\r\n", "Connection: Transfer-Encoding, Host, Content-Length"),
           content=b"hi", has=("Host: a.example",)),
    passed("named-length-of-a-body", NAMED, sized(b"hi", "Connection: Content-Length, close"), content=b"hi", closes=True),
    hop("named-content-length-does-not-harm", "Connection: Content-Length", lacks=("Connection",)),
    hop("named-transfer-encoding-does-not-harm", "Connection: Transfer-Encoding", lacks=("Connection",)),
    hop("empty-connection", "Connection:", lacks=("Connection",)),
    passed("named-host-does-not-harm", NAMED, sized(b"hi", "Connection: Host"), has=("Host: a.example",), content=b"hi"),
    passed("named-key-keeps-the-promise", NAMED, sized(b"hi", "Connection: Idempotency-Key"), content=b"hi", lacks=("Connection",),
           also=(Expect(lacks=("Idempotency-Key",)),), level=STRICT, keyed={"key": "recorded"}),
    passed("named-via-is-still-added-to", NAMED, sized(b"hi", "Connection: Via", "Via: 1.1 edge"), content=b"hi"),
    named_in_vain("named-cache-control", "Cache-Control", "no-store"),

    hop("keep-alive-field", "Keep-Alive: timeout=5", lacks=("Keep-Alive",), source=LISTED, level=SHOULD),
    hop("proxy-connection", "Proxy-Connection: keep-alive", lacks=("Proxy-Connection",), source=LISTED, level=SHOULD),
    hop("proxy-connection-close-is-no-close", "Proxy-Connection: close", lacks=("Proxy-Connection",), source=LISTED, level=SHOULD),
    hop("te-field", "TE: trailers", "Connection: TE", lacks=("TE",), source="RFC 9110 §10.1.4; R75"),
    hop("te-field-unnamed", "TE: trailers, gzip;q=0.5", lacks=("TE",), source=LISTED, level=SHOULD),
    hop("trailer-field-without-trailers", "Trailer: X-T", lacks=("Trailer",), source=LISTED, level=STRICT, also=(Expect(),)),
    hop("upgrade-field", "Upgrade: websocket", "Connection: Upgrade", lacks=("Upgrade", "Connection"), source="RFC 9110 §7.8; R135"),
    hop("upgrade-field-unnamed", "Upgrade: websocket", lacks=("Upgrade",), source=LISTED, level=SHOULD),
    hop("upgrade-h2c", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__", "Connection: Upgrade, HTTP2-Settings",
        lacks=("Upgrade", "HTTP2-Settings", "Connection"), source="RFC 9110 §7.8; R135"),
    hop("upgrade-websocket-whole", "Upgrade: websocket", "Connection: keep-alive, Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", lacks=("Upgrade", "Connection"), source="RFC 9110 §7.8; R135"),
    hop("proxy-authorization", "Proxy-Authorization: Basic x", lacks=("Proxy-Authorization",), source=LISTED, level=STRICT,
        also=(Expect(),)),
    hop("proxy-authenticate-of-a-client", "Proxy-Authenticate: Basic", lacks=("Proxy-Authenticate",), source=LISTED, level=STRICT,
        also=(Expect(),)),
    passed("all-at-once", LISTED,
           sized(b"hi", "Keep-Alive: 5", "Proxy-Connection: x", "TE: trailers", "Upgrade: x", "Connection: TE, Upgrade, X-A",
                                        "X-A: 1", "X-B: 2"), has=("X-B: 2",), lacks=("Keep-Alive", "Proxy-Connection", "TE", "Upgrade", "X-A", "Connection")),

    Case("via-is-added", VIA, sized(b"hi"), (Expect(hits=1, via=b"1.1 "),)),
    Case("via-names-the-version-received", VIA, get(line=b"GET /wire HTTP/1.0"), (Expect(hits=1, via=b"1.0 "),)),
    Case("via-is-appended", VIA, sized(b"hi", "Via: 1.0 fred, 1.1 p.example"), (Expect(hits=1, via=b"1.0 fred, 1.1 p.example, 1.1 "),)),
    Case("via-is-appended-behind-several-lines", VIA, sized(b"hi", "Via: 1.0 fred", "Via: 1.1 p.example (a, b)"),
         (Expect(hits=1, via=b"1.0 fred, 1.1 p.example (a, b), 1.1 "),)),
    Case("via-of-another-with-a-comment", VIA, sized(b"hi", "Via: 1.1 x (oncegate)"), (Expect(hits=1, via=b"1.1 x (oncegate), 1.1 "),)),

    hop_back("answer-named-one", "Connection: X-Hop", "X-Hop: 1", withholds=("X-Hop",)),
    hop_back("answer-named-two-lines", "Connection: X-Hop", "Connection: X-Hip", "X-Hop: 1", "X-Hip: 1", withholds=("X-Hop", "X-Hip")),
    hop_back("answer-named-with-close", "Connection: close, X-Hop", "X-Hop: 1", withholds=("X-Hop",), reuses=False),
    hop_back("answer-named-set-cookie", "Connection: Set-Cookie", "Set-Cookie: a=1", withholds=("Set-Cookie",)),
    hop_back("answer-named-length", "Connection: Content-Length", withholds=("Connection",), also=(Expect(body=b"ok"),)),
    hop_back("answer-named-etag", "Connection: ETag", 'ETag: "x"', withholds=("ETag",)),
    hop_back("answer-trailer-field", "Trailer: X-T", withholds=("Trailer",), source=LISTED, level=STRICT, also=(Expect(),)),
    hop_back("answer-connection-itself", "Connection: keep-alive, X-Other", withholds=("Connection",),
             also=(Expect(gives=("Connection: keep-alive",)),)),
    hop_back("answer-keep-alive-field", "Keep-Alive: timeout=5, max=100", withholds=("Keep-Alive",), source=LISTED, level=SHOULD),
    hop_back("answer-proxy-connection", "Proxy-Connection: keep-alive", withholds=("Proxy-Connection",), source=LISTED, level=SHOULD),
    hop_back("answer-upgrade", "Upgrade: h2c", "Connection: Upgrade", withholds=("Upgrade",), source="RFC 9110 §7.8; R135"),
    hop_back("answer-proxy-authenticate", "Proxy-Authenticate: Basic", withholds=("Proxy-Authenticate",), source=LISTED, level=STRICT,
             also=(Expect(),)),
    hop_back("answer-te", "TE: trailers", withholds=("TE",), source=LISTED, level=SHOULD),
    hop_back("answer-close-does-not-close-the-client", "Connection: close", withholds=("Connection",), source="RFC 9112 §9.6", closes=False,
             level=STRICT, also=(Expect(),), reuses=False),
    hop_back("answer-outcome-field-stays-here", "Idempotency-Outcome: record", withholds=("Idempotency-Outcome",), source="contract §3",
             level=STRICT, also=(Expect(),)),
]

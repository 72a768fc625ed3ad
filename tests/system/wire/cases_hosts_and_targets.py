"""Host and the four forms of a target. RFC 9112 §3.2; RFC 9110 §7.2; RFC 3986 §3.2.2.

Who routes by Host must know that it is one: a host with an optional port, once, and the same as in an absolute target."""

from wire.case import SHOULD, STRICT, Expect, get, passed, post, refused

HOST = "RFC 9112 §3.2; RFC 9110 §7.2; R118"
FORM = "RFC 9112 §3.2"
ABSOLUTE = "RFC 9112 §3.2.2; R118"
EXACT = "RFC 9110 §7.7, RFC 9112 §3.2.1; R126"


def bad_host(id, *lines, **more):
    return refused(id, HOST, post("Content-Length: 0", *lines, host=None), **more)


def good_host(id, value, **more):
    line = b"Host: " + value
    return passed(id, HOST, post("Content-Length: 0", host=line), has=(line,), **more)


def exact(id, target, **more):
    return passed(id, EXACT, get(line=b"GET " + target + b" HTTP/1.1"), line=b"GET " + target + b" HTTP/1.1", **more)


def bad_target(id, target, source=FORM, method=b"GET", level=SHOULD, **more):
    return refused(id, source, get(line=method + b" " + target + b" HTTP/1.1"), level=level, **more)


def absolute(id, target, arrives, host, received=b"Host: other.example", method=b"GET", **more):
    return passed(id, ABSOLUTE, get(line=method + b" " + target + b" HTTP/1.1", host=received), line=method + b" " + arrives + b" HTTP/1.1",
                  has=(b"Host: " + host,), also=(Expect(line=method + b" " + target + b" HTTP/1.1", has=(b"Host: " + host,)),), **more)


CASES = [
    bad_host("host-none"),
    bad_host("host-two", "Host: a.example", "Host: b.example"),
    bad_host("host-two-equal", "Host: a.example", "Host: a.example"),
    bad_host("host-two-other-case", "Host: a.example", "HOST: b.example"),
    bad_host("host-second-empty", "Host: a.example", "Host:"),
    bad_host("host-list", "Host: a.example, b.example"),
    bad_host("host-space-inside", "Host: a b"),
    bad_host("host-tab-inside", "Host: a\tb"),
    bad_host("host-userinfo", "Host: user@a.example"),
    bad_host("host-userinfo-password", "Host: user:secret@a.example"),
    bad_host("host-path", "Host: a.example/path"),
    bad_host("host-query", "Host: a.example?x"),
    bad_host("host-fragment", "Host: a.example#x"),
    bad_host("host-scheme", "Host: http://a.example"),
    bad_host("host-backslash", "Host: a.example\\b"),
    bad_host("host-quoted", 'Host: "a.example"'),
    bad_host("host-angle-brackets", "Host: <a.example>"),
    bad_host("host-pipe", "Host: a|b"),
    bad_host("host-caret", "Host: a^b"),
    bad_host("host-braces", "Host: {a}"),
    bad_host("host-open-percent", "Host: a%2"),
    bad_host("host-bad-percent", "Host: a%zz"),
    bad_host("host-obs-text", b"Host: caf\xe9.example"),
    bad_host("host-utf8", "Host: café.example".encode()),
    bad_host("host-nul", b"Host: a.example\x00"),
    bad_host("host-control", b"Host: a\x01.example"),
    bad_host("host-port-word", "Host: a.example:http"),
    bad_host("host-port-minus", "Host: a.example:-80"),
    bad_host("host-port-plus", "Host: a.example:+80"),
    bad_host("host-port-hex", "Host: a.example:0x50"),
    bad_host("host-port-space", "Host: a.example: 80"),
    bad_host("host-port-two", "Host: a.example:80:80"),
    bad_host("host-port-too-large", "Host: a.example:65536", level=STRICT, or_repaired=True),
    bad_host("host-port-huge", "Host: a.example:99999999999999999999", level=STRICT, or_repaired=True),
    bad_host("host-only-port", "Host: :80", level=STRICT, or_repaired=True),
    # Empty is in the grammar, for targets without an authority; no http target is one.
    bad_host("host-empty", "Host:", level=STRICT, or_repaired=True),
    bad_host("host-ipv6-without-brackets", "Host: ::1"),
    bad_host("host-ipv6-open-bracket", "Host: [::1"),
    bad_host("host-ipv6-close-bracket", "Host: ::1]"),
    bad_host("host-ipv6-empty", "Host: []"),
    bad_host("host-ipv6-word", "Host: [a.example]"),
    bad_host("host-ipv6-nine-groups", "Host: [1:2:3:4:5:6:7:8:9]"),
    bad_host("host-ipv6-two-gaps", "Host: [1::2::3]"),
    bad_host("host-ipv6-long-group", "Host: [12345::]"),
    bad_host("host-ipv6-triple-colon", "Host: [:::1]"),
    bad_host("host-ipv6-zone", "Host: [fe80::1%eth0]"),
    bad_host("host-ipv6-text-behind", "Host: [::1]x"),
    bad_host("host-ipv6-bad-ipv4", "Host: [::256.0.0.1]"),
    bad_host("host-bracket-inside", "Host: a[b]c"),
    bad_host("host-space-before-colon", "Host : a.example"),
    bad_host("host-folded", "Host: a\r\n .example"),
    refused("host-two-on-http10", HOST, get("Host: a.example", "Host: b.example", host=None, line=b"GET /wire HTTP/1.0")),
    refused("host-invalid-on-http10", HOST, get("Host: a b", host=None, line=b"GET /wire HTTP/1.0")),
    refused("host-on-get-none", HOST, get(host=None)),

    good_host("host-name", b"a.example"),
    good_host("host-in-capitals", b"A.Example", also=(Expect(has=(b"Host: a.example",)),)),
    good_host("host-port", b"a.example:8080"),
    good_host("host-port-empty", b"a.example:", also=(Expect(has=(b"Host: a.example",)),)),
    good_host("host-port-default", b"a.example:80", also=(Expect(has=(b"Host: a.example",)),)),
    good_host("host-ipv4", b"192.0.2.1"),
    good_host("host-ipv6", b"[2001:db8::1]"),
    good_host("host-ipv6-port", b"[2001:db8::1]:8080"),
    good_host("host-ipv6-ipv4", b"[::ffff:192.0.2.1]"),
    good_host("host-trailing-dot", b"a.example."),
    good_host("host-one-label", b"localhost"),
    good_host("host-underscore", b"my_service", also=(Expect(status=(400,)),)),
    good_host("host-sub-delims", b"a!$&'()*+;=b", also=(Expect(status=(400,)),)),
    good_host("host-percent-encoded", b"caf%C3%A9.example", also=(Expect(status=(400,)),)),
    good_host("host-ipvfuture", b"[v1.fe:d]", also=(Expect(status=(400,)),)),
    passed("host-missing-on-http10", HOST, get(host=None, line=b"GET /wire HTTP/1.0"), closes=True),

    exact("target-with-query", b"/wire?a=1&b=2"),
    exact("target-empty-query", b"/wire?"),
    exact("target-question-marks", b"/wire?a?b"),
    exact("target-percent-kept", b"/wire/%41%7e%2D?%41=%7e"),
    exact("target-percent-case-kept", b"/wire/%c3%A9"),
    exact("target-encoded-slash-kept", b"/wire/a%2Fb"),
    exact("target-encoded-nul-in-query", b"/wire?a=%00"),
    exact("target-double-slash-kept", b"/wire//a///b"),
    exact("target-dot-segments-kept", b"/wire/a/./b/../c"),
    exact("target-trailing-dots-kept", b"/wire/a/.."),
    exact("target-encoded-dots-kept", b"/wire/%2e%2e/wire"),
    exact("target-semicolon", b"/wire/a;v=1/b;w"),
    exact("target-colon-and-at", b"/wire/a:b@c"),
    exact("target-sub-delims", b"/wire/!$&'()*+,;="),
    exact("target-plus-in-query", b"/wire?a+b=c+d"),
    exact("target-slashes-in-query", b"/wire?u=http://x/y?z"),
    exact("target-begins-with-two-slashes", b"//wire/a"),
    exact("target-query-brackets", b"/wire?a[]=1", also=(Expect(status=(400,)),)),
    exact("target-query-pipe-and-quotes", b"/wire?a=|\"<>^`{}\\", also=(Expect(status=(400,)),), level=STRICT),

    # Odd, yet of one route whichever way it is read: the upstream's business.
    exact("target-encoded-nul", b"/wire/%00", also=(Expect(status=(400,)),), level=STRICT),
    exact("target-backslash", b"/wire\\a", also=(Expect(status=(400,)),), level=STRICT),

    bad_target("target-fragment", b"/wire#x"),
    bad_target("target-fragment-in-query", b"/wire?a#x"),
    bad_target("target-relative", b"wire"),
    bad_target("target-relative-dots", b"../wire"),
    bad_target("target-query-only", b"?a=1"),
    bad_target("target-nul", b"/wi\x00re"),
    bad_target("target-control", b"/wi\x01re"),
    bad_target("target-escape", b"/wi\x1bre"),
    bad_target("target-del", b"/wi\x7fre"),
    bad_target("target-bare-cr", b"/wi\rre", "RFC 9112 §2.2"),
    bad_target("target-tab", b"/wi\tre"),
    bad_target("target-obs-text", b"/caf\xe9"),
    bad_target("target-utf8", "/café".encode()),
    bad_target("target-utf8-in-query", "/wire?é".encode()),
    bad_target("target-open-percent", b"/wire/%4"),
    bad_target("target-bad-percent", b"/wire/%zz"),
    # Read with its separator decoded it would be another route's: no spelling of a path may choose its policy.
    bad_target("target-encoded-way-out", b"/wire/..%2f..%2fkeyed", EXACT, method=b"POST", level=STRICT, or_repaired=True),

    absolute("absolute-form", b"http://a.example/wire", b"/wire", b"a.example"),
    absolute("absolute-form-same-host", b"http://a.example/wire", b"/wire", b"a.example", received=b"Host: a.example"),
    absolute("absolute-form-port", b"http://a.example:8080/wire", b"/wire", b"a.example:8080"),
    absolute("absolute-form-https", b"https://a.example/wire", b"/wire", b"a.example"),
    absolute("absolute-form-scheme-in-capitals", b"HTTP://a.example/wire", b"/wire", b"a.example"),
    absolute("absolute-form-query", b"http://a.example/wire?a=1", b"/wire?a=1", b"a.example"),
    absolute("absolute-form-empty-path", b"http://a.example", b"/", b"a.example"),
    absolute("absolute-form-empty-path-query", b"http://a.example?a=1", b"/?a=1", b"a.example"),
    absolute("absolute-form-ipv6", b"http://[::1]:8080/wire", b"/wire", b"[::1]:8080"),
    absolute("absolute-form-url-in-query", b"http://a.example/wire?u=http://b.example/", b"/wire?u=http://b.example/", b"a.example"),
    absolute("absolute-form-options-server", b"http://a.example", b"*", b"a.example", method=b"OPTIONS"),
    absolute("absolute-form-options-path", b"http://a.example/wire", b"/wire", b"a.example", method=b"OPTIONS"),
    passed("absolute-form-on-http10", ABSOLUTE, get(line=b"GET http://a.example/wire HTTP/1.0", host=None), line=b"GET /wire HTTP/1.1",
           has=("Host: a.example",), closes=True, also=(Expect(),)),
    refused("absolute-form-without-host", HOST, get(line=b"GET http://a.example/wire HTTP/1.1", host=None)),
    refused("absolute-form-with-bad-host", HOST, get(line=b"GET http://a.example/wire HTTP/1.1", host=b"Host: a b")),
    refused("absolute-form-with-two-hosts", HOST, get("Host: a.example", line=b"GET http://a.example/wire HTTP/1.1")),
    bad_target("absolute-form-no-authority", b"http:///wire", ABSOLUTE + "; RFC 9110 §4.2.1"),
    bad_target("absolute-form-userinfo", b"http://user@a.example/wire", ABSOLUTE + "; RFC 9110 §4.2.4", level=STRICT, or_repaired=True),
    bad_target("absolute-form-bad-port", b"http://a.example:x/wire", ABSOLUTE),
    bad_target("absolute-form-space", b"http://a b/wire", ABSOLUTE),
    bad_target("absolute-form-other-scheme", b"ftp://a.example/wire", ABSOLUTE, level=STRICT, or_repaired=True),
    bad_target("absolute-form-scheme-only", b"http:", ABSOLUTE),
    bad_target("absolute-form-one-slash", b"http:/wire", ABSOLUTE),
    bad_target("absolute-form-backslash-authority", b"http://a.example\\@b.example/wire", ABSOLUTE),

    passed("asterisk-options", "RFC 9112 §3.2.4", get(line=b"OPTIONS * HTTP/1.1"), line=b"OPTIONS * HTTP/1.1",
           also=(Expect(status=({400, 405},)),)),
    bad_target("asterisk-get", b"*", "RFC 9112 §3.2.4"),
    bad_target("asterisk-post", b"*", "RFC 9112 §3.2.4", method=b"POST"),
    bad_target("asterisk-with-path", b"*/wire", "RFC 9112 §3.2.4", method=b"OPTIONS"),
    bad_target("authority-form-get", b"a.example:443", "RFC 9112 §3.2.3"),
]

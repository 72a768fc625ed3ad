"""`fingerprint.body: json` and `form` from outside: what is the same request although its bytes differ, and what is not."""

import json
import unittest

from harness.cases import SystemCase

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"

ORIGINAL = rb'{"amount":100,"to":{"name":"Zo\u00eb","iban":"DE02"},"tags":["a","b"],"rate":0.5,"note":null}'
SAME_JSON = [
    b' {\n "note" : null , "rate" : 5e-1, "tags" : [ "a" , "b" ],\t"to" : { "iban" : "DE02", "name" : "Zo\xc3\xab" }, '
    b'"amount" : 1.00e2 }\r\n',
    rb'{"\u0061mount":100.0,"to":{"iban":"DE\u0030\u0032","name":"Zo\u00EB"},"tags":["\u0061","b"],"rate":0.50,"note":null}',
]
OTHER_JSON = [
    ORIGINAL.replace(b"100", b"101"), ORIGINAL.replace(b'["a","b"]', b'["b","a"]'), ORIGINAL.replace(b"null", b'""'),
    ORIGINAL.replace(b',"note":null', b""), ORIGINAL.replace(b'"DE02"', b'"de02"'), ORIGINAL.replace(b"100", b'"100"'),
    ORIGINAL.replace(rb"\u00eb", b"e\xcc\x88"), ORIGINAL[:-1] + b',"more":1}',
]
# Pairs that are equal, and pairs that are not.
NUMBERS = [("1.0", "1"), ("1e0", "1"), ("100e-2", "1"), ("-0", "0"), ("0e5", "0"), ("12e3", "12000"), ("1E+2", "100")]
OTHER_NUMBERS = [("9007199254740993", "9007199254740992"), ("1e400", "1e401"), ("0.1", "0.10000000000000001"), ("-1", "1")]
# Compared as bytes: parsers disagree on them.
AS_BYTES = [
    (b'{"a":1,"a":2}', b'{"a": 1,"a":2}'), (b'{"a":"\xff"}', b'{ "a":"\xff"}'), (rb'{"a":"\ud800"}', rb'{ "a":"\ud800"}'),
    (b'{"a":NaN}', b'{ "a":NaN}'), (b'\xef\xbb\xbf{"a":1}', b'\xef\xbb\xbf{ "a":1}'),
    (b"[" * 5000 + b"]" * 5000, b" " + b"[" * 5000 + b"]" * 5000),
    (b'{"a":1', b'{ "a":1'), (b"{'a':1}", b"{ 'a':1}"),
]


def multipart(boundary, *parts):
    """(content type, body); parts are (name, value) or (name, file name, content type, bytes)."""
    pieces = []
    for name, *rest in parts:
        if len(rest) == 1:
            pieces.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{rest[0]}\r\n'.encode())
        else:
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{rest[0]}"\r\nContent-Type: {rest[1]}\r\n\r\n'
            pieces.append(head.encode() + rest[2] + b"\r\n")
    return f"multipart/form-data; boundary={boundary}", b"".join(pieces) + f"--{boundary}--\r\n".encode()


class Content(SystemCase):
    def start(self, **fingerprint):
        self.upstream_now, self.proxy_now = self.setup_pair(policy={"fingerprint": fingerprint})
        self.made = 0

    def post(self, key, body, content_type=JSON, target="/pay", method="POST"):
        return self.proxy_now.ask(method, target, [("Idempotency-Key", f'"{key}"'), ("Content-Type", content_type)], body)

    def assert_same(self, one, other, *types):
        """(body) or (content type, body): the second is a replay of the first."""
        first, second = self.pair(one, other)
        self.assertEqual((first.status, first.replayed), (201, False))
        self.assert_replay_of(first, second)

    def assert_other(self, one, other):
        """The second is another request, of which the content differs."""
        first, second = self.pair(one, other)
        self.assertEqual((first.status, first.replayed), (201, False))
        self.assert_problem(second, "key-reused")
        self.assertIn("body", second.json()["detail"])

    def pair(self, one, other):
        self.made += 1
        given = [content if isinstance(content, tuple) else (JSON, content) for content in (one, other)]
        return [self.post(f"key-{self.made}", body, content_type) for content_type, body in given]


class Json(Content):
    def test_spelled_anew(self):
        """[R47] White space, the order of members, escapes and the spelling of numbers do not matter; everything else does."""
        self.start(body="json")
        for body in SAME_JSON:
            with self.subTest(body):
                self.assert_same(ORIGINAL, body)
        for body in OTHER_JSON:
            with self.subTest(body):
                self.assert_other(ORIGINAL, body)

    def test_numbers(self):
        """[R48] Exact decimals, never doubles."""
        self.start(body="json")
        for one, other in NUMBERS:
            with self.subTest(f"{one} = {other}"):
                self.assert_same(b'{"n":%s}' % one.encode(), b'{"n":%s}' % other.encode())
        for one, other in OTHER_NUMBERS:
            with self.subTest(f"{one} is not {other}"):
                self.assert_other(b'{"n":%s}' % one.encode(), b'{"n":%s}' % other.encode())

    def test_what_parsers_disagree_about(self):
        """[R49] Compared byte for byte: the same bytes are the same request, a space more is another."""
        self.start(body="json")
        for one, other in AS_BYTES:
            with self.subTest(one[:40]):
                self.assert_same(one, one)
                self.assert_other(one, other)

    def test_large_numbers_and_documents_cost_bounded_time(self):
        """[R48][R49] 400 digits, exponents of nine digits, a megabyte of members: answered like any other."""
        self.start(body="json")
        digits = b"7" * 400
        self.assert_same(b'{"n":%s}' % digits, b'{"n":%s.0}' % digits)
        self.assert_other(b'{"n":%s}' % digits, b'{"n":%s8}' % digits[:-1])
        self.assert_other(b'{"n":1e999999999}', b'{"n":1e-999999999}')
        members = [b'"m%d":%d' % (number, number) for number in range(50_000)]
        self.assert_same(b"{" + b",".join(members) + b"}", b"{" + b",".join(reversed(members)) + b"}")

    def test_large_document(self):
        """[R49] Over the limit of 1 MiB bytes are compared, and the upstream gets them all; 100 levels are not too deep."""
        self.start(body="json")
        large = b'{"padding":"%s","n":1}' % (b"x" * (3 << 20))
        self.assert_same(large, large)
        self.assertTrue(self.upstream_now.requests[0].body == large)
        self.assert_other(large, large.replace(b'"n":1', b'"n": 1'))
        deep = b"[" * 100 + b"]" * 100
        self.assert_same(deep, b" " + deep)

    def test_without_it_bytes_are_compared(self):
        """[R42] The default."""
        self.start()
        self.assert_other(ORIGINAL, SAME_JSON[0])


class Members(Content):
    def test_ignored_members(self):
        """[R47] `ignore`: may differ or be missing; what lies beside them may not."""
        self.start(body="json", ignore=["/metadata/sent_at", "/items/0/trace", "/a~1b"])
        one = b'{"x":1,"metadata":{"sent_at":"1","by":"me"},"items":[{"trace":"t1","n":1}],"a/b":1}'
        self.assert_same(one, b'{"x":1,"metadata":{"by":"me"},"items":[{"n":1,"trace":"t2"}]}')
        self.assert_other(one, one.replace(b'"me"', b'"you"'))
        self.assert_other(one, one.replace(b'"n":1', b'"n":2'))

    def test_only_some_members(self):
        """[R50] `include: json:/pointer`: only those count; absent and null differ."""
        self.start(include=["method", "json:/amount", "json:/to/iban"])
        one = b'{"amount":100,"to":{"iban":"DE02"},"sent":1}'
        self.assert_same(one, b'{"sent":2,"to":{"iban":"DE02","name":"x"},"amount":1e2}')
        for other in (one.replace(b"100", b"101"), one.replace(b"DE02", b"DE03"), b'{"amount":100}', b'{"amount":100,"to":{"iban":null}}'):
            self.assertEqual(self.pair(one, other)[1].summary(), (422, "key-reused"))
        self.assertEqual(self.pair(b'{"amount":null,"to":{"iban":"DE02"}}', b'{"to":{"iban":"DE02"}}')[1].summary(), (422, "key-reused"))


class Forms(Content):
    PARTS = [("amount", "100"), ("receipt", "r.png", "image/png", b"\x89PNG\r\n\x1a\n\0--x\r\n")]

    def test_another_boundary(self):
        """[R46] The same parts in a multipart body with a new boundary are the same request; under `bytes` they are not."""
        one, other = (multipart(boundary, *self.PARTS) for boundary in ("----WebKitFormBoundaryA1", "0123456789"))
        self.start(body="form")
        self.assert_same(one, other)
        self.start(body="bytes")
        self.assertEqual(self.pair(one, other)[1].summary(), (422, "key-reused"))

    def test_other_parts(self):
        """[R46] Another value, name, file name, type, order or number of parts is another request."""
        self.start(body="form")
        one = multipart("b1", *self.PARTS)
        amount, receipt = self.PARTS
        for parts in ([("amount", "101"), receipt], [("Amount", "100"), receipt], [amount, ("receipt", "s.png", *receipt[2:])],
                      [amount, ("receipt", "r.png", "image/gif", receipt[3])], [receipt, amount], [amount], [amount, amount, receipt],
                      [amount, ("receipt", "r.png", "image/png", receipt[3] + b"\0")]):
            with self.subTest(parts):
                self.assert_other(one, multipart("b2", *parts))

    def test_escapes(self):
        """[R46] Pairs are compared decoded."""
        self.start(body="form")
        one = (FORM, b"a=1+b&c=%2B%7e&empty=")
        self.assert_same(one, (FORM, b"%61=1%20b&c=%2b~&empty"))
        for other in (b"a=1b&c=%2B%7e&empty=", b"c=%2B%7e&a=1+b&empty=", b"a=1+b&c=++&empty=", b"a=1+b&c=%2B%7e",
                      b"a=1+b&c=%2B%7e&empty=x"):
            with self.subTest(other):
                self.assert_other(one, (FORM, other))

    def test_what_is_no_form(self):
        """[R46] Compared as bytes."""
        self.start(body="form")
        self.assert_same((JSON, b'{"a":1}'), (JSON, b'{"a":1}'))
        self.assert_other((JSON, b'{"a":1}'), (JSON, b'{"a": 1}'))
        broken = multipart("b1", ("a", "1"))[1][:-6]
        self.assert_other(("multipart/form-data; boundary=b1", broken), ("multipart/form-data; boundary=b1", broken + b"x"))


class Details(Content):
    def test_the_refusal_names_the_part(self):
        """[R41][R43][R44] Method, path, query, header or body, and never what was in it."""
        self.start(include=["method", "path", "query", "header:Content-Type?", "header:X-Account?", "body"])
        self.post("k", b'{"secret":"s3cr3t"}', target="/pay/a?q=1")
        differing = {"method": {"method": "PATCH"}, "path": {"target": "/pay/b?q=1"}, "query": {"target": "/pay/a?q=2"},
                     "header": {"content_type": "text/plain"}, "body": {"body": b'{"secret":"0th3r"}'}}
        for part, what in differing.items():
            with self.subTest(part):
                refused = self.post("k", **{"body": b'{"secret":"s3cr3t"}', "target": "/pay/a?q=1", **what})
                self.assert_problem(refused, "key-reused")
                detail = refused.json()["detail"].lower()
                self.assertIn(part, detail)
                self.assertFalse([other for other in differing if other != part and other in detail], detail)
                for content in ("s3cr3t", "0th3r", "text/plain", "q=2", "/pay/b"):
                    self.assertNotIn(content, json.dumps(refused.json()))

    def test_policy_that_changes(self):
        """[R51] Records of the old policy are compared by the old rules: the same bytes replay, what was another request still is."""
        upstream = self.upstream()
        config = {body: self.config(upstream, {"fingerprint": {"body": body}}) for body in ("bytes", "json")}
        self.proxy_now = self.proxy(config["bytes"])
        firsts = {"bytes": self.post("bytes", ORIGINAL)}
        self.proxy_now.reload(config["json"])
        self.assert_replay_of(firsts["bytes"], self.post("bytes", ORIGINAL))
        self.assert_problem(self.post("bytes", SAME_JSON[0]), "key-reused")
        firsts["json"] = self.post("json", ORIGINAL)
        self.proxy_now.reload(config["bytes"])
        self.assert_replay_of(firsts["json"], self.post("json", SAME_JSON[0]))
        self.assert_problem(self.post("json", OTHER_JSON[0]), "key-reused")
        self.assertEqual(upstream.hits(), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Keys that lie in the query, in a JSON body or in a form; several places as one key, or as alternatives."""

import json
import unittest

from harness.cases import SystemCase
from harness.http import request_bytes, response_bytes

JSON = ("Content-Type", "application/json")
FORM = ("Content-Type", "application/x-www-form-urlencoded")
MULTIPART = ("Content-Type", "multipart/form-data; boundary=AaB03x")
BODY = b'{"amount":100}'


def multipart(*fields):
    parts = "".join(f'--AaB03x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields)
    return (parts + "--AaB03x--\r\n").encode()


class Places(SystemCase):
    def place(self, where, **key):
        """A route whose key lies there, bare. What differs between tries is left out of the comparison."""
        return self.setup_pair(policy={"key": {"from": where, "syntax": "bare", **key}, "fingerprint": "off"})

    def assert_one_record(self, proxy, upstream, requests):
        """All of these name the same key: (fields, body) or (fields, body, target)."""
        before = upstream.hits()
        answers = [self.send(proxy, *request) for request in requests]
        self.assertEqual([(answer.status, answer.replayed) for answer in answers], [(201, False)] + [(201, True)] * (len(requests) - 1))
        self.assertEqual(upstream.hits() - before, 1)

    def assert_own_records(self, proxy, upstream, requests):
        """Each of these names a key of its own."""
        before = upstream.hits()
        answers = [self.send(proxy, *request) for request in requests]
        self.assertEqual([(answer.status, answer.replayed) for answer in answers], [(201, False)] * len(requests))
        self.assertEqual(upstream.hits() - before, len(requests))

    def assert_refused(self, proxy, upstream, problem, requests):
        before = upstream.hits()
        for request in requests:
            with self.subTest(request):
                self.assert_problem(self.send(proxy, *request), problem)
        self.assertEqual(upstream.hits(), before)

    @staticmethod
    def send(proxy, fields, body, target="/pay"):
        return proxy.ask("POST", target, fields, body)


class Query(Places):
    def test_query_parameter(self):
        """[R7] Decoded as forms are; the target is forwarded as it came."""
        upstream, proxy = self.place("query:ClientToken")
        targets = ["/pay?ClientToken=a%2Bb&x=1", "/pay?x=2&ClientToken=%61%2bb", "/pay?ClientToken=a%2Bb"]
        self.assert_one_record(proxy, upstream, [([JSON], BODY, target) for target in targets])
        self.assertEqual(upstream.requests[0].target, targets[0])
        self.assert_own_records(proxy, upstream, [([JSON], BODY, f"/pay?ClientToken={token}") for token in ("A%2BB", "ab", "a-b")])

    def test_missing_empty_or_twice(self):
        """[R4][R12][R24] As with a header."""
        upstream, proxy = self.place("query:ClientToken")
        missing = ("/pay", "/pay?clienttoken=a", "/pay?x=ClientToken")
        self.assert_refused(proxy, upstream, "key-missing", [([JSON], BODY, target) for target in missing])
        invalid = ("/pay?ClientToken=", "/pay?ClientToken=a&ClientToken=b", "/pay?ClientToken=" + "k" * 256)
        self.assert_refused(proxy, upstream, "key-invalid", [([JSON], BODY, target) for target in invalid])


class Json(Places):
    def test_member(self):
        """[R8] By pointer, however the document is spelled."""
        upstream, proxy = self.place("json:/event/id")
        bodies = (b'{"event":{"id":"evt_1"},"n":1}', b' { "n" : 2, "\\u0065vent" : { "x": [], "id" : "\\u0065vt_1" } }',
                  b'{"event":{"id":"evt\\u005f1"}}')
        self.assert_one_record(proxy, upstream, [([JSON], body) for body in bodies])
        self.assertEqual(upstream.requests[0].body, bodies[0])
        others = [json.dumps({"event": {"id": key}}).encode() for key in ("evt_2", "EVT_1", "evt_1x")]
        self.assert_own_records(proxy, upstream, [([JSON], body) for body in others])

    def test_absent_or_no_string(self):
        """[R8] Is no key; so is a body that is no JSON."""
        upstream, proxy = self.place("json:/id")
        for body in (b"{}", b'{"id":null}', b'{"id":7}', b'{"id":true}', b'{"id":["a"]}', b'{"id":{}}', b'["id"]', b'"id"', b"", b"id=a",
                     b'{"id":"a"'):
            with self.subTest(body):
                self.assert_problem(self.send(proxy, [JSON], body), "key-missing")
        self.assertEqual(upstream.hits(), 0)

    def test_bad_keys(self):
        """[R12][R24][R25][R142] Empty, too long, with bytes that no key has, named twice: refused, as in a header."""
        upstream, proxy = self.place("json:/id")
        bodies = (b'{"id":""}', b'{"id":"%s"}' % (b"k" * 256), b'{"id":"a\\tb"}', b'{"id":"a\\nb"}', b'{"id":"a\\u0000b"}')
        self.assert_refused(proxy, upstream, "key-invalid", [([JSON], body) for body in bodies])
        self.assertEqual(self.send(proxy, [JSON], b'{"id":"a","id":"b"}').status, 400)
        self.assertEqual(upstream.hits(), 0)

    def test_large_bodies(self):
        """[R8][R42] At the end of a body that does not lie in memory, with a length or in chunks; of more than 1 MiB none is read."""
        key = {"key": {"from": "json:/id", "syntax": "bare"}}
        upstream, proxy = self.setup_pair(policy=key, server={"limits": {"memory_body": "64KiB"}})
        body = b'{"padding":"%s","id":"deep"}' % (b"x" * 900_000)
        first = self.send(proxy, [JSON], body)
        with proxy.connect() as connection:
            head = b"POST /pay HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            pieces = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:10], body[10:70_000], body[70_000:]))
            connection.send(head + pieces + b"0\r\n\r\n")
            self.assert_replay_of(first, connection.receive())
        self.assertTrue(upstream.requests[0].body == body)
        self.assert_problem(self.send(proxy, [JSON], b'{"id":"first","padding":"%s"}' % (b"x" * (1 << 20))), "key-missing")
        self.assertEqual(upstream.hits(), 1)

    def test_text_that_no_header_could_hold(self):
        """[R8] Characters beyond ASCII, commas and quotes: one key however the document spells it."""
        upstream, proxy = self.place("json:/id")
        self.assert_one_record(proxy, upstream, [([JSON], '{"id":"caf\u00e9, \\"7\\""}'.encode()), ([JSON], b'{"id":"caf\\u00e9, \\u00227\\u0022"}')])
        self.assert_own_records(proxy, upstream, [([JSON], '{"id":"cafe\u0301, \\"7\\""}'.encode())])

    def test_optional_key_that_is_not_there(self):
        """[R5][R8] Forwarded whole although it was looked into, small and large, with a length and in chunks; nothing is stored."""
        upstream, proxy = self.place("json:/id", required=False)
        small, large = b'{"amount":100}', b'{"padding":"%s"}' % (b"x" * (3 << 20))
        for body in (small, large, b"", b"\0not json\xff"):
            for _ in range(2):
                self.assertEqual(self.send(proxy, [JSON], body).summary(), (201, None))
                self.assertTrue(upstream.requests[-1].body == body)
            with proxy.connect() as connection:
                chunk = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
                connection.send(b"POST /pay HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + b"0\r\n\r\n")
                self.assertEqual(connection.receive().status, 201)
                self.assertTrue(upstream.requests[-1].body == body)
        self.assertEqual(upstream.hits(), 12)


class Forms(Places):
    def test_urlencoded_and_multipart(self):
        """[R8] One field, whichever way the form is sent."""
        upstream, proxy = self.place("form:ClientToken")
        self.assert_one_record(proxy, upstream, [
            ([FORM], b"Action=Run&ClientToken=a%2Bb+c"), ([FORM], b"ClientToken=a%2bb%20c&Action=Stop"),
            ([MULTIPART], multipart(("Action", "Run"), ("ClientToken", "a+b c")))])
        self.assert_refused(proxy, upstream, "key-missing", [
            ([FORM], b"Action=Run"), ([JSON], b'{"ClientToken":"a"}'), ([MULTIPART], multipart(("Action", "ClientToken")))])
        self.assert_refused(proxy, upstream, "key-invalid", [([FORM], b"ClientToken="), ([FORM], b"ClientToken=a&ClientToken=b")])

    def test_aws_client_token(self):
        """[R7] The preset: in the query or in the form, up to 64 characters."""
        upstream, proxy = self.setup_pair(
            policy={"preset": "aws-client-token", "key": None, "lease": None, "ttl": None, "fingerprint": "off"})
        call = "Action=RunInstances&ClientToken=550e8400"
        self.assert_one_record(proxy, upstream, [([FORM], call.encode()), ([FORM], b"", f"/pay?{call}")])
        self.assert_refused(proxy, upstream, "key-invalid", [([FORM], b"ClientToken=" + b"k" * 65)])


class Several(Places):
    def test_alternatives(self):
        """[R7][R34] Whichever is there; a key is what it says, not where it was read, and places that agree are one key."""
        upstream, proxy = self.place({"any": ["header:X-Key", "query:key", "json:/id", "form:key"]})
        header, body = ("X-Key", "same"), b'{"id":"same"}'
        self.assert_one_record(proxy, upstream, [
            ([header, JSON], BODY), ([JSON], BODY, "/pay?key=same"), ([JSON], body), ([FORM], b"key=same"),
            ([header, JSON], body, "/pay?key=same"), ([header, FORM], b"key=same", "/pay?key=same")])

    def test_places_that_disagree(self):
        """[R12] Which one is meant cannot be known: refused."""
        upstream, proxy = self.place({"any": ["header:X-Key", "query:key", "json:/id"]})
        one = ("X-Key", "one")
        self.assert_refused(proxy, upstream, "key-invalid", [
            ([one, JSON], BODY, "/pay?key=two"), ([one, JSON], b'{"id":"two"}'), ([JSON], b'{"id":"two"}', "/pay?key=one"),
            ([one, JSON], b'{"id":"two"}', "/pay?key=one")])

    def test_compound(self):
        """[R54] One key made of all its parts, in their order and with their borders."""
        upstream, proxy = self.place({"all": ["header:X-Shop", "json:/order"]})
        parts = [("ab", "c"), ("a", "bc"), ("c", "ab"), ("abc", "x"), ("x", "abc")]
        requests = [([("X-Shop", shop), JSON], json.dumps({"order": order}).encode()) for shop, order in parts]
        self.assert_own_records(proxy, upstream, requests)
        self.assertTrue(all(self.send(proxy, *request).replayed for request in requests))
        self.assert_refused(proxy, upstream, "key-missing", [([("X-Shop", "ab"), JSON], b"{}"), ([JSON], b'{"order":"c"}')])

    def test_compound_among_alternatives(self):
        """[R8] As in the preset cloudevents: the first that is whole counts, half of one is none."""
        upstream, proxy = self.place({"any": [{"all": ["header:ce-source", "header:ce-id"]}, {"all": ["json:/source", "json:/id"]}]})
        fields = [("ce-source", "/shop"), ("ce-id", "1"), JSON]
        self.assert_one_record(proxy, upstream, [(fields, b"{}"), ([JSON], b'{"source":"/shop","id":"1"}')])
        self.assert_refused(proxy, upstream, "key-missing", [([("ce-source", "/shop"), JSON], b"{}"), ([JSON], b'{"id":"1"}')])


class ForwardedUnchanged(Places):
    def test_looked_into_and_passed_on(self):
        """[R10][R42] Reading a key changes no byte of what the upstream gets."""
        upstream, proxy = self.place({"any": ["json:/id", "form:id"]})
        contents = [(JSON, b'  {"id" : "1",\t"x":1e2}\r\n'), (FORM, b"id=%32&&x=+%2B"), (MULTIPART, multipart(("id", "3")))]
        for number, (field, body) in enumerate(contents):
            with self.subTest(body):
                with proxy.connect() as connection:
                    connection.send(request_bytes("POST", "/pay?q=%7E", [field], body))
                    self.assertEqual(connection.receive().status, 201)
                self.assertEqual((upstream.requests[number].body, upstream.requests[number].target), (body, "/pay?q=%7E"))

    def test_answer_is_recorded_as_ever(self):
        """[R74] With headers and bytes."""
        upstream, proxy = self.place("json:/id")
        upstream.answer(response_bytes(202, b"\0\xff", [("X-A", "1"), ("x-a", "2")]))
        first = self.send(proxy, [JSON], b'{"id":"1"}')
        self.assert_replay_of(first, self.send(proxy, [JSON], b'{"id":"1"}'))


if __name__ == "__main__":
    unittest.main(verbosity=2)

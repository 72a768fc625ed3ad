"""Whose key it is, for credentials that are new with every try: refreshed tokens and signed requests."""

import base64
import hashlib
import hmac
import itertools
import json
import secrets
import time
import unittest

from harness.cases import SystemCase
from harness.http import response_bytes

BODY = b'{"amount":100}'
ISSUER = "https://login.example.com"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Signs tokens with HMAC (RFC 7515 appendix A.1); its key lies in a JWK Set file."""

    def __init__(self, directory):
        self._secret = secrets.token_bytes(32)
        self._serial = itertools.count(1)
        self.path = f"{directory}/tokens.jwks"
        with open(self.path, "w", encoding="ascii") as file:
            json.dump({"keys": [{"kty": "oct", "kid": "now", "alg": "HS256", "k": base64url(self._secret)}]}, file)

    def token(self, secret=None, algorithm="HS256", **claims):
        """A new one each time, as after a refresh."""
        now = int(time.time())
        usual = {"iss": ISSUER, "aud": "payments", "iat": now, "exp": now + 300, "jti": str(next(self._serial))}
        head = {"alg": algorithm, "typ": "JWT", "kid": "now"}
        signed = ".".join(base64url(json.dumps(part).encode()) for part in (head, {**usual, **claims}))
        mac = b"" if algorithm == "none" else hmac.new(secret or self._secret, signed.encode(), hashlib.sha256).digest()
        return f"{signed}.{base64url(mac)}"


def bearer(token):
    return [("Authorization", f"Bearer {token}")]


class Tokens(SystemCase):
    def start(self, scope=("route", "jwt:sub")):
        self.issuer = Issuer(self.directory)
        upstream = self.upstream()
        config = self.config(upstream, {"scope": list(scope)})
        config["routes"][0]["jwt"] = {"keys": [self.issuer.path], "issuer": ISSUER, "audience": "payments"}
        return upstream, self.proxy(config)

    def test_refreshed_token(self):
        """[R34][R36][R149] Another token of the same subject finds the record; another subject has keys of its own."""
        upstream, proxy = self.start()
        tokens = [self.issuer.token(sub="alice") for _ in range(3)]
        self.assertEqual(len(set(tokens)), 3)
        first = proxy.post('"k"', BODY, fields=bearer(tokens[0]))
        self.assertEqual((first.status, first.replayed), (201, False))
        for token in tokens[1:]:
            self.assert_replay_of(first, proxy.post('"k"', BODY, fields=bearer(token)))
        other = proxy.post('"k"', b'{"other":1}', fields=bearer(self.issuer.token(sub="bob")))
        self.assertEqual((other.status, other.replayed), (201, False))
        self.assertEqual(upstream.hits(), 2)
        self.assertEqual(upstream.requests[0].get("Authorization"), f"Bearer {tokens[0]}")

    def test_only_verified_claims_count(self):
        """[R36] A token that anybody could have written names nobody: 401, nothing forwarded, nothing replayed."""
        upstream, proxy = self.start()
        proxy.post('"k"', BODY, fields=bearer(self.issuer.token(sub="alice")))
        good = self.issuer.token(sub="alice")
        head, claims, mac = good.split(".")
        forged = base64url(json.dumps({"sub": "alice", "aud": "payments", "iss": ISSUER, "exp": 4102444800}).encode())
        now = int(time.time())
        bad = {"another secret": self.issuer.token(secret=b"x" * 32, sub="alice"),
               "unsigned": self.issuer.token(algorithm="none", sub="alice"),
               "claims replaced": f"{head}.{forged}.{mac}", "signature cut": good[:-4], "no token": "opaque",
               "expired": self.issuer.token(sub="alice", exp=now - 3600), "not yet": self.issuer.token(sub="alice", nbf=now + 3600),
               "of another issuer": self.issuer.token(sub="alice", iss="https://else.example"),
               "for another service": self.issuer.token(sub="alice", aud="mail")}
        for name, token in bad.items():
            with self.subTest(name):
                refused = proxy.post('"k"', BODY, fields=bearer(token))
                self.assert_problem(refused, "unauthorized", 401)
                self.assertTrue((refused.get("WWW-Authenticate") or "").startswith("Bearer"))
                self.assertNotIn(token, refused.body.decode())
        self.assertEqual(upstream.hits(), 1)

    def test_without_a_token(self):
        """[R37] No subject, no scope: refused, unless the part may be absent."""
        upstream, proxy = self.start()
        self.assert_problem(proxy.post('"k"', BODY), "principal-missing")
        self.assert_problem(proxy.post('"k"', BODY, fields=bearer(self.issuer.token(role="clerk"))), "principal-missing")
        self.assertEqual(upstream.hits(), 0)
        upstream, proxy = self.start(("route", "jwt:sub?"))
        first = proxy.post('"k"', BODY)
        self.assert_replay_of(first, proxy.post('"k"', BODY))
        self.assertFalse(proxy.post('"k"', BODY, fields=bearer(self.issuer.token(sub="alice"))).replayed)

    def test_keys_of_the_issuer_change(self):
        """[R36] A new key file is taken without a restart: tokens of the old key end, the subject's records stay."""
        upstream, proxy = self.start()
        old = self.issuer
        first = proxy.post('"k"', BODY, fields=bearer(old.token(sub="alice")))
        self.issuer = Issuer(self.directory)
        proxy.reload()
        self.assert_replay_of(first, proxy.post('"k"', BODY, fields=bearer(self.issuer.token(sub="alice"))))
        self.assert_problem(proxy.post('"k"', BODY, fields=bearer(old.token(sub="alice"))), "unauthorized", 401)
        self.assertEqual(upstream.hits(), 1)


def signed_request(access_key, number):
    """The fields of AWS Signature Version 4: other date and signature with each try."""
    date = f"20261201T0000{number:02}Z"
    signature = hashlib.sha256(date.encode()).hexdigest()
    return [("X-Amz-Date", date), ("Authorization", f"AWS4-HMAC-SHA256 Credential={access_key}/20261201/eu-west-1/pay/aws4_request, "
                                                    f"SignedHeaders=host;x-amz-date, Signature={signature}")]


def signature_service(request):
    """Says whose access key a request was signed with; knows nobody called BANNED."""
    credential = (request.get("Authorization") or "").partition("Credential=")[2].partition("/")[0]
    if not credential or credential == "BANNED":
        return response_bytes(403, b"no such access key", [("Content-Type", "text/plain"), ("X-Why", "banned")])
    return response_bytes(200, b"", [("X-Access-Key-Id", credential)])


class SignedRequests(SystemCase):
    def start(self, scope):
        service = self.upstream(signature_service)
        upstream = self.upstream()
        config = self.config(upstream, {"scope": scope})
        config["routes"][0]["authorize"] = {"url": f"http://127.0.0.1:{service.port}/check"}
        return service, upstream, self.proxy(config)

    def test_signed_anew(self):
        """[R34][R149] The access key is the principal: a retry is signed anew and replays; asked for first request and replay alike."""
        service, upstream, proxy = self.start(["route", "auth:X-Access-Key-Id"])
        first = proxy.post('"k"', BODY, fields=signed_request("AKIAONE", 1))
        self.assertEqual((first.status, first.replayed), (201, False))
        self.assert_replay_of(first, proxy.post('"k"', BODY, fields=signed_request("AKIAONE", 2)))
        self.assertFalse(proxy.post('"k"', BODY, fields=signed_request("AKIATWO", 3)).replayed)
        self.assertEqual((upstream.hits(), service.hits()), (2, 3))
        self.assertEqual(upstream.requests[0].get("Authorization"), dict(signed_request("AKIAONE", 1))["Authorization"])

    def test_the_service_refuses(self):
        """[R149] Its answer is passed on as it is: nothing forwarded, nothing replayed."""
        _, upstream, proxy = self.start(["route", "auth:X-Access-Key-Id"])
        for _ in range(2):
            refused = proxy.post('"k"', BODY, fields=signed_request("BANNED", 1))
            self.assertEqual((refused.status, refused.body, refused.get("X-Why")), (403, b"no such access key", "banned"))
            self.assertFalse(refused.replayed)
        self.assertEqual(upstream.hits(), 0)

    def test_raw_credentials_as_a_scope(self):
        """[R149] What the manual warns of: under `header:Authorization` a retry that is signed anew is another request."""
        _, upstream, proxy = self.start(["route", "header:Authorization"])
        for number in (1, 2):
            self.assertFalse(proxy.post('"k"', BODY, fields=signed_request("AKIAONE", number)).replayed)
        self.assertEqual(upstream.hits(), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)

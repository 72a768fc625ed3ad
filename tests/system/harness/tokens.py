"""Signed tokens (JWT), made with the openssl program and the standard library when a test runs; no key is ever kept."""

import base64
import hashlib
import hmac
import json
import os
import time

from .certificates import openssl


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def bearer(token):
    return [("Authorization", f"Bearer {token}")]


class RsaSigner:
    """Signs with RS256; `public_key` is the path of the key that verifies."""

    def __init__(self, directory, name="issuer"):
        self._directory = directory
        self._key = os.path.join(directory, f"{name}.key")
        self.public_key = os.path.join(directory, f"{name}.pub")
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", self._key)
        openssl("pkey", "-in", self._key, "-pubout", "-out", self.public_key)

    def token(self, **claims):
        """Valid for an hour unless the claims say otherwise."""
        return signed({"alg": "RS256", "typ": "JWT"}, claims, self._sign)

    def _sign(self, message):
        text, signature = (os.path.join(self._directory, name) for name in ("to-sign", "signature"))
        with open(text, "wb") as file:
            file.write(message)
        openssl("dgst", "-sha256", "-sign", self._key, "-out", signature, text)
        with open(signature, "rb") as file:
            return file.read()


class SecretSigner:
    """Signs with HS256; `jwks` is the path of a JWK Set that holds the secret."""

    def __init__(self, directory, name="secret", kid="one"):
        self._secret, self._kid = os.urandom(32), kid
        self.jwks = os.path.join(directory, f"{name}.json")
        with open(self.jwks, "w", encoding="ascii") as file:
            json.dump({"keys": [{"kty": "oct", "kid": kid, "k": base64url(self._secret)}]}, file)

    def token(self, **claims):
        return signed({"alg": "HS256", "kid": self._kid}, claims,
                      lambda message: hmac.new(self._secret, message, hashlib.sha256).digest())


def signed(header, claims, sign):
    now = int(time.time())
    claims = {"iat": now, "exp": now + 3600, **claims}
    message = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims)).encode()
    return f"{message.decode()}.{base64url(sign(message))}"

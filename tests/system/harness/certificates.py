"""Certificates made by the openssl program when a test runs; no key is ever kept."""

import os
import subprocess

from .waiting import PATIENCE


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Authority:
    """Signs certificates; `certificate` is the path of its own."""

    def __init__(self, directory, name="authority"):
        self._directory = directory
        self._name = name
        self._key = self._path(name, "key")
        self.certificate = self._path(name, "crt")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", f"/CN=Test {name}", "-keyout", self._key, "-out", self.certificate)

    def _path(self, name, kind):
        return os.path.join(self._directory, f"{name}.{kind}")

    def issue(self, name, alternative_names=None):
        """(certificate, key) as paths. `alternative_names`: "DNS:localhost,IP:127.0.0.1"."""
        key, request, certificate = (self._path(name, kind) for kind in ("key", "csr", "crt"))
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-keyout", key, "-out", request)
        extensions = self._path(name, "ext")
        with open(extensions, "w", encoding="ascii") as file:
            file.write(f"subjectAltName={alternative_names}\n" if alternative_names else "basicConstraints=CA:FALSE\n")
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial", "-days", "2",
                "-extfile", extensions, "-out", certificate)
        return certificate, key

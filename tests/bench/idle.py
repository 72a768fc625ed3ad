#!/usr/bin/env python3
"""Memory a connection: many idle keep-alive connections, each of which has made one request. See README.md beside this file."""

import argparse
import os
import resource
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "system"))
sys.path.insert(0, HERE)

from harness.ports import free_port  # noqa: E402
from harness.proxy import Oncegate  # noqa: E402
from nginx import Nginx  # noqa: E402

REQUEST = b"GET /plain HTTP/1.1\r\nHost: bench.example\r\n\r\n"
SPARE_DESCRIPTORS = 200


def raise_descriptor_limit(wanted):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < wanted:
        raise SystemExit(f"{wanted} descriptors are needed, the system grants {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def self_signed(directory):
    paths = [os.path.join(directory, name) for name in ("bench.crt", "bench.key")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=bench.example", "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    return dict(zip(("certificate", "private_key"), paths))


def one_answer(connection):
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    while len(body) < length:
        body += connection.recv(65536)
    if not head.startswith(b"HTTP/1.1 200 "):
        raise SystemExit(f"an unexpected answer: {head!r}")


def open_idle(port, number, tls):
    """Connections that have had one answer each."""
    held = []
    for _ in range(number):
        connection = socket.create_connection(("127.0.0.1", port))
        if tls:
            connection = tls.wrap_socket(connection)
        connection.sendall(REQUEST)
        one_answer(connection)
        held.append(connection)
    return held


def measure(proxy, port, connections, tls):
    for connection in open_idle(port, 100, tls):  # what is allocated once is not a connection's
        connection.close()
    before = proxy.memory_bytes()
    held = open_idle(port, connections, tls)
    per_connection = (proxy.memory_bytes() - before) / len(held)
    for connection in held:
        connection.close()
    return per_connection


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=os.environ.get("ONCEGATE_BIN"), help="the program (default: $ONCEGATE_BIN)")
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--tls-connections", type=int, default=1_000, help="0: leave TLS out")
    options = parser.parse_args()
    if not options.binary or not shutil.which("nginx"):
        parser.error("needs nginx and --binary")
    os.environ["ONCEGATE_BIN"] = os.path.abspath(options.binary)
    raise_descriptor_limit(max(options.connections, options.tls_connections) + SPARE_DESCRIPTORS)
    directory = tempfile.mkdtemp(prefix="oncegate-bench-")
    tls_port = free_port()
    upstream = Nginx(directory, "upstream")
    listener = {"bind": f"127.0.0.1:{tls_port}", "tls": self_signed(directory)}
    proxy = Oncegate(directory, {
        "server": {"threads": 2, "listeners": [listener], "limits": {"connections": 2 * options.connections + SPARE_DESCRIPTORS},
                   "timeouts": {"keep_alive": "1h", "drain": "1s"}},
        "store": {"url": f"sqlite:{directory}/idle.db"}, "log": {"file": os.devnull},
        "upstreams": {"app": {"servers": [f"http://127.0.0.1:{upstream.port}"]}},
        "routes": [{"name": "plain", "match": {"path": "/**"}, "upstream": "app"}]})
    try:
        proxy.start()
        plain = measure(proxy, proxy.port, options.connections, None)
        print(f"{options.connections} idle connections: {plain / 1024:.1f} KiB of resident memory each")
        if options.tls_connections:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            secure = measure(proxy, tls_port, options.tls_connections, context)
            print(f"{options.tls_connections} idle TLS connections: {secure / 1024:.1f} KiB of resident memory each")
    finally:
        proxy.stop()
        upstream.stop()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()

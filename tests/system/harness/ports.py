"""Loopback ports for programs that are told their port: free now, and given to one test process only."""

import fcntl
import os
import socket
import tempfile

_taken = set()
_reservations = None


def free_port():
    """A port that nobody listens on, and that no other test process will be given while this one lives.

    The second half matters: the program shares ports between its threads, so two programs of two tests that were given
    the same port would both come up, and would get each other's connections."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in _taken and _reserve(port):
            _taken.add(port)
            return port


def _reserve(port):
    """Locks the byte at the port's number in a file of all test processes of this user; the lock ends with the process."""
    global _reservations
    if _reservations is None:
        path = os.path.join(tempfile.gettempdir(), f"oncegate-test-ports-{os.getuid()}")
        _reservations = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.lockf(_reservations, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True

"""Waiting for conditions with a deadline; the only place that lets time pass."""

import ctypes
import os
import signal
import threading

# Seconds that any single event may take. Generous: it is only reached when something is broken.
PATIENCE = 20.0 * float(os.environ.get("ONCEGATE_TEST_PATIENCE", "1"))


def wait_until(condition, what, seconds=PATIENCE, pause_seconds=0.01):
    """Asks again and again until `condition()` is true, and returns its value; AssertionError at the deadline."""
    from time import monotonic

    deadline = monotonic() + seconds
    pause = threading.Event()
    while True:
        value = condition()
        if value:
            return value
        if monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        pause.wait(pause_seconds)


def dies_with_test(with_signal=signal.SIGKILL):
    """For Popen(preexec_fn=...): the child gets `with_signal` when the test process ends in whatever way."""
    pr_set_pdeathsig = 1
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(pr_set_pdeathsig, with_signal)

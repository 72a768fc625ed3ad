"""Hosts whose clocks disagree: leases and lifetimes are judged by the database's clock alone."""

import os

os.environ["ASAN_OPTIONS"] = "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")  # a library comes before its own

import subprocess
import unittest

from harness.cases import OnPostgres, SystemCase
from harness.client import keyed
from harness.http import request_bytes, response_bytes
from harness.upstream import Gate
from harness.waiting import PATIENCE, wait_until

BODY = b'{"amount":100}'
HOUR = 3600

# Put before the system's own functions, it moves the calendar's clock and leaves the one that measures time alone.
MOVED_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec* now) {
    static int (*real)(clockid_t, struct timespec*);
    if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
    const int result = real(clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += MOVED_BY;
    return result;
}
time_t time(time_t* out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval* now, void* zone) {
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}
"""


class Clocks(OnPostgres, SystemCase):
    def moved_clock(self, seconds):
        """Path of a library for LD_PRELOAD."""
        path = os.path.join(self.directory, f"clock{seconds}.so")
        subprocess.run(["gcc", "-shared", "-fPIC", f"-DMOVED_BY=({seconds})", "-x", "c", "-", "-o", path, "-ldl"],
                       input=MOVED_CLOCK.encode(), check=True, timeout=PATIENCE, capture_output=True)
        return path

    def proxy_with_clock(self, config, name, seconds):
        os.environ["LD_PRELOAD"] = self.moved_clock(seconds)
        try:
            return self.proxy(config, name)
        finally:
            del os.environ["LD_PRELOAD"]

    def instances(self, upstream, policy=None):
        """One host is right, one is an hour ahead, one an hour behind."""
        config = self.config(upstream, policy)
        hosts = [self.proxy_with_clock(config, name, seconds) for name, seconds in (("right", 0), ("ahead", HOUR), ("behind", -HOUR))]
        self.assert_clocks_differ(hosts)
        return hosts

    def assert_clocks_differ(self, hosts):
        """The clocks really are moved: the access log's hours are three different ones."""
        for host in hosts:
            host.ask("GET", "/healthy")
        hours = {host.access_log(1)[0]["time"][:13] for host in hosts}
        self.assertEqual(len(hours), 3, hours)

    def test_a_record_lives_as_long_on_every_host(self):
        """[R73][R104] Made by any of them it is replayed by all; none takes it for expired."""
        upstream = self.upstream()
        hosts = self.instances(upstream, {"lease": "1s", "ttl": "30m"})
        for number, maker in enumerate(hosts):
            first = maker.post(f'"{number}"', BODY)
            self.assertFalse(first.replayed)
            for host in hosts:
                self.assert_replay_of(first, host.post(f'"{number}"', BODY))
        self.assertEqual(sum(1 for request in upstream.requests if request.method == "POST"), 3)

    def test_it_expires_on_every_host(self):
        """[R73][R105] A lifetime of a second is over after a second, whoever made the record and whoever asks."""
        upstream = self.upstream()
        hosts = self.instances(upstream, {"lease": "1s", "ttl": "1s"})
        for number, maker in enumerate(hosts):
            maker.post(f'"{number}"', BODY)
            asker = hosts[(number + 1) % 3]
            wait_until(lambda key=number, host=asker: not host.post(f'"{key}"', BODY).replayed, "it expires")
            self.assertEqual(upstream.hits(f'"{number}"'), 2)

    def test_a_running_request_is_in_flight_on_every_host(self):
        """[R66][R73] A lease of a minute has not passed for a host that is an hour ahead."""
        upstream = self.upstream()
        hosts = self.instances(upstream)
        before = upstream.hits()
        for number, owner in enumerate(hosts):
            gate = Gate()
            upstream.answer_next(gate, response_bytes(201, b"first"))
            with owner.connect() as connection:
                connection.send(request_bytes("POST", "/pay", keyed(f'"{number}"'), BODY))
                upstream.wait_for(before + number + 1)
                for host in hosts:
                    self.assert_problem(host.post(f'"{number}"', BODY), "in-flight")
                gate.set()
                self.assertEqual(connection.receive().body, b"first")
        self.assertEqual(upstream.hits() - before, 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)

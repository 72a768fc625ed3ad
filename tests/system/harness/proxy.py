"""The program under test as a process: configuration file in, loopback ports, captured output, signals."""

import copy
import json
import mmap
import os
import signal
import subprocess

from .client import Connection, keyed
from .ports import free_port
from .waiting import PATIENCE, dies_with_test, wait_until

PORT_TAKEN = 2  # exit code of a program that could not run

# Only read by a sanitized build: freed memory is given back soon, so that the memory of a stream can still be judged.
SANITIZER_OPTIONS = {"ASAN_OPTIONS": "quarantine_size_mb=4:" + os.environ.get("ASAN_OPTIONS", "")}


def binary():
    path = os.environ.get("ONCEGATE_BIN")
    if not path or not os.access(path, os.X_OK):
        raise AssertionError("ONCEGATE_BIN must name the built program")
    return os.path.abspath(path)


def sanitized():
    """A build with sanitizers is several times slower, and needs memory of its own."""
    with open(binary(), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"__asan_init") >= 0 or content.find(b"__tsan_init") >= 0


def run_command(*arguments, env=None, seconds=PATIENCE):
    """Runs the program to its end: .returncode, .stdout and .stderr as text."""
    return subprocess.run([binary(), *map(str, arguments)], capture_output=True, text=True, timeout=seconds,
                          env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, check=False)


class Oncegate:
    """`oncegate serve` with a configuration given as plain values; JSON is YAML, so it is written as JSON."""

    def __init__(self, directory, config, name="proxy"):
        self.name = name
        self.config_path = os.path.join(directory, f"{name}.yaml")
        self.out_path = os.path.join(directory, f"{name}.out")
        self.err_path = os.path.join(directory, f"{name}.err")
        self._config = config
        self._directory = directory
        self.process = None
        self._ended_by_test = False
        self.port = self.admin_port = None

    # --- life

    def start(self, until="ready"):
        """`until`: 'ready' (store reachable), 'alive' (listening, whatever the store does), 'spawned' (not waited for)."""
        if self.port is None:
            self._new_ports()
        self._spawn()
        return self if until == "spawned" else self.wait_for_start(until)

    def wait_for_start(self, until):
        for _ in range(5):
            wait_until(lambda: self.process.poll() is not None or self._answers(until), f"{self.name} is {until}")
            if self.process.poll() is None:
                return self
            if self.process.returncode != PORT_TAKEN:
                break
            self._new_ports()  # another test's outgoing connection may have got the port in between
            self._spawn()
        self.process.wait(PATIENCE)
        raise AssertionError(f"{self.name} exited with {self.process.returncode}\n{self.stderr_text()}")

    def _new_ports(self):
        self.port, self.admin_port = free_port(), free_port()

    def _spawn(self):
        self._ended_by_test = False
        self._write_config()
        with open(self.out_path, "ab") as out, open(self.err_path, "ab") as err:
            self.process = subprocess.Popen([binary(), "serve", "-c", self.config_path], stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL, cwd=self._directory,
                                            env={**os.environ, **SANITIZER_OPTIONS}, preexec_fn=dies_with_test())

    def _write_config(self):
        config = copy.deepcopy(self._config)
        own = {"bind": f"127.0.0.1:{self.port}"}
        config["server"]["listeners"] = [own, *config["server"].get("listeners", [])]
        config.setdefault("admin", {})["bind"] = f"127.0.0.1:{self.admin_port}"
        with open(self.config_path, "w", encoding="utf-8") as file:
            json.dump(config, file, indent=2)

    def reload(self, config=None, expect="taken"):
        """SIGHUP, with `config` in the file when it is given; returns when the program has `taken` or `refused` it."""
        if config is not None:
            self._config = config
            self._write_config()
        before = self.reloads(expect)
        self.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.reloads(expect) > before, f"{self.name} has {expect} a configuration")

    def reloads(self, result):
        return self.metric("oncegate_config_reloads_total", result=result)

    def _answers(self, until):
        path = "/readyz" if until == "ready" else "/healthz"
        try:
            return self.admin(path).status == 200
        except (OSError, AttributeError):
            return False

    def terminate(self):
        """SIGTERM without waiting."""
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds=PATIENCE):
        """The exit code."""
        code = self.process.wait(seconds)
        self._ended_by_test = True
        return code

    def kill(self):
        """kill -9."""
        self.process.kill()
        self.process.wait()
        self._ended_by_test = True

    def restart(self, until="ready"):
        return self.start(until)

    def running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        """SIGTERM and wait; None, or what was wrong about the end: a crash in mid-test included."""
        if not self.running():
            return None if self.process is None or self._ended_by_test else f"{self.name} ended by itself with {self.process.returncode}"
        self.terminate()
        try:
            code = self.wait()
        except subprocess.TimeoutExpired:
            self.kill()
            return f"{self.name} did not end after SIGTERM"
        return None if code == 0 else f"{self.name} ended with {code} after SIGTERM"

    # --- talking to it

    def connect(self):
        return Connection(self.port)

    def ask(self, method, target, fields=(), body=None):
        """One request on a connection of its own."""
        with self.connect() as connection:
            return connection.ask(method, target, fields, body)

    def post(self, key, body=b'{"amount":100}', target="/pay", fields=()):
        """A keyed JSON POST to the enforced route; `key` as it goes on the wire."""
        return self.ask("POST", target, keyed(key, fields), body)

    def admin(self, path, fields=()):
        with Connection(self.admin_port) as connection:
            return connection.ask("GET", path, fields)

    # --- what it said

    def stderr_text(self):
        with open(self.err_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stdout_text(self):
        with open(self.out_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def access_log(self, count):
        """The first `count` access-log entries, once they are written."""
        def entries():
            whole_lines = self.stdout_text().split("\n")[:-1]
            return whole_lines if len(whole_lines) >= count else None

        lines = wait_until(entries, f"{count} access-log lines")
        return [json.loads(line) for line in lines[:count]]

    def metric(self, name, **labels):
        """A sample's value, 0 when it is not there."""
        for line in self.admin("/metrics").body.decode().splitlines():
            series, _, value = line.rpartition(" ")
            family, _, rest = series.partition("{")
            if family == name and all(f'{key}="{wanted}"' in rest for key, wanted in labels.items()):
                return float(value)
        return 0.0

    def memory_bytes(self):
        """Resident set size."""
        return self._memory("VmRSS:")

    def memory_peak_bytes(self):
        """The largest that the resident set has been."""
        return self._memory("VmHWM:")

    def _memory(self, name):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            line = next(line for line in status if line.startswith(name))
        return int(line.split()[1]) * 1024

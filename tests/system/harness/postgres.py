"""A real PostgreSQL server in a temporary directory: started, killed, paused at will."""

import atexit
import glob
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile

from .ports import free_port
from .waiting import dies_with_test, wait_until


def _programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]))
    if not found:
        raise AssertionError("PostgreSQL is not installed: no /usr/lib/postgresql/*/bin")
    return found[-1]


def _as_server_user():
    """Popen arguments: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Postgres:
    def __init__(self):
        self._bin = _programs()
        self._directory = tempfile.mkdtemp(prefix="oncegate-pg-")
        self._data = os.path.join(self._directory, "data")
        self._identity = _as_server_user()
        self._databases = itertools.count(1)
        self._process = None
        self._paused = []
        self.port = free_port()
        if self._identity:
            os.chown(self._directory, self._identity["user"], self._identity["group"])
        subprocess.run([f"{self._bin}/initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                        "--locale=C", "--no-sync"], check=True, stdout=subprocess.DEVNULL, cwd=self._directory,
                       **self._identity)

    def start(self):
        """Until it answers; on the same port after a stop, since clients know it by that."""
        def up():
            if self._process is None or self._process.poll() is not None:
                self._spawn()
            return self._ready()

        wait_until(up, "PostgreSQL answers", 60)
        return self

    def ensure_running(self):
        self.resume()
        return self.start()

    @property
    def pid(self):
        """Of the postmaster."""
        return self._process.pid

    def _spawn(self):
        with open(os.path.join(self._directory, "log"), "ab") as log:
            self._process = subprocess.Popen(
                [f"{self._bin}/postgres", "-D", self._data, "-p", str(self.port), "-c", "listen_addresses=127.0.0.1",
                 "-c", "unix_socket_directories=", "-c", "max_connections=60", "-c", "shared_buffers=32MB"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self._directory,
                preexec_fn=dies_with_test(signal.SIGQUIT), **self._identity)

    def _ready(self):
        answer = subprocess.run([f"{self._bin}/pg_isready", "-h", "127.0.0.1", "-p", str(self.port), "-q"], check=False)
        return answer.returncode == 0

    def stop(self):
        """An orderly end that does not wait for clients."""
        self._end(signal.SIGINT)

    def crash(self):
        """Ends at once, without a checkpoint: recovery follows at the next start."""
        self._end(signal.SIGQUIT)

    def _end(self, with_signal):
        self.resume()
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(with_signal)
            self._process.wait(60)

    def pause(self):
        """Stops every process of the server: connections stay open, and nothing answers."""
        # The postmaster first, and stopped for good before its children are counted: it may just be making one more.
        self._stop_process(self._process.pid)
        children = self._children()
        for pid in children:
            self._stop_process(pid)
        self._paused = [self._process.pid, *children]

    @staticmethod
    def _stop_process(pid):
        def stopped():
            try:
                with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
                    return stat.read().rpartition(")")[2].split()[0] in "TZ"
            except OSError:
                return True
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            return
        wait_until(stopped, "the process is stopped")

    def resume(self):
        for pid in self._paused:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
        self._paused = []

    def _children(self):
        """Server processes: the postmaster's own children."""
        found = []
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path, encoding="ascii", errors="replace") as stat:
                    fields = stat.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == self._process.pid:
                found.append(int(path.split("/")[2]))
        return found

    def new_database(self):
        """The URL of an empty database of its own."""
        name = f"oncegate_{next(self._databases)}"
        self.sql("postgres", f"CREATE DATABASE {name}")
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def sql(self, database, text):
        """Runs a statement and returns its output, unaligned."""
        done = subprocess.run([f"{self._bin}/psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-d",
                               database, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text], check=True,
                              capture_output=True, text=True)
        return done.stdout.strip()

    def remove(self):
        self.crash()
        shutil.rmtree(self._directory, ignore_errors=True)


_shared = None


def shared_postgres():
    """One server for all tests of this process, running."""
    global _shared
    if _shared is None:
        _shared = Postgres()
        atexit.register(_shared.remove)
    return _shared.ensure_running()

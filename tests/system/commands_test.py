"""The commands beside `serve`: check, explain, migrate, version, help, demo-upstream."""

import json
import os
import re
import subprocess
import unittest

from harness.cases import OnPostgres, SystemCase
from harness.certificates import Authority
from harness.client import Connection, keyed
from harness.ports import free_port
from harness.proxy import binary, run_command
from harness.waiting import dies_with_test, wait_until

GOOD = """\
server:
  listeners:
    - bind: 127.0.0.1:8080
store:
  url: sqlite:test.db
upstreams:
  app:
    servers: [http://127.0.0.1:9000]
policies:
  money: { preset: ietf, ttl: 72h }
routes:
  - name: pay
    match: { host: api.example.com, methods: [POST], path: /v1/payments }
    upstream: app
    idempotency:
      policy: money
      key: { syntax: any }
      scope: [route, header:Authorization]
      lease: 30s
  - name: rest
    match: { path: /** }
    upstream: app
"""

# (text to replace, replacement, lines that may be named as the fault's place, words the message must hold)
FAULTS = [
    ("    upstream: app\n    idempotency", "    upsteam: app\n    idempotency", {14}, ["upsteam", "upstream"]),
    ("[http://127.0.0.1:9000]", "[http://127.0.0.1:99999]", {8}, []),
    ("ttl: 72h", "ttl: 72 parsecs", {10}, ["ttl"]),
    ("policy: money", "policy: monye", {16}, ["monye", "money"]),
    ("syntax: any", "syntax: loose", {17}, ["loose"]),
    ("      scope: [route, header:Authorization]\n", "", {15, 16}, ["scope"]),
    ("lease: 30s", "lease: 100h", {10, 19}, ["lease"]),
    ("name: rest", "name: pay", {12, 20}, ["pay"]),
    ("    upstream: app\n    idempotency", "    upstream: ap\n    idempotency", {14}, ["ap"]),
    ("bind: 127.0.0.1:8080", "bind: [1, 2]", {3}, ["bind"]),
    ("url: sqlite:test.db", "url: mysql://x", {5}, []),
    ("methods: [POST]", "methods: [POST], methods: [GET]", {13}, ["methods"]),
    ("path: /v1/payments", "path: v1/payments", {13}, []),
    ("preset: ietf", "preset: ieft", {10}, ["ieft", "ietf"]),
]


class WithFile(SystemCase):
    def write(self, text):
        path = os.path.join(self.directory, "oncegate.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


class Check(WithFile):
    def test_good_file(self):
        """Exit code 0 and no complaint."""
        done = run_command("check", "-c", self.write(GOOD))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_each_fault_has_its_place(self):
        """Every fault is reported as FILE:LINE:COL: message, exit code 1."""
        for old, new, lines, words in FAULTS:
            with self.subTest(new):
                self.assertIn(old, GOOD)
                path = self.write(GOOD.replace(old, new, 1))
                done = run_command("check", "-c", path)
                self.assertEqual(done.returncode, 1, done)
                said = done.stdout + done.stderr
                places = {int(number) for number in re.findall(re.escape(path) + r":(\d+):\d+: \S", said)}
                self.assertTrue(lines & places, said)
                for word in words:
                    self.assertIn(word, said)

    def test_all_faults_at_once(self):
        """Not only the first."""
        text = GOOD.replace("ttl: 72h", "ttl: soon").replace("syntax: any", "syntax: loose").replace("name: rest", "nmae: rest")
        done = run_command("check", "-c", self.write(text))
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 1)
        for line in (10, 17, 20):
            self.assertRegex(said, rf"oncegate\.yaml:{line}:\d+: ")

    def test_broken_yaml_and_absent_file(self):
        """A syntax error has its place too; no file is bad input."""
        path = self.write("server:\n  listeners: [\n")
        done = run_command("check", "-c", path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout + done.stderr, r"oncegate\.yaml:\d+:\d+: ")
        done = run_command("check", "-c", path + ".absent")
        self.assertEqual(done.returncode, 1)
        self.assertIn(".absent", done.stdout + done.stderr)

    def test_environment(self):
        """`${NAME}` and `${NAME:-default}` are taken from the environment; an unset one is an error with its place."""
        text = GOOD.replace("127.0.0.1:9000", "${APP_HOST}:${APP_PORT:-9000}")
        path = self.write(text)
        self.assertEqual(run_command("check", "-c", path, env={"APP_HOST": "127.0.0.1"}).returncode, 0)
        done = run_command("check", "-c", path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout + done.stderr, r"oncegate\.yaml:8:\d+: .*APP_HOST")

    def test_what_is_not_supported_yet_is_refused_by_name(self):
        """Never silently ignored."""
        for old, new, word in (("lease: 30s", "unknown_outcome: ask\n      ask: { get: '/p/{key}' }", "ask"),
                               ("lease: 30s", "mode: shadow", "shadow")):
            done = run_command("check", "-c", self.write(GOOD.replace(old, new)))
            if done.returncode != 0:
                self.assertIn(word, done.stdout + done.stderr)
                self.assertIn("not supported yet", done.stdout + done.stderr)


class Explain(WithFile):
    def test_route_policy_and_key(self):
        """The route, each value with its origin, the key and scope of this request."""
        done = run_command("explain", "-c", self.write(GOOD), "POST", "http://api.example.com/v1/payments?x=1",
                           "-H", 'Idempotency-Key: "abc"', "-H", "Authorization: Bearer t")
        self.assertEqual(done.returncode, 0, done)
        for words in ("pay", "money", "72h", "abc", "header:Authorization", "lease", "default"):
            self.assertIn(words, done.stdout)

    def test_plain_route_and_no_route(self):
        """A route without a policy says so; a host that no route takes as well."""
        done = run_command("explain", "-c", self.write(GOOD), "GET", "http://api.example.com/other")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("rest", done.stdout)
        self.assertEqual(run_command("explain", "-c", self.write(GOOD)).returncode, 1)


class Migrate(OnPostgres, WithFile):
    def test_print_changes_nothing_and_migrate_does(self):
        """`--print` shows the SQL; without it the schema is made; twice is fine; `migrate: never` then serves."""
        url = self.store_url()
        database = url.rpartition("/")[2]
        path = self.write(GOOD.replace("sqlite:test.db", url))
        tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'oncegate'"
        done = run_command("migrate", "-c", path, "--print")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("CREATE TABLE", done.stdout.upper())
        self.assertEqual(self.postgres.sql(database, tables), "0")
        for _ in range(2):
            done = run_command("migrate", "-c", path)
            self.assertEqual(done.returncode, 0, done)
        self.assertNotEqual(self.postgres.sql(database, tables), "0")
        upstream = self.upstream()
        proxy = self.proxy(self.config(upstream, store={"migrate": "never"}))
        self.assertTrue([proxy.post('"k"') for _ in range(2)][1].replayed)

    def test_unreachable_store(self):
        """Exit code 2."""
        done = run_command("migrate", "-c", self.write(GOOD.replace(
            "sqlite:test.db", f"postgresql://postgres@127.0.0.1:{free_port()}/x")))
        self.assertEqual(done.returncode, 2, done)


class Help(SystemCase):
    def test_version_and_help(self):
        """`--version`, `--help`, `COMMAND --help`; nonsense is bad input."""
        self.assertRegex(run_command("--version").stdout, r"\d+\.\d+\.\d+")
        overall = run_command("--help")
        self.assertEqual(overall.returncode, 0)
        for command in ("serve", "check", "explain", "migrate", "demo-upstream"):
            self.assertIn(command, overall.stdout)
            done = run_command(command, "--help")
            self.assertEqual(done.returncode, 0, command)
            self.assertTrue(done.stdout.strip())
        for nonsense in (["no-such-command"], ["serve"], ["serve", "--no-such-option"], ["check"], []):
            self.assertEqual(run_command(*nonsense).returncode, 1, nonsense)


class DemoUpstream(SystemCase):
    def test_counts_what_really_ran(self):
        """A keyed payment through the proxy, twice: the demo upstream has done it once."""
        port = free_port()
        process = subprocess.Popen([binary(), "demo-upstream", "--bind", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, preexec_fn=dies_with_test())
        self.addCleanup(lambda: (process.kill(), process.wait()))

        def listening():
            try:
                return Connection(port)
            except ConnectionRefusedError:
                return None

        wait_until(listening, "the demo upstream listens").close()
        stub = self.upstream()
        config = self.config(stub, upstreams={"app": {"servers": [f"http://127.0.0.1:{port}"]}})
        config["routes"][0]["match"]["path"] = "/v1/payments"
        proxy = self.proxy(config)
        payment = b'{"amount":100,"currency":"eur"}'
        first = proxy.ask("POST", "/v1/payments", keyed('"k"'), payment)
        self.assertEqual(first.status // 100, 2, first)
        json.loads(first.body)
        self.assert_replay_of(first, proxy.ask("POST", "/v1/payments", keyed('"k"'), payment))
        other = proxy.ask("POST", "/v1/payments", keyed('"k2"'), payment)
        self.assertNotEqual(other.body, first.body)


class UnusableFiles(SystemCase):
    def test_check_and_serve_say_what_is_wrong_with_a_certificate(self):
        """Bad input: exit code 1, before anything is bound."""
        authority = Authority(self.directory)
        one, other = authority.issue("one.example"), authority.issue("two.example")
        for certificate, key in ((one[0], other[1]), (one[1], one[1])):
            path = os.path.join(self.directory, "bad.yaml")
            with open(path, "w", encoding="ascii") as file:
                file.write(f"""
server: {{ listeners: [ {{ bind: "127.0.0.1:0", tls: {{ certificate: {certificate}, private_key: {key} }} }} ] }}
store: {{ url: "sqlite:{self.directory}/never.db" }}
upstreams: {{ app: {{ servers: ["http://127.0.0.1:9"] }} }}
routes: [ {{ name: all, match: {{ path: /** }}, upstream: app }} ]
""")
            for command in ("check", "serve"):
                ended = run_command(command, "-c", path)
                self.assertEqual(ended.returncode, 1, ended)
                self.assertIn("bad.yaml: listener 127.0.0.1:0: ", ended.stderr)
        self.assertFalse(os.path.exists(f"{self.directory}/never.db"))


if __name__ == "__main__":
    unittest.main(verbosity=2)

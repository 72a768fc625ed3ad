"""Other people's programs as peers: started, waited for, ended by their own process."""

import os
import shutil
import signal
import socket
import subprocess

from .ports import free_port
from .waiting import PATIENCE, dies_with_test, wait_until

NODE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "node")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")

NGINX_CONFIG = """\
worker_processes 1;
daemon off;
master_process off;
error_log {directory}/nginx.log warn;
pid {directory}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {directory}/nginx-body;
  proxy_temp_path {directory}/nginx-proxy;
  fastcgi_temp_path {directory}/nginx-fastcgi;
  uwsgi_temp_path {directory}/nginx-uwsgi;
  scgi_temp_path {directory}/nginx-scgi;
  {content}
}}
"""


def run(*command, env=None, stdin=None):
    """Runs a program to its end and gives what it printed; fails when it does."""
    given = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    done = subprocess.run(command, capture_output=True, timeout=3 * PATIENCE, check=False,
                          env={**os.environ, "no_proxy": "127.0.0.1", **(env or {})}, **given)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout


def node(script, *arguments, env=None):
    return run("node", os.path.join(NODE, script), *map(str, arguments), env=env)


class NodeServer:
    """A script that prints its port and serves until it is ended."""

    def __init__(self, script):
        self._process = subprocess.Popen(["node", os.path.join(NODE, script)], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, preexec_fn=dies_with_test())
        self.port = int(self._process.stdout.readline())

    def stop(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


class Nginx:
    """`content` goes into its http block and says where to listen with {port}."""

    def __init__(self, directory, content):
        self.port = free_port()
        path = os.path.join(directory, "nginx.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write(NGINX_CONFIG.format(directory=directory, content=content.replace("{port}", str(self.port))))
        self._process = subprocess.Popen([NGINX, "-p", directory, "-c", path], stdin=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, preexec_fn=dies_with_test(signal.SIGTERM))
        wait_until(self._listening, "nginx listens")

    def _listening(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        except ConnectionRefusedError:
            return False

    def stop(self):
        self._process.terminate()
        self._process.wait()

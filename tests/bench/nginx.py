"""nginx twice: as the upstream that answers 1 KiB, and as the plain proxy to compare with."""

import os
import signal
import socket
import subprocess

from harness.ports import free_port
from harness.waiting import dies_with_test, wait_until

CONFIG = """\
worker_processes 1;
daemon off;
error_log {directory}/{name}.log warn;
pid {directory}/{name}.pid;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {directory}/{name}-body;
  proxy_temp_path {directory}/{name}-proxy;
  fastcgi_temp_path {directory}/{name}-fastcgi;
  uwsgi_temp_path {directory}/{name}-uwsgi;
  scgi_temp_path {directory}/{name}-scgi;
  {content}
}}
"""
ANSWERS = 'server {{ listen 127.0.0.1:{port} backlog=1024; default_type application/json; location / {{ return 200 "{body}"; }} }}'
PROXIES = """upstream app {{ server 127.0.0.1:{upstream}; keepalive 256; keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{port} backlog=1024;
    location / {{ proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; }} }}"""


class Nginx:
    def __init__(self, directory, name, upstream=None):
        self.port = free_port()
        template = PROXIES if upstream else ANSWERS
        content = template.format(port=self.port, upstream=upstream, body="x" * 1024)
        path = os.path.join(directory, f"{name}.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write(CONFIG.format(directory=directory, name=name, content=content))
        self._process = subprocess.Popen(["nginx", "-p", directory, "-c", path], stdin=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, preexec_fn=dies_with_test(signal.SIGTERM))
        wait_until(self._listening, f"{name} listens")

    @property
    def pid(self):
        return self._process.pid

    def _listening(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        except ConnectionRefusedError:
            return False

    def stop(self):
        self._process.terminate()
        self._process.wait()

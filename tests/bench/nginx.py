"""nginx three times: as the upstream that answers 1 KiB, as a bare proxy, and as one that does what Oncegate does on a plain route."""

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
BARE = """upstream app {{ server 127.0.0.1:{upstream}; keepalive 256; keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{port} backlog=1024;
    location / {{ proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; }} }}"""


# Via, forwarding fields, trace context, and an access log in JSON that is written in blocks.
SAME_WORK = """log_format json escape=json '{{"time":"$time_iso8601","method":"$request_method","path":"$uri","status":$status,'
    '"bytes_in":$request_length,"bytes_out":$bytes_sent,"duration_ms":$request_time,"upstream_ms":"$upstream_response_time",'
    '"trace_id":"$request_id","client":"$remote_addr"}}';
  upstream app {{ server 127.0.0.1:{upstream}; keepalive 256; keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{port} backlog=1024; access_log /dev/null json buffer=32k flush=1s;
    location / {{ proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_set_header Via "1.1 nginx"; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header Forwarded "for=$remote_addr;host=\\"$http_host\\";proto=$scheme";
      proxy_set_header traceparent "00-$request_id-0123456789abcdef-01"; }} }}"""


class Nginx:
    def __init__(self, directory, name, upstream=None, template=None):
        self.port = free_port()
        template = template or ANSWERS
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

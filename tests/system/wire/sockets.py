"""Sending in parts that the peer reads apart: the next part goes when the peer's receive queue is empty."""

import socket
import struct

from harness.waiting import wait_until

PAUSE_SECONDS = 0.0002

# Linux asks the kernel about one socket: netlink, sock_diag(7).
NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, REQUEST = 4, 20, 1
HEADER = struct.Struct("=IHHII")
QUESTION = struct.Struct("=BBBBI")
RECEIVE_QUEUE_AT = HEADER.size + 4 + 48 + 4


def waiting_bytes(local, remote):
    """Bytes in the receive queue of the IPv4 socket with these names; 0 when there is no such socket."""
    names = struct.pack("!HH", local[1], remote[1]) + b"".join(socket.inet_aton(name[0]).ljust(16, b"\0") for name in (local, remote))
    any_state, any_interface, no_cookie = 0xFFFFFFFF, bytes(4), b"\xff" * 8
    question = QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, any_state) + names + any_interface + no_cookie
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as kernel:
        kernel.send(HEADER.pack(HEADER.size + len(question), SOCK_DIAG_BY_FAMILY, REQUEST, 0, 0) + question)
        answer = kernel.recv(4096)
    if HEADER.unpack_from(answer)[1] != SOCK_DIAG_BY_FAMILY:
        return 0
    return struct.unpack_from("=I", answer, RECEIVE_QUEUE_AT)[0]


def wait_until_read(sock, patience):
    """Until the peer, a process of this machine, has read all that was sent to it."""
    mine, peers = sock.getsockname(), sock.getpeername()
    wait_until(lambda: waiting_bytes(peers, mine) == 0, "the peer reads", patience, PAUSE_SECONDS)


def send_split(sock, data, at, patience):
    sock.sendall(data[:at])
    wait_until_read(sock, patience)
    sock.sendall(data[at:])


def send_trickling(sock, data, patience):
    for at in range(len(data)):
        sock.sendall(data[at:at + 1])
        wait_until_read(sock, patience)

"""A second, slow and strict reader of requests and responses, written from the standard: what the program reads out of damaged bytes is
compared with what is read here. RFC 9112, RFC 9110 §5; Expect, CONNECT and size limits are left out."""

import re

REFUSED, UNFINISHED, END = "refused", "unfinished", "end"

TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
LINE = re.compile(rb"(" + TOKEN + rb") ([!-\"$-~]+) HTTP/([0-9])\.([0-9])\Z")
STATUS = re.compile(rb"HTTP/1\.([0-9]) ([1-5][0-9][0-9])(?: ([\t -~\x80-\xff]*))?\Z")
FIELD = re.compile(rb"(" + TOKEN + rb"):([\t -~\x80-\xff]*)\Z")
PATH = re.compile(rb"/(?:[^%?]|%[0-9A-Fa-f]{2})*(?:\?.*)?\Z")
ABSOLUTE = re.compile(rb"https?://([^/?]*)((?:/(?:[^%?]|%[0-9A-Fa-f]{2})*)?(?:\?.*)?)\Z", re.IGNORECASE)
REG_NAME_AND_PORT = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+(?::([0-9]*))?\Z")
CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,64})((?:[ \t]*;[ \t]*" + TOKEN + rb"(?:[ \t]*=[ \t]*(?:" + TOKEN +
                        rb"|\"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*\"))?)*)\Z")


def requests_of(stream):
    """([content of each whole request in turn], what ends the series)."""
    contents = []
    while True:
        for _ in range(4):
            if stream.startswith(b"\r\n"):
                stream = stream[2:]
        if not stream:
            return contents, END
        content, stream = _one(stream)
        if content is None:
            return contents, stream
        contents.append(content)


def _line(stream):
    """(line, rest); a line that cannot end well any more is REFUSED, one that may still is UNFINISHED."""
    at = stream.find(b"\n")
    if at < 0:
        return None, UNFINISHED
    return (stream[:at - 1], stream[at + 1:]) if at and stream[at - 1:at] == b"\r" else (None, REFUSED)


def _fields(stream):
    fields = []
    while True:
        line, stream = _line(stream)
        if not line:
            return (fields, stream) if line is not None else (None, stream)
        match = FIELD.match(line)
        if not match:
            return None, REFUSED
        fields.append((match[1].lower(), match[2].strip(b" \t")))


def _one(stream):
    """(content, rest of the stream), or (None, why there is none)."""
    if not re.match(TOKEN, stream[:1]):
        return None, REFUSED  # cannot become a request line whatever follows
    at, bare = stream.find(b"\r\n\r\n"), re.search(rb"(?<!\r)\n", stream)
    if bare and (at < 0 or bare.start() < at):
        return None, REFUSED
    if at < 0:
        return None, UNFINISHED
    line, rest = _line(stream)
    fields, rest = _fields(rest)
    match = LINE.match(line)
    if fields is None or not match or match[3] != b"1" or not _target_is_sound(match[1], match[2]):
        return None, REFUSED
    http11 = match[4] != b"0"
    hosts = [value for name, value in fields if name == b"host"]
    if len(hosts) != 1 and (http11 or hosts) or any(not _is_authority(host) for host in hosts):
        return None, REFUSED
    return _content(http11, fields, rest)


def _target_is_sound(method, target):
    if target == b"*":
        return method == b"OPTIONS"
    absolute = ABSOLUTE.match(target)
    return bool(PATH.match(target) or absolute and _is_authority(absolute[1]))


def _is_authority(text):
    match = REG_NAME_AND_PORT.match(text)
    return bool(match) and (not match[1] or int(match[1]) < 65536)


def _content(http11, fields, rest):
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value for name, value in fields if name == b"transfer-encoding"]
    if codings:
        if not http11 or lengths or len(codings) != 1 or codings[0].lower() != b"chunked":
            return None, REFUSED
        return _chunks(rest)
    if not lengths:
        return b"", rest
    if len(lengths) != 1 or not re.match(rb"[0-9]+\Z", lengths[0]):
        return None, REFUSED
    length = int(lengths[0])
    return (rest[:length], rest[length:]) if len(rest) >= length else (None, UNFINISHED)


def _chunks(rest):
    content = b""
    while True:
        line, rest = _line(rest)
        if line is None:
            return None, rest
        match = CHUNK_LINE.match(line)
        if not match:
            return None, REFUSED
        size = int(match[1], 16)
        if size == 0:
            break
        if len(rest) < size + 2:
            return None, UNFINISHED
        if rest[size:size + 2] != b"\r\n":
            return None, REFUSED
        content, rest = content + rest[:size], rest[size + 2:]
    trailers, rest = _fields(rest)
    if trailers is None:
        return None, rest
    if any(name in (b"content-length", b"transfer-encoding") for name, _ in trailers):
        return None, REFUSED
    return content, rest


def answer_of(stream):
    """(status, content) of the final response in all that an upstream sent before it closed; None when it is not to be believed.
    For a request that was not HEAD, and asked for no upgrade."""
    while True:
        line, rest = _line(stream)
        match = STATUS.match(line or b"")
        fields, rest = _fields(rest) if match else (None, rest)
        if fields is None or match[2] == b"101":
            return None
        if match[2] >= b"200":
            break
        stream = rest
    framed = any(name in (b"content-length", b"transfer-encoding") for name, _ in fields)
    if match[2] in (b"204", b"304"):
        return int(match[2]), b""
    content, _ = _content(match[1] != b"0", fields, rest) if framed else (rest, b"")
    return None if content is None else (int(match[2]), content)

"""What every message that a proxy sends must be like, whatever it got: RFC 9110 §2.2, a sender must not generate what does not match
the grammar. Lists of faults, empty when there is none."""

import re

TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
FIELD_LINE = re.compile(rb"(" + TOKEN + rb"):[ \t]*((?:[!-~\x80-\xff](?:[ \t!-~\x80-\xff]*[!-~\x80-\xff])?)?)[ \t]*\Z")
REQUEST_LINE = re.compile(TOKEN + rb" [!-\"$-~]+ HTTP/1\.[01]\Z")
STATUS_LINE = re.compile(rb"HTTP/1\.[01] [1-5][0-9][0-9] [\t -~\x80-\xff]*\Z")


DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT\Z")


def has_valid_date(response):
    """Exactly one Date, an IMF-fixdate (RFC 9110 §5.6.7)."""
    dates = response.all("Date")
    return len(dates) == 1 and bool(DATE.match(dates[0]))


def names_of(lines):
    return [line.partition(b":")[0].strip(b" \t").lower() for line in lines]


def line_faults(lines):
    return [f"malformed field line {line!r}" for line in lines if not FIELD_LINE.match(line)]


def framing_faults(lines):
    names = names_of(lines)
    both = names.count(b"content-length") + names.count(b"transfer-encoding") > 1
    return ["more than one framing field"] if both else []


def request_faults(exchange):
    """Of a recorded request."""
    faults = line_faults(exchange.lines) + framing_faults(exchange.lines)
    if not REQUEST_LINE.match(exchange.start_line):
        faults.append(f"malformed request line {exchange.start_line!r}")
    if names_of(exchange.lines).count(b"host") != 1:
        faults.append("not exactly one Host")
    return faults


def response_faults(response):
    """Of a harness response, interim or final."""
    faults = line_faults(response.lines) + framing_faults(response.lines)
    if not STATUS_LINE.match(response.start_line):
        faults.append(f"malformed status line {response.start_line!r}")
    names = names_of(response.lines)
    if response.status < 200 or response.status == 204:
        if b"content-length" in names or b"transfer-encoding" in names:
            faults.append("framing fields on a response without content")
    return faults


def own_request_faults(exchange):
    """What Oncegate promises beside: RFC 9110 §7.6."""
    names = names_of(exchange.lines)
    faults = [f"no {name}" for name in ("Via", "X-Forwarded-For", "Forwarded") if name.lower().encode() not in names]
    hops = (b"keep-alive", b"proxy-connection", b"te", b"upgrade", b"proxy-authorization", b"expect", b"trailer")
    return faults + [f"{name.decode()} was forwarded" for name in hops if name in names]


def own_response_faults(response):
    names = names_of(response.lines)
    faults = ["no Date"] if response.status >= 200 and names.count(b"date") != 1 else []
    hops = (b"keep-alive", b"proxy-connection", b"te", b"upgrade", b"proxy-authenticate", b"idempotency-outcome")
    return faults + [f"{name.decode()} was delivered" for name in hops if name in names]

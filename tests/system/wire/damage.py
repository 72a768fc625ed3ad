"""One byte replaced, inserted or taken out, at every place."""

import random

NASTY = b"\x00\t\n\r !\"%,-/0:;=x\x7f\x80\xff"
SEED = 20


def damages(base):
    """(name, bytes) of every way to damage it with one byte."""
    for at in range(len(base)):
        yield f"without-{at}", base[:at] + base[at + 1:]
        for byte in NASTY:
            yield f"{byte:02x}-at-{at}", base[:at] + bytes([byte]) + base[at + 1:]
            yield f"{byte:02x}-before-{at}", base[:at] + bytes([byte]) + base[at:]


def all_damaged(bases):
    return [(f"{base}-{name}", data) for base, whole in bases.items() for name, data in damages(whole)]


def chosen(bases, share):
    """The same part of them in every run: all would take a minute."""
    return [one for one in all_damaged(bases) if random.Random(f"{SEED} {one[0]}").random() < share]

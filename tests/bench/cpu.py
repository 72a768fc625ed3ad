"""CPU time of a process and all its descendants, ended ones included."""

import glob
import os

TICK = os.sysconf("SC_CLK_TCK")


def _table():
    """pid -> (parent, ticks of its own and of the children it has waited for)."""
    table = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="ascii", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue
        table[int(path.split("/")[2])] = (int(fields[1]), sum(int(field) for field in fields[11:15]))
    return table


def cpu_seconds(root):
    table = _table()
    total, members = 0, {root}
    grown = True
    while grown:
        more = {pid for pid, (parent, _) in table.items() if parent in members} - members
        grown = bool(more)
        members |= more
    for pid in members:
        total += table.get(pid, (0, 0))[1]
    return total / TICK

"""What should not be left in a finished tree: reminders, commented-out code, banners, files without a word on their purpose,
and traces of the machine it was written on."""

import re
import unittest

from source_tree import CPP, Finding, files, report, text_of

# Written in two halves so that this file does not find itself.
REMINDER = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
BANNER = re.compile(r"^\s*(//|#)(\s*[-=*#~]{3,}|.*[-=*~]{6,}\s*$)")
# Deeper than three spaces it is an example of use.
DEAD_CODE = re.compile(r"^\s*// {0,3}(?![/ ])([\w:<>&*, ]+ = .*;|[\w:.>-]+\(.*\);|(if|for|while) \(.*\) \{|#include .*)\s*$")
# Absolute paths into somebody's home or work folder, and hosts of package registries.
MACHINE = re.compile(r"(?<![\w./$}-])/(home|Users|root|work)/[\w.-]|\b(registry|deb|archive|security|snapshot)\.[a-z]+\.org\b")

TEXTS = (*CPP, ".py", ".sh", ".md", ".yaml", ".yml", ".json", ".cmake", ".txt", ".sql", ".js", ".mjs", ".npmrc", "Dockerfile", "run")
COMMENTED = (*CPP, ".py", ".sh", ".sql")


def leftovers(path: str, source: str) -> list[Finding]:
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        if REMINDER.search(line):
            found.append(Finding(path, number, "a reminder: do it, or file it"))
        if MACHINE.search(line):
            found.append(Finding(path, number, "a path or host of one machine"))
        if path.endswith((*CPP, ".sh", ".sql")) and BANNER.match(line):
            found.append(Finding(path, number, "a banner: a file that needs sections is two files"))
        if path.endswith(CPP) and DEAD_CODE.match(line):
            found.append(Finding(path, number, "commented-out code"))
    return found


def opening_findings(path: str, source: str) -> list[Finding]:
    """Headers, scripts and sources without a header say at the top what they are for. A .cpp beside its header need not repeat it,
    and a C++ test has its subject in its name."""
    if path.endswith(".cpp") and (path.startswith("tests/") or path[:-4] + ".hpp" in _headers()):
        return []
    marks = {"py": ('"""', "#"), "sh": ("#",), "sql": ("--",)}.get(path.rsplit(".", 1)[-1], ("//", "/*"))
    opening = [line for line in source.splitlines()[:4] if not line.startswith(("#pragma", "#!"))]
    if source.strip() and not any(line.startswith(marks) for line in opening[:2]):
        return [Finding(path, 1, "no opening comment: what is it for, what does it leave to others?")]
    return []


def _headers() -> set[str]:
    return set(files("src", endings=(".hpp",)))


class Leftovers(unittest.TestCase):
    def test_the_rule_sees_each_kind(self):
        for bad in (
            "// TO" "DO: later",
            "// ------------ section ------------",
            "// section =========",
            "// run(a, b);",
            "//   const int x = 1;",
            'open("/ho' 'me/me/file");',
            "see registry" ".example.org",
        ):
            self.assertEqual(len(leftovers("src/core/a.cpp", bad)), 1, bad)

    def test_the_rule_accepts_prose_and_addresses(self):
        for good in (
            "// The claim comes first; the rest follows.",
            "// RFC 9110 §5.3 (see also §5.5);",
            'GET("/orders/home/1");',
            "https://www.rfc-editor.org/rfc/rfc9110",
        ):
            self.assertEqual(leftovers("src/core/a.cpp", good), [], good)

    def test_the_rule_sees_a_file_without_a_purpose(self):
        self.assertEqual(len(opening_findings("src/core/nothing.hpp", "#pragma once\n\n#include <string>\n")), 1)
        self.assertEqual(opening_findings("src/core/nothing.hpp", "#pragma once\n// Why.\n"), [])

    def test_the_tree_has_no_leftovers(self):
        found = [f for path in files(endings=TEXTS) if "/data/" not in path for f in leftovers(path, text_of(path))]
        self.assertEqual(found, [], report(found))

    def test_every_file_says_what_it_is_for(self):
        paths = files("src", "tests", "deploy", endings=COMMENTED)
        found = [f for path in paths for f in opening_findings(path, text_of(path))]
        self.assertEqual(found, [], report(found))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Compares the requirements (data/requirements.txt) with the tests that name them; prints those that no test names.

    python3 -B tests/requirements.py            # exit 1 when a line without `later` has no test
    python3 -B tests/requirements.py --list     # every line with its tests

A number counts where a test declares it: in the tags of a Catch2 test case (`TEST_CASE("...", "[R41][R42]")`), or at the
beginning of the docstring of a Python test (`\"\"\"[R41][R43]-[R45] ...`). Comments, sections, hidden or skipped tests and files
that no build and no ctest knows do not count.
"""

import ast
import os
import re
import sys
from typing import Iterator, NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "tidy"))

from cpp_tokens import tokens_of  # noqa: E402
from source_tree import files, text_of  # noqa: E402

LINE = re.compile(r"(?P<number>\d+)\s+(?P<source>[ND])\s+(?:later: (?P<later>[^|]+?) \| )?(?P<summary>\S.*)")
LAST_NUMBER = 151
COMPILED = ("tests/unit", "tests/store", "tests/net", "tests/proxy")
CASES = {"TEST_CASE", "TEMPLATE_TEST_CASE", "SCENARIO"}
NOT_RUN = re.compile(r"\[(\.|!mayfail|!shouldfail|!hide)")
DECLARED = re.compile(r"(?:\[R\d+\](?:-\[R\d+\])?\s*)+")
SPAN = re.compile(r"\[R(\d+)\](?:-\[R(\d+)\])?")


class Requirement(NamedTuple):
    number: int
    source: str
    later: str
    summary: str


class Claim(NamedTuple):
    number: int
    path: str
    line: int
    test: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.test}"


def requirements_of(text: str) -> dict[int, Requirement]:
    found = {}
    for row in text.splitlines():
        if not row.strip() or row.startswith("#"):
            continue
        match = LINE.fullmatch(row.strip())
        if match is None:
            raise ValueError(f"not a requirement: {row}")
        number = int(match["number"])
        if number in found:
            raise ValueError(f"{number} is there twice")
        found[number] = Requirement(number, match["source"], match["later"] or "", match["summary"])
    return found


def numbers_in(tags: str) -> list[int]:
    """[R3] is 3, [R3]-[R5] is 3, 4 and 5."""
    spans = [(int(first), int(last or first)) for first, last in SPAN.findall(tags)]
    return [number for first, last in spans for number in range(first, last + 1)]


def cpp_claims(path: str, source: str) -> list[Claim]:
    tokens = tokens_of(source)
    found = []
    for at, token in enumerate(tokens):
        if token.text not in CASES or token.kind != "word" or at + 1 >= len(tokens) or tokens[at + 1].text != "(":
            continue
        arguments = _string_arguments(tokens, at + 2)
        if len(arguments) < 2 or NOT_RUN.search(arguments[1]):
            continue
        found += [Claim(number, path, token.line, arguments[0]) for number in numbers_in(arguments[1])]
    return found


def _string_arguments(tokens, at: int) -> list[str]:
    """The first two arguments when they are string literals, neighbouring literals joined."""
    arguments = [""]
    while at < len(tokens) and (tokens[at].kind == "string" or tokens[at].text == ","):
        if tokens[at].text == ",":
            arguments.append("")
        else:
            arguments[-1] += tokens[at].text[1:-1]
        at += 1
    return arguments[:2]


def python_claims(path: str, source: str) -> list[Claim]:
    found = []
    for case in ast.walk(ast.parse(source)):
        if not isinstance(case, ast.ClassDef) or _skipped(case):
            continue
        for test in case.body:
            if not isinstance(test, ast.FunctionDef) or not test.name.startswith("test") or _skipped(test):
                continue
            declared = DECLARED.match(ast.get_docstring(test) or "")
            if declared:
                name = f"{case.name}.{test.name}"
                found += [Claim(number, path, test.lineno, name) for number in numbers_in(declared.group())]
    return found


def _skipped(node) -> bool:
    """Skipped always or expected to fail; `skipIf` and `skipUnless` depend on the machine and count."""
    names = {word.attr for decorator in node.decorator_list for word in ast.walk(decorator) if isinstance(word, ast.Attribute)}
    return bool(names & {"skip", "expectedFailure"})


def registered_systems() -> Iterator[str]:
    """The system tests that ctest runs."""
    words = set(re.findall(r"\w+", text_of("tests/system/system_tests.cmake")))
    for path in files("tests/system", endings=("_test.py",)):
        if os.path.basename(path).removesuffix("_test.py") in words:
            yield path


def claims() -> dict[int, list[Claim]]:
    every = [claim for path in files(*COMPILED, endings=(".cpp",)) for claim in cpp_claims(path, text_of(path))]
    every += [claim for path in registered_systems() for claim in python_claims(path, text_of(path))]
    by_number: dict[int, list[Claim]] = {}
    for claim in every:
        by_number.setdefault(claim.number, []).append(claim)
    return by_number


def faults(requirements: dict[int, Requirement], claimed: dict[int, list[Claim]]) -> list[str]:
    found = [f"{line.number:>4} {line.source}  {line.summary}: no test"
             for line in requirements.values() if not line.later and line.number not in claimed]
    found += [f"{line.number:>4} {line.source}  {line.summary}: has a test now, take `later` away"
              for line in requirements.values() if line.later and line.number in claimed]
    found += [f"{number:>4} is no requirement: {named[0]}" for number, named in claimed.items() if not 1 <= number <= LAST_NUMBER]
    return found


def main() -> int:
    requirements, claimed = requirements_of(text_of("tests/data/requirements.txt")), claims()
    if "--list" in sys.argv[1:]:
        for line in requirements.values():
            print(f"{line.number:>4} {line.source}  {line.summary}" + (f" (later: {line.later})" if line.later else ""))
            for claim in claimed.get(line.number, ()):
                print(f"           {claim}")
    found = faults(requirements, claimed)
    for line in requirements.values():
        if line.later and line.number not in claimed:
            print(f"{line.number:>4} {line.source}  {line.summary}: later, with {line.later}")
    print("\n".join(found) if found else f"all other {sum(not line.later for line in requirements.values())} lines have a test")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Files and functions that fit a reader's head: one idea a file, one screen a function."""

import unittest

from cpp_tokens import brace_kind, matching, tokens_of
from source_tree import CPP, Finding, files, report, text_of

SOURCE_LINES = 400
TEST_LINES = 600
FUNCTION_LINES = 70


def file_findings(path: str, source: str) -> list[Finding]:
    limit = SOURCE_LINES if path.startswith("src/") else TEST_LINES
    lines = source.count("\n")
    return [Finding(path, lines, f"{lines} lines, more than {limit}: two ideas, two files")] if lines > limit else []


def function_findings(path: str, source: str) -> list[Finding]:
    found = []
    tokens = tokens_of(source)
    at = 0
    while at < len(tokens):
        if tokens[at].text != "{" or brace_kind(tokens, at) == "scope":
            at += 1
            continue
        end = matching(tokens, at)
        lines = tokens[end].line - tokens[at].line + 1
        if brace_kind(tokens, at) == "block" and lines > FUNCTION_LINES:
            found.append(Finding(path, tokens[at].line, f"a function of {lines} lines, more than {FUNCTION_LINES}"))
        at = end + 1
    return found


class Lengths(unittest.TestCase):
    def test_the_rule_sees_a_long_file(self):
        self.assertEqual(len(file_findings("src/core/long.cpp", "\n" * (SOURCE_LINES + 1))), 1)
        self.assertEqual(file_findings("src/core/short.cpp", "\n" * SOURCE_LINES), [])

    def test_the_rule_sees_a_long_function(self):
        body = "    step();\n" * FUNCTION_LINES
        bad = f"namespace a {{\nclass B {{\n    void f() const {{\n{body}    }}\n}};\n}}\n"
        self.assertEqual(len(function_findings("src/core/long.cpp", bad)), 1)

    def test_the_rule_leaves_long_scopes_and_tables_alone(self):
        rows = "    {1, 2},\n" * FUNCTION_LINES
        good = f"namespace a {{\nconst Row table[] = {{\n{rows}}};\nvoid f() {{\n    step();\n}}\n}}\n"
        self.assertEqual(function_findings("src/core/table.cpp", good), [])

    def test_the_files_are_short(self):
        paths = [*files("src", "tests", endings=(*CPP, ".py", ".sh")), *files("deploy", endings=(".sh",))]
        found = [f for path in paths for f in file_findings(path, text_of(path))]
        self.assertEqual(found, [], report(found))

    def test_the_functions_are_short(self):
        found = [f for path in files("src", endings=CPP) for f in function_findings(path, text_of(path))]
        self.assertEqual(found, [], report(found))


if __name__ == "__main__":
    unittest.main()

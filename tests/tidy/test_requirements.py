"""Every requirement that can be met today is named by a test that runs; see ../requirements.py."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import requirements as subject  # noqa: E402
from source_tree import files, text_of  # noqa: E402


def numbers(claims):
    return [claim.number for claim in claims]


class Requirements(unittest.TestCase):
    def test_tags_of_a_test_case_count(self):
        source = 'TEST_CASE("a key; and [R9]", "[R1][keys][R3]-[R5]") {}\nTEST_CASE("split "\n "name", "[R7]"\n "[R8]") {}\n'
        self.assertEqual(numbers(subject.cpp_claims("t.cpp", source)), [1, 3, 4, 5, 7, 8])

    def test_nothing_else_in_a_source_counts(self):
        for source in ('// TEST_CASE("a", "[R1]")', '/* TEST_CASE("a", "[R1]") */', 'SECTION("[R1]") {}', 'INFO("[R1]");',
                       'TEST_CASE("[R1]") {}', 'TEST_CASE("hidden", "[.][R1]") {}', 'TEST_CASE("may fail", "[R1][!mayfail]") {}'):
            self.assertEqual(subject.cpp_claims("t.cpp", source), [], source)

    def test_the_beginning_of_a_python_test_docstring_counts(self):
        source = 'class A:\n    def test_a(self):\n        """[R1] [R3]-[R5] Text, not [R9]."""\n'
        self.assertEqual(numbers(subject.python_claims("t.py", source)), [1, 3, 4, 5])

    def test_nothing_else_in_a_python_file_counts(self):
        for source in ('"""[R1]"""\n', 'class A:\n    """[R1]"""\n', 'class A:\n    def ask(self):\n        """[R1]"""\n',
                       'class A:\n    def test_a(self):\n        # [R1]\n        pass\n',
                       'class A:\n    def test_a(self):\n        """Unlike [R1]."""\n',
                       'class A:\n    @unittest.skip("x")\n    def test_a(self):\n        """[R1]"""\n',
                       '@unittest.skip("x")\nclass A:\n    def test_a(self):\n        """[R1]"""\n',
                       'class A:\n    @unittest.expectedFailure\n    def test_a(self):\n        """[R1]"""\n'):
            self.assertEqual(subject.python_claims("t.py", source), [], source)

    def test_a_line_without_a_test_is_found(self):
        lines = subject.requirements_of("1  N  one thing\n2  D  later: other work | two\n3  D  three\n")
        claim = subject.Claim(3, "t.py", 1, "A.test_a")
        self.assertEqual(len(subject.faults(lines, {3: [claim]})), 1)
        self.assertEqual(len(subject.faults(lines, {1: [claim], 3: [claim]})), 0)
        self.assertEqual(len(subject.faults(lines, {1: [claim], 2: [claim], 3: [claim]})), 1, "the mark is out of date")
        self.assertEqual(len(subject.faults(lines, {1: [claim], 3: [claim], 900: [claim]})), 1, "no such number")

    def test_every_system_test_is_run(self):
        """A file that ctest does not know proves nothing."""
        self.assertEqual(sorted(set(files("tests/system", endings=("_test.py",))) - set(subject.registered_systems())), [])

    def test_the_list_is_complete(self):
        lines = subject.requirements_of(text_of("tests/data/requirements.txt"))
        self.assertEqual(sorted(lines), [*range(1, 114), *range(141, 152)])

    def test_every_line_has_a_test(self):
        lines = subject.requirements_of(text_of("tests/data/requirements.txt"))
        found = subject.faults(lines, subject.claims())
        self.assertEqual(found, [], "\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main()

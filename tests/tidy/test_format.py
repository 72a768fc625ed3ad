"""Every C++ file is as clang-format 14 (Debian 12's) writes it; other versions differ in details and are not asked."""

import re
import shutil
import subprocess
import unittest

from source_tree import CPP, ROOT, files


def formatter() -> str | None:
    for name in ("clang-format-14", "clang-format"):
        if path := shutil.which(name):
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            if re.search(r"version 14\.", version):
                return path
    return None


@unittest.skipUnless(formatter(), "clang-format 14 is not installed")
class Format(unittest.TestCase):
    def check(self, *arguments: str, source: str | None = None) -> subprocess.CompletedProcess:
        command = [formatter(), "--dry-run", "-Werror", "--style=file", *arguments]
        return subprocess.run(command, cwd=ROOT, input=source, capture_output=True, text=True, check=False)

    def test_the_check_sees_a_misformatted_file(self):
        self.assertNotEqual(self.check("--assume-filename=src/core/a.cpp", source="int  f( ){return 1;}\n").returncode, 0)
        self.assertEqual(self.check("--assume-filename=src/core/a.cpp", source="int f() { return 1; }\n").returncode, 0)

    def test_the_sources_are_formatted(self):
        done = self.check(*files("src", "tests", endings=CPP))
        self.assertEqual(done.returncode, 0, "\n" + done.stderr)


if __name__ == "__main__":
    unittest.main()

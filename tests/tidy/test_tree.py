"""The shape of the repository: what lies at the top, and that its two commands can be run."""

import json
import os
import re
import shutil
import subprocess
import unittest

from source_tree import ROOT, files, text_of

TOP_LEVEL = {
    "CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md", "Dockerfile", "LICENSE", "README.md",
    "config", "deploy", "src", "tests",
}
SCRIPTS = ("deploy/quickstart.sh", "deploy/debian.sh", "tests/run.sh", ".ci/run")
VAGUE = re.compile(r"(^|[/_])(utils?|common|helpers?|misc)([/_.]|$)")


def is_made(name: str) -> bool:
    """Hidden files, and folders that a build makes (see .gitignore)."""
    return name.startswith(".") or name == "build" or name.startswith("build-")


class Tree(unittest.TestCase):
    def test_the_top_level_is_exactly_this(self):
        self.assertEqual({name for name in os.listdir(ROOT) if not is_made(name)}, TOP_LEVEL)

    def test_the_commands_can_be_executed(self):
        for path in ("deploy/quickstart.sh", "tests/run.sh", ".ci/run"):
            self.assertTrue(os.access(ROOT / path, os.X_OK), path)

    def test_ci_runs_the_same_command_as_a_developer(self):
        self.assertIn("tests/run.sh", text_of(".ci/run"))

    def test_the_scripts_parse(self):
        for path in SCRIPTS:
            done = subprocess.run(["bash", "-n", str(ROOT / path)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_the_scripts_pass_shellcheck(self):
        done = subprocess.run(["shellcheck", "-x", *SCRIPTS], cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_names_say_what_a_file_is_for(self):
        self.assertTrue(VAGUE.search("src/core/string_utils.hpp"))
        self.assertEqual([path for path in files("src", "tests", "config", "deploy") if VAGUE.search(path)], [])

    def test_the_node_packages_are_locked_without_naming_a_registry(self):
        lock = json.loads(text_of("tests/system/node/package-lock.json"))
        self.assertEqual([name for name, package in lock["packages"].items() if "resolved" in package], [])
        self.assertTrue(all(package.get("integrity") for name, package in lock["packages"].items() if name))


if __name__ == "__main__":
    unittest.main()

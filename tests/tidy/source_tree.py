"""The project's files as the tidy rules see them: which there are, and what a finding looks like."""

import os
import pathlib
from typing import Iterator, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPP = (".cpp", ".hpp")
SKIPPED_FOLDERS = {".git", "build", "node_modules", "__pycache__"}


class Finding(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def files(*folders: str, endings: tuple[str, ...] = ()) -> Iterator[str]:
    """Paths relative to the root, in order, of the files below `folders` (the whole project when none is named)."""
    for folder in folders or (".",):
        for place, below, names in os.walk(ROOT / folder):
            below[:] = sorted(name for name in below if name not in SKIPPED_FOLDERS and not name.startswith("build-"))
            for name in sorted(names):
                if not endings or name.endswith(endings):
                    yield (pathlib.Path(place) / name).relative_to(ROOT).as_posix()


def text_of(path: str) -> str:
    """The file as text; empty for what is not UTF-8 (test data)."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def report(findings: list[Finding]) -> str:
    return "\n" + "\n".join(str(finding) for finding in findings)

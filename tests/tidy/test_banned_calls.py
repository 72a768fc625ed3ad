"""Calls that have cost this kind of program dearly, each with what to use instead."""

import re
import unittest

from cpp_tokens import tokens_of
from source_tree import CPP, Finding, files, report, text_of

EVERYWHERE = r"(src|tests)/"

# Sequence of tokens (joined by spaces), the paths where it is banned, and the replacement.
BANNED = [
    (r"\bdetached\b", r"src/|tests/(?!net/|proxy/|support/)", "a TaskSet: detached tasks have no owner and drop exceptions"),
    (r"\b(enable_)?shared_from_this\b", EVERYWHERE, "one owner, whose scope is the lifetime"),
    (r"\bstd :: regex\b", EVERYWHERE, "RE2, whose time is bounded"),
    # A PostgreSQL that starts has nothing to wait for but an answer: its one poll may pause.
    (r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|(?<!\w )\bsleep \(",
     r"src/|tests/(?!support/store/postgres_server\.cpp)", "waiting for the event itself"),
    (r"\bs?rand \(", EVERYWHERE, "RAND_bytes, or a seeded std::mt19937 in a test"),
    (r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok) \(", EVERYWHERE, "std::string and string_view"),
    (r"\b(atoi|atol|atoll|atof|stoi|stol|stoul|stoull|stod) \(", r"src/", "std::from_chars, which says what went wrong"),
    (r"\b(gmtime|localtime|asctime|ctime) \(", EVERYWHERE, "gmtime_r: the others share a static buffer"),
    (r"\bstd :: endl\b", EVERYWHERE, "'\\n'"),
    (r"\b(popen|tmpnam|mktemp) \(|\bstd :: system \(", r"src/", "no shell, and mkstemp for files"),
    (r"\bgetenv \(", r"src/(?!config/|app/|net/body_spill\.cpp)", "the configuration: apart from TMPDIR, the environment is read there alone"),
    (r"\b(system_clock|steady_clock|high_resolution_clock) :: now\b|\btime \( (nullptr|NULL|0) \)", r"src/(core|config)/",
     "a time given as an argument: core reads no clock"),
    (r"\bstd :: (cout|cerr|clog)\b|(?<!\w )\bf?printf \(", r"src/(?!app/)", "the log or stream that was passed in"),
    # `owner_(new Thing)` is taken over at once, and is the only way to a private constructor.
    (r"(?<!\( )\bnew (?!\()[A-Za-z_:]|\bdelete (?!;)[A-Za-z_*(]", r"src/", "std::make_unique"),
]
# Inside a function it harms nobody, so only what begins its line.
USING_IN_A_HEADER = re.compile(r"^using namespace\b")
PYTHON_SLEEP = re.compile(r"\btime\.sleep\(")
# The one place in Python that may pause between two looks at something that cannot announce itself.
PYTHON_SLEEP_ALLOWED = re.compile(r"tests/(system|store|support)/(.*/)?wait\w*\.py$")


def cpp_findings(path: str, source: str) -> list[Finding]:
    found = []
    tokens = [token for token in tokens_of(source) if token.kind != "string"]
    words, lines = [], []
    for token in tokens:
        lines.extend([token.line] * (len(token.text) + 1))
        words.append(token.text)
    text = " ".join(words) + " "
    for pattern, places, instead in BANNED:
        if re.match(places, path):
            for match in re.finditer(pattern, text):
                found.append(Finding(path, lines[match.start()], f"'{match.group().strip()}': use {instead}"))
    for number, line in enumerate(source.splitlines(), 1):
        if path.endswith(".hpp") and USING_IN_A_HEADER.match(line):
            found.append(Finding(path, number, "using namespace in a header: use an alias, or using inside a function"))
    return found


def python_findings(path: str, source: str) -> list[Finding]:
    if PYTHON_SLEEP_ALLOWED.match(path):
        return []
    return [
        Finding(path, number, "a sleep: wait for the event itself")
        for number, line in enumerate(source.splitlines(), 1)
        if PYTHON_SLEEP.search(line)
    ]


class BannedCalls(unittest.TestCase):
    def banned(self, path: str, source: str) -> int:
        return len(cpp_findings(path, source))

    def test_the_rule_sees_each_banned_call(self):
        for sample in (
            "co_spawn(ex, f(), asio::detached);",
            "struct A : std::enable_shared_from_this<A> {};",
            "std::regex r(p);",
            "std::this_thread::sleep_for(1s);",
            "sleep(1);",
            "srand(1);",
            "sprintf(b, f);",
            "int n = std::stoi(s);",
            "auto t = gmtime(&now);",
            "out << std::endl;",
            "getenv(name);",
            "std::cerr << x;",
            "auto* p = new Thing();",
            "delete p;",
        ):
            self.assertEqual(self.banned("src/proxy/a.cpp", sample), 1, sample)
        self.assertEqual(self.banned("src/core/a.cpp", "auto t = std::chrono::system_clock::now();"), 1)
        self.assertEqual(self.banned("src/core/a.hpp", "using namespace std;"), 1)
        self.assertEqual(len(python_findings("tests/system/a.py", "time." + "sleep(1)\n")), 1)

    def test_the_rule_leaves_innocent_code_alone(self):
        for sample in (
            "// detached, std::regex, sleep(1)",
            'log("detached sleep(1)");',
            "A(const A&) = delete;",
            "void* operator new(std::size_t);",
            "std::shared_ptr<const A> a(new A(b));",
            "timer.sleep_count(3);",
        ):
            self.assertEqual(self.banned("src/proxy/a.cpp", sample), 0, sample)

    def test_the_sources_call_nothing_banned(self):
        found = [f for path in files("src", "tests", endings=CPP) for f in cpp_findings(path, text_of(path))]
        found += [f for path in files("tests", endings=(".py",)) for f in python_findings(path, text_of(path))]
        self.assertEqual(found, [], report(found))


if __name__ == "__main__":
    unittest.main()

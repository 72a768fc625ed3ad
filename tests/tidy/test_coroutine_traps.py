"""GCC 12 miscompiles some expressions around co_await, silently: a temporary is destroyed twice, or a frame's own memory is freed.

In one statement with co_await there must be no braced aggregate temporary, no lambda that captures by value, and no conditional
whose branches make temporaries as an argument, nor a member of an awaited temporary, `(co_await x).y`. Named locals and std::move are safe. (A class with a constructor would be safe in
braces too, but the rule cannot tell it from an aggregate: write it with parentheses.)
"""

import re
import unittest
from typing import Iterator

from cpp_tokens import Token, brace_kind, matching, tokens_of
from source_tree import CPP, Finding, files, report, text_of

CONTROL = {"if", "while", "for", "switch"}
# Value types of the standard library whose braces construct and do not aggregate.
SAFE_IN_BRACES = {"milliseconds", "seconds", "microseconds", "string", "string_view", "error_code"}


def statements(tokens: list[Token]) -> Iterator[list[Token]]:
    """Each statement's own tokens: a lambda's body inside it is left out, being statements of its own."""
    yield from _statements(tokens, 0, len(tokens))


def _statements(tokens: list[Token], at: int, end: int) -> Iterator[list[Token]]:
    own: list[Token] = []
    depth = 0
    while at < end:
        text = tokens[at].text
        if text == "{" and brace_kind(tokens, at) != "list":
            close = matching(tokens, at)
            yield from _statements(tokens, at + 1, close)
            if depth == 0:  # the body of a function, a class or a control statement
                yield own
                own = []
            at = close + 1
            continue
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(text, 0)
        if text == ";" and depth == 0:
            yield own
            own = []
        else:
            own.append(tokens[at])
        at += 1
        if text == ")" and depth == 0 and _is_control_head(own):
            yield own
            own = []
    yield own


def _is_control_head(own: list[Token]) -> bool:
    """`if (...)` and its like are statements of their own: what follows is another."""
    words = [token.text for token in own[:3]]
    if words[:1] == ["else"]:
        words = words[1:]
    return bool(words) and words[0] in CONTROL


def trap_findings(path: str, source: str) -> list[Finding]:
    found = []
    for own in statements(tokens_of(source)):
        if any(token.text == "co_await" for token in own):
            found += [Finding(path, line, f"{what} in one statement with co_await: name it first") for line, what in _traps(own)]
    return found


def _traps(own: list[Token]) -> Iterator[tuple[int, str]]:
    for at, token in enumerate(own):
        before = own[at - 1].text if at > 0 else ""
        if token.text == "{" and before not in SAFE_IN_BRACES:
            yield token.line, f"'{before}{{...}}'"
        if token.text == "[" and _opens_a_lambda(before) and _captures_by_value(own, at):
            yield token.line, "a lambda that captures by value"
        if token.text == "co_await" and before == "(" and _member_of_result(own, at - 1):
            yield token.line, "a member of an awaited temporary"
        if token.text == "?" and _inside_a_call(own, at) and _makes_a_temporary(own, at):
            yield token.line, "a conditional with a temporary"


def _member_of_result(own: list[Token], opening: int) -> bool:
    """`(co_await x).member`: met in a loop's condition, where the rest of the frame was overwritten."""
    after = matching(own, opening) + 1
    return after < len(own) and own[after].text in (".", "->")


def _opens_a_lambda(before: str) -> bool:
    return before in ("co_await", "co_return", "return") or not re.match(r"\w|[\])>]", before)


def _captures_by_value(own: list[Token], at: int) -> bool:
    captures, depth = [[]], 0
    for token in own[at + 1 : matching(own, at)]:
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(token.text, 0)
        if token.text == "," and depth == 0:
            captures.append([])
        else:
            captures[-1].append(token.text)
    return any(words and words[0] not in ("&", "this") for words in captures)


def _inside_a_call(own: list[Token], at: int) -> bool:
    depth = 0
    for index in range(at - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(own[index].text, 0)
        if depth < 0:
            return bool(re.match(r"(\w+|>|\))$", own[index - 1].text)) and own[index - 1].text not in CONTROL | {"co_await"}
    return False


def _makes_a_temporary(own: list[Token], at: int) -> bool:
    depth = 0
    for token in own[at + 1 :]:
        if token.text in "([{" or token.kind == "string":
            return True
        depth -= token.text == ")"
        if depth < 0 or token.text == ",":
            return False
    return False


class CoroutineTraps(unittest.TestCase):
    def traps(self, body: str) -> int:
        source = f"awaitable<void> Thing::run(int n) const {{\n{body}\n}}\n"
        return len(trap_findings("src/net/a.cpp", source))

    def test_the_rule_sees_the_expressions_that_gcc_12_gets_wrong(self):
        for bad in (
            "co_await f(Agg{s, 3});",
            "while ((co_await state()).cancelled() == none) { work(); }",
            "auto x = co_await f(ns::Agg{.a = s});",
            "auto x = Agg{co_await f(), 1};",
            "co_return Agg{co_await f(), 1};",
            "co_await f({s, 3});",
            "if (co_await f(Agg{s})) g();",
            "while (true) {\n if (co_await f(Agg{s}) == 1) { g(); } }",
            "co_await co_spawn(ex, [p = std::move(p)]() -> awaitable<void> { co_await g(p); }, token);",
            "co_await f([x](int y) { return x + y; });",
            "co_await f([=] { g(); });",
            "co_await [p]() -> awaitable<void> { co_return; }();",
            'co_await f(cond ? std::string("a") : name);',
            'co_await f(1, cond ? name : "a");',
        ):
            self.assertEqual(self.traps(bad), 1, bad)

    def test_the_rule_accepts_what_is_safe(self):
        for good in (
            "Agg agg{s, 3}; co_await f(std::move(agg));",
            "co_await f(Thing(s, 3), make(s));",
            "co_return Agg{s, 1};",
            "co_await f([&](int y) { Agg a{y}; return a; });",
            "co_await f([&x, this] { g(); });",
            "auto [a, b] = co_await f(list[0]);",
            "for (const auto& x : {1, 2}) { co_await f(x); }",
            "if (a) { b = Agg{1}; } else { co_await f(); }",
            "if (co_await f()) use(Agg{1});",
            "co_await f(last ? Persistence::close : Persistence::keep_alive);",
            "spawn([p = std::move(p)]() mutable -> awaitable<void> { co_await g(p); });",
        ):
            self.assertEqual(self.traps(good), 0, good)

    def test_the_sources_and_tests_hold_none(self):
        found = [f for path in files("src", "tests", endings=CPP) for f in trap_findings(path, text_of(path))]
        self.assertEqual(found, [], report(found))


if __name__ == "__main__":
    unittest.main()

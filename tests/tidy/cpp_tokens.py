"""C++ source as tokens with line numbers, without comments and preprocessor lines, and what its braces open.

No parser: just enough structure for rules about statements and functions.
"""

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"""
      (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
    | (?P<raw>R"(?P<fence>[^()\s\\]*)\(.*?\)(?P=fence)")
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<word>[A-Za-z_]\w*)
    | (?P<number>\d(?:[\w.]|'\d)*)
    | (?P<sign>::|->|\[\[|\]\]|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
KEPT = ("raw", "string", "word", "number", "sign")


class Token(NamedTuple):
    text: str
    line: int
    kind: str


def tokens_of(source: str) -> list[Token]:
    found, line, at = [], 1, 0
    for match in TOKEN.finditer(source):
        line += source.count("\n", at, match.start())
        at = match.start()
        kind = next(name for name in ("comment", "directive", *KEPT) if match.group(name) is not None)
        if kind in KEPT:
            found.append(Token(match.group(), line, "string" if kind == "raw" else kind))
    return found


BEFORE_A_BLOCK = {")", "}", ";", "{", ":", "else", "do", "try", "const", "noexcept", "override", "final", "mutable", "]"}
SCOPE_WORDS = {"namespace", "class", "struct", "union", "enum", "extern"}


def brace_kind(tokens: list[Token], at: int) -> str:
    """What the brace at `at` opens: 'scope' (namespace, class), 'block' (statements) or 'list' (initialisation)."""
    header = _header(tokens, at)
    if header and any(word in SCOPE_WORDS for word in header) and ")" not in header[-1:]:
        if "(" not in header and "=" not in header:
            return "scope"
    if at == 0 or tokens[at - 1].text in BEFORE_A_BLOCK:
        return "block"
    if "->" in header and _is_type(header[len(header) - 1 - header[::-1].index("->") + 1 :]):
        return "block"
    return "list"


def _header(tokens: list[Token], at: int) -> list[str]:
    """The words from the last statement end up to the brace, template parameter lists left out."""
    start = at
    while start > 0 and tokens[start - 1].text not in ("{", "}", ";"):
        start -= 1
    words = [token.text for token in tokens[start:at]]
    while "template" in words:
        opening = words.index("template")
        depth = 0
        for end in range(opening + 1, len(words)):
            depth += {"<": 1, ">": -1}.get(words[end], 0)
            if depth == 0:
                break
        else:
            return words
        del words[opening : end + 1]
    return words


def _is_type(words: list[str]) -> bool:
    return bool(words) and all(re.fullmatch(r"\w+|::|<|>|,|\*|&", word) for word in words)


def matching(tokens: list[Token], at: int) -> int:
    """Index of the token that closes the bracket at `at`."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    opening, closing, depth = tokens[at].text, pairs[tokens[at].text], 0
    for index in range(at, len(tokens)):
        depth += {opening: 1, closing: -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index
    return len(tokens) - 1

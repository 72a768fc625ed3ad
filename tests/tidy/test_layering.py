"""Who may include whom: the arrows of src/ARCHITECTURE.md, and the libraries that belong to one place each."""

import re
import unittest

from source_tree import CPP, Finding, files, report, text_of

BELOW_PROXY = {"core", "config", "async", "store", "net"}
MAY_INCLUDE = {
    "core": {"core"},
    "config": {"core", "config"},
    "async": {"core", "async"},
    "store": {"core", "async", "store"},
    "net": {"core", "async", "net"},
    "proxy": BELOW_PROXY | {"proxy"},
    "admin": BELOW_PROXY | {"proxy", "admin"},
    "app": BELOW_PROXY | {"proxy", "admin", "app"},
}

# Library: the only paths under src/ that may name it.
LIBRARY_PLACES = {
    r"libpq-fe\.h|libpq/|postgres_ext\.h": r"src/store/postgres/",
    r"sqlite3\.h": r"src/store/sqlite/",
    r"boost/asio": r"src/(async|store|net|proxy|admin|app|boost_impl\.cpp|pch\.cpp)",
    r"yaml-cpp/": r"src/config/",
    r"spdlog/": r"src/(proxy/(access_log|program_log)\.|app/)",
    r"prometheus/": r"src/(proxy/metrics\.|app/)",
    r"CLI/": r"src/app/",
    r"re2/": r"src/core/",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def layering_findings(path: str, source: str) -> list[Finding]:
    found = []
    parts = path.split("/")
    layer = parts[1] if len(parts) > 2 else ""
    for number, line in enumerate(source.splitlines(), 1):
        include = INCLUDE.match(line)
        if not include:
            continue
        target = include.group(2)
        other = target.split("/")[0]
        if include.group(1) == '"' and layer in MAY_INCLUDE and "/" in target and other not in MAY_INCLUDE[layer]:
            found.append(Finding(path, number, f"{layer} must not include {target}"))
        for library, places in LIBRARY_PLACES.items():
            if re.match(library, target) and not re.match(places, path):
                found.append(Finding(path, number, f"{target} belongs to {places} alone"))
    return found


class Layering(unittest.TestCase):
    def test_the_rule_sees_an_arrow_that_points_up(self):
        self.assertEqual(len(layering_findings("src/core/decide.cpp", '#include "store/store.hpp"\n')), 1)
        self.assertEqual(len(layering_findings("src/net/stream.cpp", '#include "store/store.hpp"\n')), 1)
        self.assertEqual(layering_findings("src/proxy/exchange.cpp", '#include "store/store.hpp"\n'), [])

    def test_the_rule_sees_a_library_out_of_its_place(self):
        self.assertEqual(len(layering_findings("src/store/batcher.cpp", "#include <libpq-fe.h>\n")), 1)
        self.assertEqual(len(layering_findings("src/core/scope.hpp", "#include <boost/asio/post.hpp>\n")), 1)
        self.assertEqual(layering_findings("src/store/postgres/pg_handle.hpp", "#include <libpq-fe.h>\n"), [])

    def test_every_layer_is_known(self):
        layers = {path.split("/")[1] for path in files("src", endings=CPP) if path.count("/") > 1}
        self.assertEqual(layers - MAY_INCLUDE.keys(), set())

    def test_the_sources_keep_the_arrows(self):
        found = [f for path in files("src", endings=CPP) for f in layering_findings(path, text_of(path))]
        self.assertEqual(found, [], report(found))


if __name__ == "__main__":
    unittest.main()

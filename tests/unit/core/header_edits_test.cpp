// A route's edits of header fields.

#include "core/header_edits.hpp"

#include <catch2/catch.hpp>

using namespace oncegate::core;

TEST_CASE("edits remove every line of a name and set one in the place of all") {
    Fields fields{{"Server", "x"}, {"Set-Cookie", "a"}, {"set-cookie", "b"}, {"X-From", "client"}, {"x-from", "other"}};
    apply({{{"X-From", "edge"}, {"X-New", ""}}, {"SERVER", "Set-Cookie", "X-None"}}, fields);
    CHECK(fields == Fields{{"X-From", "edge"}, {"X-New", ""}});
}

TEST_CASE("no edits change nothing") {
    const Fields before{{"A", "b"}, {"a", "c"}};
    Fields fields = before;
    CHECK(HeaderEdits{}.empty());
    apply(HeaderEdits{}, fields);
    CHECK(fields == before);
}

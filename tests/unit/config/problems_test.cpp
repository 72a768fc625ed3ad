#include "config/problems.hpp"

#include <catch2/catch.hpp>

using namespace oncegate::config;

TEST_CASE("the nearest known name is offered or the few that there are") {
    const std::vector<std::string> known{"request_body", "request_head", "threads"};
    CHECK(name_hint("reqest_body", known) == "; did you mean 'request_body'?");
    CHECK(name_hint("theads", known) == "; did you mean 'threads'?");
    CHECK(name_hint("thraeds", known) == "; did you mean 'threads'?");
    CHECK(name_hint("colour", known) == "; expected one of request_body, request_head, threads");
    CHECK(name_hint("x", {"only"}) == "; expected only");
    CHECK(name_hint("x", {}).empty());
    CHECK(name_hint(std::string(100'000, 'a'), known) == "; expected one of request_body, request_head, threads");
}

TEST_CASE("errors come in the file's order and once each") {
    Problems problems;
    problems.add(Place{2, 5}, "b");
    problems.add(Place{1, 9}, "c");
    problems.add(Place{2, 5}, "b");
    problems.add(Place{2, 5}, "a");
    problems.mute(Place{3, 1});
    problems.add(Place{3, 1}, "only repeats what is said");
    const auto errors = problems.sorted("f.yaml");
    REQUIRE(errors.size() == 3);
    CHECK(errors[0].text() == "f.yaml:1:9: c");
    CHECK(errors[1].text() == "f.yaml:2:5: a");
    CHECK(errors[2].text() == "f.yaml:2:5: b");
    CHECK(problems.count() == 5);
}

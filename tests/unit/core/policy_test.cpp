#include "core/policy.hpp"

#include <catch2/catch.hpp>

using oncegate::core::Policy;
using oncegate::core::StatusSet;

TEST_CASE("a status set is described by the shortest list of numbers and ranges", "[R91]") {
    CHECK(StatusSet{}.describe().empty());
    CHECK(StatusSet{404}.describe() == "404");
    CHECK(StatusSet{308, 307}.describe() == "307, 308");
    CHECK(StatusSet{307, 308}.add(500, 599).describe() == "307, 308, 500-599");
    CHECK(StatusSet{200, 201, 202, 204}.describe() == "200-202, 204");
    CHECK(StatusSet{100, 599}.describe() == "100, 599");
    CHECK(StatusSet().add(100, 599).describe() == "100-599");
}

TEST_CASE("the status table has the documented defaults", "[R91][R144]") {
    const Policy policy;
    CHECK(policy.record.free_statuses.describe() == "307, 308, 401, 403, 407-409, 421, 423, 425, 429, 503");
    CHECK(policy.record.unknown_statuses.describe() == "502, 504");
    CHECK(!policy.record.free_statuses.overlaps(policy.record.unknown_statuses));
    CHECK(!policy.record.free_statuses.contains(500));
    CHECK(!policy.record.free_statuses.contains(303));
}

TEST_CASE("a status outside the range of HTTP is in no set") {
    const auto all = StatusSet().add(100, 599);
    CHECK(!all.contains(-1));
    CHECK(!all.contains(99));
    CHECK(!all.contains(600));
    CHECK(!all.contains(1'000'000));
}

TEST_CASE("two status sets overlap when they share a status") {
    CHECK(StatusSet{502, 504}.overlaps(StatusSet().add(500, 502)));
    CHECK(!StatusSet{502}.overlaps(StatusSet{503}));
    CHECK(!StatusSet{}.overlaps(StatusSet{503}));
}

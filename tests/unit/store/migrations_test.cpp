// The embedded schema steps.
#include "store/migrations.hpp"

#include <catch2/catch.hpp>

namespace oncegate::store {
namespace {

TEST_CASE("both schemas have the same number of steps counted from one") {
    CHECK(postgres_migrations().size() == sqlite_migrations().size());
    for (const auto steps : {postgres_migrations(), sqlite_migrations()}) {
        int expected = 1;
        for (const auto& step : steps) {
            CHECK(step.version == expected++);
            CHECK_FALSE(step.name.empty());
            CHECK(step.sql.find("CREATE TABLE") != std::string_view::npos);
        }
    }
}

TEST_CASE("a schema that does not fit says what to do") {
    CHECK(schema_complaint(1, 1).empty());
    CHECK(schema_complaint(0, 1) == "the store has no schema yet: run `oncegate migrate`");
    CHECK(schema_complaint(1, 2).find("run `oncegate migrate`") != std::string::npos);
    CHECK(schema_complaint(3, 2).find("newer oncegate") != std::string::npos);
}

}  // namespace
}  // namespace oncegate::store

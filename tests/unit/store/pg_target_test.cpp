// A connection URL taken apart into servers.
#include "store/postgres/pg_target.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace oncegate::store {
namespace {

std::string value_of(const PgKeywords& keywords, const std::string& name) {
    std::string value = "(none)";
    for (const auto& [keyword, its_value] : keywords)
        if (keyword == name) value = its_value;
    return value;
}

TEST_CASE("every host of a URL is a server with its port") {
    const auto servers = pg_servers("postgresql://user@h1:5433,h2:5434/db?target_session_attrs=read-write");
    REQUIRE(servers.size() == 2);
    CHECK(servers[0].resolve == "h1");
    CHECK(servers[0].port == "5433");
    CHECK(servers[1].resolve == "h2");
    CHECK(value_of(servers[1].keywords, "host") == "h2");
    CHECK(value_of(servers[1].keywords, "port") == "5434");
    CHECK(value_of(servers[1].keywords, "dbname") == "db");
    CHECK(value_of(servers[1].keywords, "user") == "user");
    CHECK(value_of(servers[1].keywords, "target_session_attrs") == "read-write");
    CHECK(value_of(servers[1].keywords, "client_encoding") == "UTF8");
}

TEST_CASE("one port serves all hosts") {
    const auto servers = pg_servers("host=h1,h2,h3 port=6000 dbname=db");
    REQUIRE(servers.size() == 3);
    CHECK(value_of(servers[2].keywords, "port") == "6000");
}

TEST_CASE("addresses and socket folders are not resolved") {
    CHECK(pg_servers("postgresql://127.0.0.1/db")[0].resolve.empty());
    CHECK(pg_servers("postgresql://[::1]/db")[0].resolve.empty());
    CHECK(pg_servers("postgresql:///db?host=/run/postgresql")[0].resolve.empty());
    CHECK(pg_servers("host=name hostaddr=127.0.0.1")[0].resolve.empty());
}

TEST_CASE("a URL without a host leaves it to libpq") {
    const auto servers = pg_servers("postgresql:///db");
    REQUIRE(servers.size() == 1);
    CHECK(servers[0].resolve.empty());
    CHECK(value_of(servers[0].keywords, "host") == "(none)");
}

TEST_CASE("what cannot be parsed is refused at the start") {
    CHECK_THROWS_AS(pg_servers("postgresql://h/db?no_such_option=1"), std::invalid_argument);
    CHECK_THROWS_AS(pg_servers("host=h1,h2,h3 port=1,2"), std::invalid_argument);
}

}  // namespace
}  // namespace oncegate::store

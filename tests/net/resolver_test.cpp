#include "net/resolver.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>

#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using test::run;

TEST_CASE("a literal address needs no look-up") {
    asio::io_context io;
    net::Resolver resolver(io.get_executor());
    const auto v4 = run(io, resolver.resolve("127.0.0.1", 0ms));
    REQUIRE(v4.has_value());
    CHECK(v4->at(0) == asio::ip::make_address("127.0.0.1"));
    const auto v6 = run(io, resolver.resolve("::1", 0ms));
    REQUIRE(v6.has_value());
    CHECK(v6->at(0) == asio::ip::make_address("::1"));
}

TEST_CASE("a name is looked up once while its answer is fresh") {
    asio::io_context io;
    net::Resolver resolver(io.get_executor(), 1h);
    const auto first = run(io, resolver.resolve("localhost", 10s));
    REQUIRE(first.has_value());
    CHECK(first->at(0).is_loopback());
    // No time for a look-up: the answer was kept.
    const auto kept = run(io, resolver.resolve("localhost", 0ms));
    REQUIRE(kept.has_value());
    CHECK(*kept == *first);
}

TEST_CASE("several askers of one name get the same answer") {
    asio::io_context io;
    net::Resolver resolver(io.get_executor());
    int answered = 0;
    const auto ask = [&]() -> asio::awaitable<void> {
        const auto answer = co_await resolver.resolve("localhost", 10s);
        if (answer.has_value()) ++answered;
    };
    std::exception_ptr escaped;
    for (int i = 0; i < 5; ++i) asio::co_spawn(io, ask(), [&](const std::exception_ptr& error) { escaped = error; });
    test::run_until(io, [&] { return answered == 5; });
    CHECK_FALSE(escaped);
}

TEST_CASE("an asker who gives up leaves the look-up to the next") {
    asio::io_context io;
    net::Resolver resolver(io.get_executor(), 1h);
    const auto late = run(io, resolver.resolve("localhost", 0ms));
    if (!late.has_value()) CHECK(late.error() == asio::error::timed_out);
    const auto answer = run(io, resolver.resolve("localhost", 10s));
    CHECK(answer.has_value());
}

TEST_CASE("a resolver may go while a look-up is under way") {
    asio::io_context io;
    {
        net::Resolver resolver(io.get_executor());
        const auto late = run(io, resolver.resolve("localhost", 0ms));
        static_cast<void>(late);
    }
    io.restart();
    io.run();
}

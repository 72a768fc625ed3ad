#include "net/resolver.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>

#include "support/net/fake_names.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::Resolver;
using test::FakeNames;
using test::run;

namespace {

std::string text(const boost::system::result<Resolver::Addresses, net::error_code>& answer) {
    if (!answer.has_value()) return answer.error() == asio::error::timed_out ? "timed out" : "failed";
    std::string text;
    for (const auto& address : *answer) text += (text.empty() ? "" : " ") + address.to_string();
    return text;
}

}  // namespace

TEST_CASE("a literal address needs no look-up") {
    asio::io_context io;
    FakeNames names(io);
    Resolver resolver(io.get_executor(), 5s, names.look_up());
    CHECK(text(run(io, resolver.resolve("127.0.0.1", 0ms))) == "127.0.0.1");
    CHECK(text(run(io, resolver.resolve("::1", 0ms))) == "::1");
    CHECK(resolver.known("127.0.0.1") == nullptr);
    CHECK(resolver.known("::1") == nullptr);
    CHECK(names.asked() == 0);
}

TEST_CASE("the system is asked unless a test answers") {
    asio::io_context io;
    Resolver resolver(io.get_executor());
    const auto answer = run(io, resolver.resolve("localhost", 10s));
    REQUIRE(answer.has_value());
    CHECK(answer->at(0).is_loopback());
}

TEST_CASE("a name is looked up once while its answer is fresh, and again afterwards") {
    asio::io_context io;
    FakeNames names(io, {"127.0.0.1"});
    Resolver lasting(io.get_executor(), 1h, names.look_up());
    CHECK(text(run(io, lasting.resolve("app", 10s))) == "127.0.0.1");
    CHECK(text(run(io, lasting.resolve("app", 0ms))) == "127.0.0.1");
    CHECK(names.asked() == 1);

    Resolver fleeting(io.get_executor(), 0ms, names.look_up());
    CHECK(text(run(io, fleeting.resolve("app", 10s))) == "127.0.0.1");
    names.answer({"127.0.0.2"});
    CHECK(text(run(io, fleeting.resolve("app", 10s))) == "127.0.0.2");
}

TEST_CASE("several askers of one name get the same answer from one look-up") {
    asio::io_context io;
    FakeNames names(io, {"127.0.0.1"});
    Resolver resolver(io.get_executor(), 5s, names.look_up());
    int answered = 0;
    const auto ask = [&]() -> asio::awaitable<void> {
        const auto answer = co_await resolver.resolve("app", 10s);
        if (answer.has_value()) ++answered;
    };
    std::exception_ptr escaped;
    for (int i = 0; i < 5; ++i) asio::co_spawn(io, ask(), [&](const std::exception_ptr& error) { escaped = error; });
    test::run_until(io, [&] { return answered == 5; });
    CHECK_FALSE(escaped);
    CHECK(names.asked() == 1);
}

TEST_CASE("an asker who gives up leaves the look-up to the next") {
    asio::io_context io;
    FakeNames names(io, {"127.0.0.1"});
    names.hold();
    Resolver resolver(io.get_executor(), 1h, names.look_up());
    CHECK(text(run(io, resolver.resolve("app", 0ms))) == "timed out");
    names.release();
    CHECK(text(run(io, resolver.resolve("app", 10s))) == "127.0.0.1");
    CHECK(names.asked() == 1);
}

TEST_CASE("a resolver may go while a look-up is under way") {
    asio::io_context io;
    {
        Resolver resolver(io.get_executor());
        const auto late = run(io, resolver.resolve("localhost", 0ms));
        static_cast<void>(late);
    }
    io.restart();
    io.run();
}

TEST_CASE("the addresses of a name take turns at being first") {
    asio::io_context io;
    FakeNames names(io, {"127.0.0.1", "127.0.0.2", "127.0.0.3"});
    Resolver resolver(io.get_executor(), 1h, names.look_up());
    CHECK(text(run(io, resolver.resolve("app", 10s))) == "127.0.0.1 127.0.0.2 127.0.0.3");
    CHECK(text(run(io, resolver.resolve("app", 10s))) == "127.0.0.2 127.0.0.3 127.0.0.1");
    CHECK(text(run(io, resolver.resolve("app", 10s))) == "127.0.0.3 127.0.0.1 127.0.0.2");
}

TEST_CASE("an address set aside comes last") {
    asio::io_context io;
    FakeNames names(io, {"127.0.0.1", "127.0.0.2"});
    Resolver resolver(io.get_executor(), 1h, names.look_up());
    CHECK(text(run(io, resolver.resolve("app", 10s))) == "127.0.0.1 127.0.0.2");
    resolver.set_aside("app", asio::ip::make_address("127.0.0.2"));
    for (int i = 0; i < 3; ++i) CHECK(text(run(io, resolver.resolve("app", 10s))) == "127.0.0.1 127.0.0.2");
    // All of them set aside are tried all the same.
    resolver.set_aside("app", asio::ip::make_address("127.0.0.1"));
    CHECK(text(run(io, resolver.resolve("app", 10s))).size() == std::string("127.0.0.1 127.0.0.2").size());
}

TEST_CASE("what is repeated or mapped from IPv4 counts once") {
    asio::io_context io;
    FakeNames names(io, {"127.0.0.1", "::ffff:127.0.0.1", "127.0.0.1"});
    Resolver resolver(io.get_executor(), 1h, names.look_up());
    CHECK(text(run(io, resolver.resolve("app", 10s))) == "127.0.0.1");
}

TEST_CASE("a version changes only with the set of addresses") {
    asio::io_context io;
    FakeNames names(io, {"127.0.0.1", "127.0.0.2"});
    Resolver resolver(io.get_executor(), 0ms, names.look_up());
    const auto* known = resolver.known("app");
    REQUIRE(known != nullptr);
    CHECK(known->version() == 0);
    run(io, resolver.resolve("app", 10s));
    const auto first = known->version();
    CHECK(first != 0);
    CHECK(known->covers("127.0.0.2"));
    CHECK_FALSE(known->covers("127.0.0.3"));

    names.answer({"127.0.0.2", "127.0.0.1"});
    run(io, resolver.resolve("app", 10s));
    CHECK(known->version() == first);

    names.answer({"127.0.0.1", "127.0.0.3"});
    run(io, resolver.resolve("app", 10s));
    CHECK(known->version() != first);
    CHECK_FALSE(known->covers("127.0.0.2"));
    CHECK(known->covers("127.0.0.3"));
}

TEST_CASE("a look-up that fails or stays away changes nothing while there is an answer") {
    asio::io_context io;
    FakeNames names(io, {"127.0.0.1"});
    Resolver resolver(io.get_executor(), 0ms, names.look_up());
    run(io, resolver.resolve("app", 10s));
    const auto version = resolver.known("app")->version();

    names.answer({});
    CHECK(text(run(io, resolver.resolve("app", 10s))) == "127.0.0.1");
    names.hold();
    CHECK(text(run(io, resolver.resolve("app", 20ms))) == "127.0.0.1");
    CHECK(resolver.known("app")->version() == version);

    Resolver fresh(io.get_executor(), 0ms, names.look_up());
    names.release();
    CHECK(text(run(io, fresh.resolve("app", 10s))) == "failed");
}

TEST_CASE("a refresh looks the name up without anyone waiting") {
    asio::io_context io;
    FakeNames names(io, {"127.0.0.1"});
    Resolver resolver(io.get_executor(), 1h, names.look_up());
    run(io, resolver.resolve("app", 10s));
    names.answer({"127.0.0.2"});
    names.hold();
    const auto asked_at = resolver.known("app")->asked_at();
    resolver.refresh("app");
    resolver.refresh("app");
    CHECK(names.asked() == 2);
    CHECK(resolver.known("app")->asked_at() >= asked_at);
    CHECK(text(run(io, resolver.resolve("app", 0ms))) == "127.0.0.1");
    names.release();
    test::run_until(io, [&] { return resolver.known("app")->covers("127.0.0.2"); });
    CHECK(text(run(io, resolver.resolve("app", 0ms))) == "127.0.0.2");
}

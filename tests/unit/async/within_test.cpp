#include "async/within.hpp"

#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>

#include "async/one_shot.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using test::run;

namespace {

asio::awaitable<int> answer() {
    co_await asio::post(asio::use_awaitable);
    co_return 42;
}

asio::awaitable<int> never(bool& ended) {
    asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    ended = true;
    co_return 1;
}

}  // namespace

TEST_CASE("an operation that ends in time gives its result") {
    asio::io_context io;
    CHECK(run(io, async::within(10s, answer())) == 42);
}

TEST_CASE("an operation that is too late has ended when the limit is reported") {
    asio::io_context io;
    bool ended = false;
    CHECK(run(io, async::within(10ms, never(ended))) == std::nullopt);
    CHECK(ended);
}

TEST_CASE("a value set before the wait is there at once") {
    asio::io_context io;
    async::OneShot<int> shot(io.get_executor());
    shot.set(3);
    shot.set(4);
    CHECK(run(io, shot.get_within(0ms)) == 3);
}

TEST_CASE("a value may come after a wait for it gave up") {
    asio::io_context io;
    async::OneShot<int> shot(io.get_executor());
    CHECK(run(io, shot.get_within(5ms)) == std::nullopt);
    asio::post(io, [&] { shot.set(5); });
    CHECK(run(io, shot.get()) == 5);
}

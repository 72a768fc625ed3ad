#include "async/offload.hpp"

#include <pthread.h>

#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <catch2/catch.hpp>
#include <future>
#include <stdexcept>
#include <thread>

#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using test::run;

namespace {

asio::awaitable<std::thread::id> thread_after(async::BlockingThread& blocking) {
    auto call = [] { return 1; };
    co_await blocking.run(std::move(call));
    co_return std::this_thread::get_id();
}

/// Holds the thread until the promise is kept.
struct Hold {
    std::shared_future<void> released;
    int operator()() const {
        released.wait();
        return 9;
    }
};

}  // namespace

TEST_CASE("a blocking call runs on the named thread and its result comes back to the caller's") {
    asio::io_context io;
    async::BlockingThread blocking("oncegate-files");
    auto name = [] {
        std::array<char, 16> text{};
        pthread_getname_np(pthread_self(), text.data(), text.size());
        return std::string(text.data());
    };
    CHECK(run(io, blocking.run(name)) == "oncegate-files");
    CHECK(run(io, thread_after(blocking)) == std::this_thread::get_id());
}

TEST_CASE("an exception of a blocking call reaches the caller") {
    asio::io_context io;
    async::BlockingThread blocking("blocking");
    auto broken = []() -> int { throw std::runtime_error("disk gone"); };
    CHECK_THROWS_WITH(run(io, blocking.run(broken)), "disk gone");
}

TEST_CASE("move-only calls and results pass through") {
    asio::io_context io;
    async::BlockingThread blocking("blocking");
    auto call = [owned = std::make_unique<int>(5)]() mutable { return std::move(owned); };
    const auto result = run(io, blocking.run(std::move(call)));
    CHECK(*result == 5);
}

TEST_CASE("a cancelled caller returns while the call is still running") {
    asio::io_context io;
    async::BlockingThread blocking("blocking");
    std::promise<void> release;
    asio::cancellation_signal stop;
    bool ended = false;
    std::exception_ptr escaped;
    Hold hold{release.get_future().share()};
    auto on_end = [&](std::exception_ptr error, int) {
        escaped = error;
        ended = true;
    };
    asio::co_spawn(io, blocking.run(hold), asio::bind_cancellation_slot(stop.slot(), on_end));
    asio::post(io, [&] { stop.emit(asio::cancellation_type::terminal); });
    test::run_until(io, [&] { return ended; });
    CHECK(escaped != nullptr);

    release.set_value();  // the late result finds nobody and does no harm
    auto next = [] { return 3; };
    CHECK(run(io, blocking.run(next)) == 3);
}

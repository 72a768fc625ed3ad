#include "async/task_set.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "async/one_shot.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using test::run;

namespace {

asio::awaitable<void> wait_for(async::OneShot<int>& signal, int& seen) { seen = co_await signal.get(); }

asio::awaitable<void> wait_for_ever(int& ended) {
    struct Count {
        int& ended;
        ~Count() { ++ended; }
    };
    const Count count{ended};
    asio::steady_timer never(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    co_await never.async_wait(asio::use_awaitable);
}

asio::awaitable<void> fail_with(const char* what) {
    co_await asio::post(asio::use_awaitable);
    throw std::runtime_error(what);
}

asio::awaitable<void> nothing() { co_return; }

std::string text_of(const std::exception_ptr& escaped) {
    try {
        std::rethrow_exception(escaped);
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("a task set waits for every task it was given") {
    asio::io_context io;
    async::TaskSet tasks(io.get_executor(), [](const std::exception_ptr&) { FAIL("nothing may escape"); });
    async::OneShot<int> signal(io.get_executor());
    int seen = 0;
    tasks.spawn(wait_for(signal, seen));
    tasks.spawn(nothing());
    CHECK(tasks.size() == 2);

    asio::post(io, [&] { signal.set(7); });
    run(io, tasks.wait_empty());
    CHECK(seen == 7);
    CHECK(tasks.size() == 0);
}

TEST_CASE("waiting for an empty task set returns at once") {
    asio::io_context io;
    async::TaskSet tasks(io.get_executor(), [](const std::exception_ptr&) {});
    run(io, tasks.wait_empty());
    CHECK(tasks.size() == 0);
}

TEST_CASE("cancelling a task set ends every task, and their frames are gone when the wait returns") {
    asio::io_context io;
    int escaped = 0;
    async::TaskSet tasks(io.get_executor(), [&](const std::exception_ptr&) { ++escaped; });
    int ended = 0;
    for (int i = 0; i < 10; ++i) tasks.spawn(wait_for_ever(ended));
    asio::post(io, [&] { tasks.cancel_all(); });
    run(io, tasks.wait_empty());
    CHECK(ended == 10);
    CHECK(escaped == 10);  // each heard of its cancellation as an exception
}

TEST_CASE("a task cancelled before its first step never begins") {
    asio::io_context io;
    int escaped = 0;
    async::TaskSet tasks(io.get_executor(), [&](const std::exception_ptr&) { ++escaped; });
    int ended = 0;
    tasks.spawn(wait_for_ever(ended));
    tasks.cancel_all();
    run(io, tasks.wait_empty());
    CHECK(ended == 0);
    CHECK(escaped == 0);
}

TEST_CASE("a task may cancel its own set and return without waiting") {
    asio::io_context io;
    int escaped = 0;
    async::TaskSet tasks(io.get_executor(), [&](const std::exception_ptr&) { ++escaped; });
    const auto cancel = [&]() -> asio::awaitable<void> {
        tasks.cancel_all();
        co_return;
    };
    int ended = 0;
    tasks.spawn(wait_for_ever(ended));
    tasks.spawn(cancel());
    run(io, tasks.wait_empty());
    CHECK(ended == 1);
    CHECK(escaped == 1);
}

TEST_CASE("tasks spawned after others ended run in the same set") {
    asio::io_context io;
    async::TaskSet tasks(io.get_executor(), [](const std::exception_ptr&) {});
    for (int round = 0; round < 100; ++round) {
        tasks.spawn(nothing());
        tasks.spawn(nothing());
        run(io, tasks.wait_empty());
    }
    CHECK(tasks.size() == 0);
}

TEST_CASE("an exception that leaves a task is reported and ends only that task") {
    asio::io_context io;
    std::string heard;
    async::TaskSet tasks(io.get_executor(), [&](const std::exception_ptr& escaped) { heard += text_of(escaped); });
    async::OneShot<int> signal(io.get_executor());
    int seen = 0;
    tasks.spawn(wait_for(signal, seen));
    tasks.spawn(fail_with("broken"));
    test::run_until(io, [&] { return !heard.empty(); });
    CHECK(heard == "broken");
    CHECK(tasks.size() == 1);
    signal.set(1);
    run(io, tasks.wait_empty());
}

#include "net/upstream_health.hpp"
#include "support/net/health_notes.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

using namespace oncegate;
using namespace std::chrono_literals;
using net::Ejection;
using net::ServerChange;
using net::UpstreamHealth;
using test::HealthNotes;
using test::Heard;
using Verdict = net::UpstreamHealth::Verdict;

namespace {

/// A clock moved by hand.
const auto start = UpstreamHealth::clock::time_point(1h);

void fail(UpstreamHealth& health, std::size_t server, int times, UpstreamHealth::clock::time_point now) {
    for (int i = 0; i < times; ++i) health.failed(server, now);
}

}  // namespace

TEST_CASE("every server begins usable") {
    UpstreamHealth health(2, Ejection{3, 10s});
    CHECK(health.usable(0, start));
    CHECK(health.usable(1, start));
    CHECK(health.admit(1, start));
    CHECK(health.falls() == 0);
}

TEST_CASE("a server that fails so often in a row is left out for a time") {
    std::vector<Heard> heard;
    UpstreamHealth health(2, Ejection{3, 10s}, std::make_unique<HealthNotes>(heard));
    fail(health, 1, 2, start);
    CHECK(health.usable(1, start));
    fail(health, 1, 1, start);
    CHECK_FALSE(health.usable(1, start));
    CHECK_FALSE(health.usable(1, start + 10s - 1ms));
    CHECK_FALSE(health.admit(1, start + 10s - 1ms));
    CHECK(health.usable(1, start + 10s));
    CHECK(health.usable(0, start));
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].server == 1);
    CHECK(heard[0].change == ServerChange::ejected);
    CHECK(heard[0].reason == "3 failures in a row");
    CHECK(health.falls(1) == 1);
    CHECK(health.falls(0) == 0);
}

TEST_CASE("an answer between failures begins the count anew") {
    UpstreamHealth health(2, Ejection{3, 10s});
    fail(health, 0, 2, start);
    health.answered(0);
    fail(health, 0, 2, start);
    CHECK(health.usable(0, start));
}

TEST_CASE("after its time an ejected server gets one try at a time") {
    std::vector<Heard> heard;
    UpstreamHealth health(2, Ejection{1, 10s}, std::make_unique<HealthNotes>(heard));
    fail(health, 0, 1, start);
    const auto later = start + 10s;
    REQUIRE(health.admit(0, later));
    CHECK_FALSE(health.admit(0, later));
    CHECK_FALSE(health.usable(0, later));

    SECTION("an answer brings it back") {
        health.answered(0);
        CHECK(health.admit(0, later));
        CHECK(health.admit(0, later));
        REQUIRE(heard.size() == 2);
        CHECK(heard[1].change == ServerChange::returned);
    }
    SECTION("a failure ejects it for twice the time, without another word") {
        fail(health, 0, 1, later);
        CHECK_FALSE(health.usable(0, later + 20s - 1ms));
        CHECK(health.usable(0, later + 20s));
        CHECK(heard.size() == 1);
    }
    SECTION("silence lets another try after the time again") {
        CHECK_FALSE(health.admit(0, later + 10s - 1ms));
        CHECK(health.admit(0, later + 10s));
    }
}

TEST_CASE("a server that fails at every try is left out for at most ten times the time") {
    UpstreamHealth health(2, Ejection{1, 1s});
    auto now = start;
    fail(health, 0, 1, now);
    for (const auto time : {1s, 2s, 4s, 8s, 10s, 10s, 10s}) {
        INFO(time.count());
        CHECK_FALSE(health.usable(0, now + time - 1ms));
        now += time;
        REQUIRE(health.admit(0, now));
        fail(health, 0, 1, now);
    }
    health.answered(0);
    fail(health, 0, 1, now);
    CHECK(health.usable(0, now + 1s));
}

TEST_CASE("what fails while a server is left out does not prolong it") {
    UpstreamHealth health(2, Ejection{2, 10s});
    fail(health, 0, 2, start);
    fail(health, 0, 5, start + 9s);
    CHECK(health.usable(0, start + 10s));
}

TEST_CASE("an answer while a server is left out brings it back") {
    UpstreamHealth health(2, Ejection{2, 10s});
    fail(health, 0, 2, start);
    health.answered(0);
    CHECK(health.usable(0, start));
}

TEST_CASE("the only server is never ejected, nor is any with zero failures configured") {
    UpstreamHealth alone(1, Ejection{1, 10s});
    fail(alone, 0, 10, start);
    CHECK(alone.usable(0, start));
    UpstreamHealth off(2, Ejection{0, 10s});
    fail(off, 0, 10, start);
    CHECK(off.usable(0, start));
}

TEST_CASE("a server that active checks found down is not usable until they find it up") {
    std::vector<Heard> heard;
    UpstreamHealth health(1, Ejection{3, 10s}, std::make_unique<HealthNotes>(heard));
    health.judge(0, Verdict::up, "well");
    CHECK(heard.empty());
    health.judge(0, Verdict::down, "status 503");
    health.judge(0, Verdict::down, "status 503");
    CHECK_FALSE(health.usable(0, start));
    CHECK_FALSE(health.admit(0, start + 1h));
    CHECK(health.verdict(0) == Verdict::down);
    CHECK(health.falls(0) == 1);
    health.answered(0);
    CHECK_FALSE(health.usable(0, start));
    health.judge(0, Verdict::up, "health checks succeed");
    CHECK(health.usable(0, start));
    REQUIRE(heard.size() == 2);
    CHECK(heard[0].change == ServerChange::went_down);
    CHECK(heard[0].reason == "status 503");
    CHECK(heard[1].change == ServerChange::came_up);
}

TEST_CASE("a server that comes up is back altogether, ejection included") {
    std::vector<Heard> heard;
    UpstreamHealth health(2, Ejection{1, 10s}, std::make_unique<HealthNotes>(heard));
    health.judge(0, Verdict::down, "status 503");
    fail(health, 0, 1, start);
    health.answered(0);
    fail(health, 0, 1, start);
    health.judge(0, Verdict::up, "well");
    CHECK(health.usable(0, start));
    REQUIRE(heard.size() == 2);
    CHECK(heard[1].change == ServerChange::came_up);
}

TEST_CASE("of many threads one gets the try after an ejection") {
    UpstreamHealth health(2, Ejection{1, 10s});
    fail(health, 0, 1, start);
    std::atomic<int> admitted = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int turn = 0; turn < 1000; ++turn) admitted += health.admit(0, start + 10s) ? 1 : 0;
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(admitted == 1);
}

// The registry of keys in flight: one permit a key, watchers woken by what happens to it.

#include "proxy/in_flight.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "support/run.hpp"

using namespace oncegate;
using proxy::InFlight;
using std::chrono::milliseconds;

namespace {

core::RecordId id_of(std::uint8_t number) {
    core::RecordId id{};
    id[0] = number;
    return id;
}

core::Fingerprint some_fingerprint() {
    core::Fingerprint made;
    made.recipe = "1 bytes body";
    return made;
}

struct Registry {
    InFlight keys;
    boost::asio::io_context io{1};

    InFlight::Entered enter(std::uint8_t number) {
        return keys.enter(id_of(number), some_fingerprint(), io.get_executor());
    }
    InFlight::Permit permit(std::uint8_t number) { return std::get<InFlight::Permit>(enter(number)); }
    InFlight::Watch watch(std::uint8_t number) { return std::get<InFlight::Watch>(enter(number)); }
};

}  // namespace

TEST_CASE("the first to come holds the permit and the next ones watch", "[R56]") {
    Registry registry;
    auto permit = registry.permit(1);
    const auto watch = registry.watch(1);
    CHECK(watch.phase() == InFlight::Phase::looking);
    CHECK(watch.fingerprint() == some_fingerprint());
    CHECK(registry.keys.size() == 1);
    const auto other = registry.permit(2);
    CHECK(registry.keys.size() == 2);
}

TEST_CASE("a watcher is woken with the finished record", "[R59]") {
    Registry registry;
    auto permit = registry.permit(1);
    auto watch = registry.watch(1);
    const auto record = std::make_shared<const core::Record>();
    permit.leave(record);
    const auto news = test::run(registry.io, watch.news(milliseconds(60'000)));
    REQUIRE(news);
    CHECK(news->over);
    CHECK(news->record == record);
    CHECK(registry.keys.size() == 0);
}

TEST_CASE("a permit that is dropped tells its watchers to look again", "[R59]") {
    Registry registry;
    std::optional<InFlight::Permit> permit(registry.permit(1));
    auto watch = registry.watch(1);
    permit.reset();
    const auto news = test::run(registry.io, watch.news(milliseconds(60'000)));
    REQUIRE(news);
    CHECK(news->over);
    CHECK_FALSE(news->record);
}

TEST_CASE("those who came during the look-up hear that the key runs", "[R56]") {
    Registry registry;
    auto permit = registry.permit(1);
    auto watch = registry.watch(1);
    permit.running();
    const auto news = test::run(registry.io, watch.news(milliseconds(60'000)));
    REQUIRE(news);
    CHECK(news->phase == InFlight::Phase::running);
    CHECK_FALSE(news->over);
    CHECK(registry.watch(1).phase() == InFlight::Phase::running);
}

TEST_CASE("a wait ends by its limit and leaves nothing behind", "[R59]") {
    Registry registry;
    auto permit = registry.permit(1);
    {
        auto watch = registry.watch(1);
        CHECK_FALSE(test::run(registry.io, watch.news(milliseconds(1))));
    }
    permit.leave(nullptr);  // must not wake the watcher that is gone
    registry.io.restart();
    registry.io.poll();
}

TEST_CASE("a watcher on one thread is woken by a permit on another", "[R59]") {
    Registry registry;
    auto permit = registry.permit(1);
    auto watch = registry.watch(1);
    std::thread other([held = std::move(permit)]() mutable { held.leave(nullptr); });
    const auto news = test::run(registry.io, watch.news(milliseconds(60'000)));
    other.join();
    REQUIRE(news);
    CHECK(news->over);
}

TEST_CASE("many threads never hold one key at once", "[R56]") {
    InFlight keys;
    std::atomic<int> holding = 0;
    std::atomic<bool> shared = false;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            boost::asio::io_context io(1);
            for (int round = 0; round < 2'000; ++round) {
                auto entered =
                    keys.enter(id_of(static_cast<std::uint8_t>(round % 3)), some_fingerprint(), io.get_executor());
                auto* permit = std::get_if<InFlight::Permit>(&entered);
                if (permit == nullptr || round % 3 != 0) continue;
                if (holding.fetch_add(1) != 0) shared = true;
                holding.fetch_sub(1);
                permit->leave(nullptr);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK_FALSE(shared);
    CHECK(keys.size() == 0);
}

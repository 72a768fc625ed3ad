// Many claimants of the same keys: threads with a store each, and processes of their own. Exactly one wins (R56, R57).
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "support/store/stores.hpp"

extern char** environ;

namespace oncegate::test {
namespace {

using core::State;
using store::Change;
using namespace std::chrono_literals;

const auto every_store = {Kind::memory, Kind::sqlite, Kind::postgres};
const auto stores_of_many_processes = {Kind::sqlite, Kind::postgres};

/// Claims all ids at once, in an order of its own; the ids it won. Faults count as `faults`.
std::vector<std::uint32_t> claim_all(Client& client, std::uint32_t first, std::uint32_t count, std::size_t& faults) {
    std::vector<std::uint32_t> won;
    std::size_t open = count;
    for (std::uint32_t step = 0; step < count; ++step) {
        const std::uint32_t number = first + (step * 37) % count;
        auto claim = claim_of(id_of(number));
        boost::asio::co_spawn(client.io, client.store->claim(std::move(claim)),
                              [&, number](const std::exception_ptr&, store::Outcome<store::ClaimOutcome> outcome) {
                                  --open;
                                  if (!outcome)
                                      ++faults;
                                  else if (std::holds_alternative<store::Claimed>(*outcome))
                                      won.push_back(number);
                              });
    }
    client.io.restart();
    while (open > 0) client.io.run_one();
    return won;
}

TEST_CASE("of many claims of one key by many threads one wins", "[R56][R57]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    constexpr std::uint32_t ids = 101;
    std::atomic<std::size_t> all_faults = 0;
    std::vector<std::vector<std::uint32_t>> won(4);
    {
        std::vector<std::jthread> threads;
        for (auto& mine : won) {
            threads.emplace_back([&] {
                Client client(sut->database());
                std::size_t faults = 0;
                mine = claim_all(client, 0, ids, faults);
                all_faults += faults;
            });
        }
    }
    CHECK(all_faults == 0);
    std::map<std::uint32_t, int> winners;
    for (const auto& mine : won)
        for (const auto number : mine) ++winners[number];
    CHECK(winners.size() == ids);
    for (const auto& [number, count] : winners) CHECK(count == 1);
}

TEST_CASE("of many claims of one key in one queue one wins and the others see its record", "[R56]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    std::size_t won = 0;
    std::size_t stood = 0;
    for (int count = 0; count < 100; ++count) {
        boost::asio::co_spawn(client.io, client.store->claim(claim_of(id_of(1))),
                              [&](const std::exception_ptr&, store::Outcome<store::ClaimOutcome> outcome) {
                                  if (!outcome) return;
                                  ++(std::holds_alternative<store::Claimed>(*outcome) ? won : stood);
                              });
    }
    client.io.restart();
    while (won + stood < 100 && client.io.run_one() > 0) {
    }
    CHECK(won == 1);
    CHECK(stood == 99);
}

TEST_CASE("a storm of claims and completions keeps every record whole", "[R56][R68]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    constexpr std::uint32_t ids = 40;
    constexpr int rounds = 30;
    std::atomic<int> completed = 0;
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (int number = 0; number < 4; ++number) {
            threads.emplace_back([&, number] {
                Client client(sut->database());
                const auto one_key = [&](std::uint32_t id) -> boost::asio::awaitable<void> {
                    auto claim = claim_of(id_of(id));
                    const auto hold = hold_of(claim);
                    const auto outcome = co_await client.store->claim(claim);
                    if (!outcome) co_return void(++wrong);
                    if (const auto* record = std::get_if<store::Record>(&*outcome)) {
                        const bool readable = record->state == State::in_flight ||
                                              (record->response && record->response->body == std::to_string(id));
                        if (!readable) ++wrong;
                        co_return;
                    }
                    auto completion = completion_of(hold, std::to_string(id));
                    const auto change = co_await client.store->complete(std::move(completion));
                    if (change && *change == Change::applied) {
                        ++completed;
                    } else {
                        ++wrong;
                    }
                };
                const auto all_keys = [&]() -> boost::asio::awaitable<int> {
                    for (int round = 0; round < rounds; ++round)
                        for (std::uint32_t id = 0; id < ids; ++id) {
                            if (static_cast<int>(id) % 4 != (round + number) % 4) continue;
                            co_await one_key(id);
                        }
                    co_return 0;
                };
                run(client.io, all_keys());
            });
        }
    }
    CHECK(wrong == 0);
    CHECK(completed == static_cast<int>(ids));
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// Runs in a process of its own (hidden: started by the test below): claims all ids and writes down those it won.
TEST_CASE("child process claims every id", "[.child]") {
    store::DatabaseOptions options;
    options.url = variable("ONCEGATE_CHILD_URL");
    options.schema = variable("ONCEGATE_CHILD_SCHEMA");
    options.timeout = 20s;
    const auto database = store::open_database(options);
    Client client(*database);
    std::size_t faults = 0;
    const auto ids = static_cast<std::uint32_t>(std::stoul(variable("ONCEGATE_CHILD_IDS")));
    // Ready; the parent lets both go at the same moment.
    REQUIRE(run(client.io, client.store->probe()).empty());
    std::ofstream(variable("ONCEGATE_CHILD_OUTPUT") + ".ready") << "ready\n";
    char go = 0;
    REQUIRE(::read(0, &go, 1) == 1);
    const auto won = claim_all(client, 0, ids, faults);
    REQUIRE(faults == 0);
    std::ofstream output(variable("ONCEGATE_CHILD_OUTPUT"));
    for (const auto number : won) output << number << '\n';
}

class Child {
 public:
    Child(const StoreUnderTest& sut, std::string output, std::uint32_t ids) : output_(std::move(output)) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        go_ = ends[1];
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
        posix_spawn_file_actions_addclose(&actions, ends[1]);
        std::vector<std::string> variables = {
            "ONCEGATE_CHILD_URL=" + sut.url(), "ONCEGATE_CHILD_SCHEMA=" + sut.schema(),
            "ONCEGATE_CHILD_OUTPUT=" + output_, "ONCEGATE_CHILD_IDS=" + std::to_string(ids)};
        std::vector<char*> environment;
        for (auto& variable : variables) environment.push_back(variable.data());
        for (char** inherited = environ; *inherited != nullptr; ++inherited) environment.push_back(*inherited);
        environment.push_back(nullptr);
        std::string program = "/proc/self/exe";
        std::string test = "child process claims every id";
        char* arguments[] = {program.data(), test.data(), nullptr};
        REQUIRE(::posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environment.data()) == 0);
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[0]);
    }
    ~Child() {
        ::close(go_);
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    Child(const Child&) = delete;

    void await_ready() {
        const auto deadline = std::chrono::steady_clock::now() + 60s;
        while (!std::filesystem::exists(output_ + ".ready")) {
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            std::this_thread::yield();
        }
    }
    void go() { REQUIRE(::write(go_, "g", 1) == 1); }

    std::vector<std::uint32_t> won() {
        int status = 0;
        ::waitpid(process_, &status, 0);
        process_ = -1;
        REQUIRE(status == 0);
        std::ifstream file(output_);
        std::vector<std::uint32_t> numbers;
        for (std::uint32_t number = 0; file >> number;) numbers.push_back(number);
        return numbers;
    }

 private:
    std::string output_;
    pid_t process_ = -1;
    int go_ = -1;
};

TEST_CASE("of two processes that claim the same keys each key has one winner", "[R56][R57]") {
    const auto sut = make_store(GENERATE(values(stores_of_many_processes)));
    std::string folder = (std::filesystem::temp_directory_path() / "oncegate-children-XXXXXX").string();
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    constexpr std::uint32_t ids = 1009;
    std::map<std::uint32_t, int> winners;
    {
        Child one(*sut, folder + "/one", ids);
        Child two(*sut, folder + "/two", ids);
        one.await_ready();
        two.await_ready();
        one.go();
        two.go();
        for (const auto number : one.won()) ++winners[number];
        for (const auto number : two.won()) ++winners[number];
    }
    std::filesystem::remove_all(folder);
    CHECK(winners.size() == ids);
    for (const auto& [number, count] : winners) CHECK(count == 1);
}

}  // namespace
}  // namespace oncegate::test

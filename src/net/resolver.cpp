#include "net/resolver.hpp"

#include <chrono>
#include <list>
#include <unordered_map>
#include <utility>

#include "async/one_shot.hpp"

namespace oncegate::net {

namespace {

using asio::ip::tcp;
using clock = std::chrono::steady_clock;
using Answer = boost::system::result<Resolver::Addresses, error_code>;
using Waiter = async::OneShot<Answer>;

constexpr std::size_t names_kept = 256;

Resolver::Addresses unique_addresses(const tcp::resolver::results_type& results) {
    Resolver::Addresses addresses;
    for (const auto& entry : results) {
        const auto address = entry.endpoint().address();
        if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
    }
    return addresses;
}

/// Takes the waiter off the list however its coroutine ends.
class Enrolled {
 public:
    Enrolled(std::list<Waiter*>& list, Waiter& waiter) : list_(list), waiter_(&waiter) { list_.push_back(waiter_); }
    ~Enrolled() { list_.remove(waiter_); }
    Enrolled(const Enrolled&) = delete;
    Enrolled& operator=(const Enrolled&) = delete;

 private:
    std::list<Waiter*>& list_;
    Waiter* waiter_;
};

}  // namespace

struct Resolver::State {
    struct Name {
        Addresses addresses;
        clock::time_point fresh_until{};
        bool asked = false;  ///< a look-up is under way
        std::list<Waiter*> waiters;
    };

    State(const asio::any_io_executor& executor, milliseconds keep_for) : resolver(executor), keep(keep_for) {}

    static void ask(const std::shared_ptr<State>& self, const std::string& host, Name& name) {
        name.asked = true;
        // Asio asks the system on a thread of its own; a call that nobody waits for any more still ends there.
        self->resolver.async_resolve(host, "",
                                     [self, &name](error_code error, const tcp::resolver::results_type& results) {
                                         self->on_answer(name, error, results);
                                     });
    }

    void on_answer(Name& name, error_code error, const tcp::resolver::results_type& results) {
        name.asked = false;
        if (!error) name.addresses = unique_addresses(results);
        if (!error && name.addresses.empty()) error = asio::error::host_not_found;
        if (!error) name.fresh_until = clock::now() + keep;
        for (Waiter* waiter : name.waiters) {
            if (error) {
                waiter->set(Answer(error));
            } else {
                waiter->set(Answer(name.addresses));
            }
        }
    }

    /// Nodes of the map stay where they are while they are in use: only idle, stale ones go.
    void forget_old() {
        if (names.size() < names_kept) return;
        const auto now = clock::now();
        std::erase_if(names, [&](const auto& entry) {
            return !entry.second.asked && entry.second.waiters.empty() && entry.second.fresh_until <= now;
        });
    }

    tcp::resolver resolver;
    milliseconds keep;
    std::unordered_map<std::string, Name> names;
};

Resolver::Resolver(asio::any_io_executor executor, milliseconds keep)
    : state_(std::make_shared<State>(executor, keep)) {}

Resolver::~Resolver() { state_->resolver.cancel(); }

asio::awaitable<Answer> Resolver::resolve(std::string host, milliseconds limit) {
    error_code not_literal;
    const auto literal = asio::ip::make_address(host, not_literal);
    if (!not_literal) co_return Answer(Addresses{literal});

    const auto state = state_;
    state->forget_old();
    State::Name& name = state->names[host];
    if (clock::now() < name.fresh_until) co_return Answer(name.addresses);
    if (!name.asked) State::ask(state, host, name);
    Waiter waiter(state->resolver.get_executor());
    const Enrolled enrolled(name.waiters, waiter);
    auto answer = co_await waiter.get_within(limit);
    if (!answer) co_return Answer(error_code(asio::error::timed_out));
    co_return std::move(*answer);
}

}  // namespace oncegate::net

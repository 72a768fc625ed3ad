#include "net/resolver.hpp"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "async/one_shot.hpp"

namespace oncegate::net {

namespace {

using asio::ip::tcp;
using clock = std::chrono::steady_clock;
using Answer = boost::system::result<Resolver::Addresses, error_code>;
using Waiter = async::OneShot<error_code>;

constexpr std::chrono::minutes last_answer_serves{10};  // while look-ups fail
constexpr std::chrono::seconds aside_for{10};

/// An IPv4 address in IPv6 clothes is the same peer as without.
asio::ip::address plain(const asio::ip::address& address) {
    if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

bool contains(const Resolver::Addresses& addresses, const asio::ip::address& address) {
    return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

Resolver::Addresses unique(const Resolver::Addresses& answered) {
    Resolver::Addresses addresses;
    for (const auto& address : answered) {
        if (!contains(addresses, plain(address))) addresses.push_back(plain(address));
    }
    return addresses;
}

bool same_set(const Resolver::Addresses& one, const Resolver::Addresses& other) {
    return one.size() == other.size() && std::all_of(one.begin(), one.end(), [&](const asio::ip::address& address) {
               return contains(other, address);
           });
}

std::optional<asio::ip::address> literal(const std::string& host) {
    error_code not_literal;
    const auto address = asio::ip::make_address(host, not_literal);
    if (not_literal) return std::nullopt;
    return address;
}

error_code error_of(int answer) {
    switch (answer) {
        case 0: return {};
        case EAI_AGAIN: return asio::error::host_not_found_try_again;
        case EAI_SYSTEM: return {errno, asio::error::get_system_category()};
        default: return asio::error::host_not_found;
    }
}

/// Blocks.
Resolver::Addresses addresses_of(const std::string& host, error_code& error) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* found = nullptr;
    error = error_of(::getaddrinfo(host.c_str(), nullptr, &hints, &found));
    Resolver::Addresses addresses;
    for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
        tcp::endpoint endpoint;
        if (entry->ai_addrlen > endpoint.capacity()) continue;
        std::memcpy(endpoint.data(), entry->ai_addr, entry->ai_addrlen);
        endpoint.resize(entry->ai_addrlen);
        addresses.push_back(endpoint.address());
    }
    if (found != nullptr) ::freeaddrinfo(found);
    return addresses;
}

/// Whether somebody still listens to answers: the loop they go to may be gone before a slow look-up has ended.
struct Listening {
    std::mutex mutex;
    bool yes = true;
};

/// The system's resolver, each look-up on a thread of its own: one that hangs holds up no other, nor the end of the
/// program. There is at most one for each name.
class SystemLookUp {
 public:
    explicit SystemLookUp(asio::any_io_executor executor) : executor_(std::move(executor)) {}
    ~SystemLookUp() {
        const std::lock_guard lock(listening_->mutex);
        listening_->yes = false;
    }
    SystemLookUp(const SystemLookUp&) = delete;
    SystemLookUp& operator=(const SystemLookUp&) = delete;

    void operator()(const std::string& host, Resolver::Answered answered) const {
        auto ask = [host, answered = std::move(answered), executor = executor_, listening = listening_]() mutable {
            error_code error;
            auto addresses = addresses_of(host, error);
            auto tell = [answered = std::move(answered), error, addresses = std::move(addresses)]() mutable {
                answered(error, std::move(addresses));
            };
            const std::lock_guard lock(listening->mutex);
            if (listening->yes) asio::post(executor, std::move(tell));
        };
        std::thread(std::move(ask)).detach();
    }

 private:
    asio::any_io_executor executor_;
    std::shared_ptr<Listening> listening_ = std::make_shared<Listening>();
};

Resolver::LookUp ask_the_system(const asio::any_io_executor& executor) {
    return [look_up = std::make_shared<SystemLookUp>(executor)](const std::string& host, Resolver::Answered answered) {
        (*look_up)(host, std::move(answered));
    };
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

struct Resolver::Name {
    struct Aside {
        asio::ip::address address;
        clock::time_point until;
    };

    /// The addresses, each time beginning with the next, those set aside last.
    Addresses in_turn(clock::time_point now) {
        Addresses ordered = known.addresses_;
        const auto first = static_cast<std::ptrdiff_t>(turn++ % ordered.size());
        std::rotate(ordered.begin(), ordered.begin() + first, ordered.end());
        std::erase_if(aside, [&](const Aside& one) { return one.until <= now; });
        std::stable_partition(ordered.begin(), ordered.end(), [&](const asio::ip::address& address) {
            return std::none_of(aside.begin(), aside.end(), [&](const Aside& one) { return one.address == address; });
        });
        return ordered;
    }

    bool serves(clock::time_point now) const {
        return !known.addresses_.empty() && now < known.answered_at_ + last_answer_serves;
    }

    Known known;
    bool asked = false;  ///< a look-up is under way
    std::size_t turn = 0;
    std::vector<Aside> aside;
    std::list<Waiter*> waiters;
};

/// The map's nodes stay where they are: names are never removed.
struct Resolver::State {
    State(const asio::any_io_executor& on, milliseconds keep_for, LookUp with)
        : executor(on), keep(keep_for), look_up(with ? std::move(with) : ask_the_system(on)) {}

    static void ask(const std::shared_ptr<State>& self, const std::string& host, Name& name) {
        name.asked = true;
        name.known.asked_at_ = clock::now();
        self->look_up(host, [self, &name](error_code error, const Addresses& addresses) {
            on_answer(name, error, unique(addresses));
        });
    }

    static void on_answer(Name& name, error_code error, Addresses addresses) {
        name.asked = false;
        if (!error && addresses.empty()) error = asio::error::host_not_found;
        if (!error) {
            if (!same_set(addresses, name.known.addresses_)) ++name.known.version_;
            name.known.addresses_ = std::move(addresses);
            name.known.answered_at_ = clock::now();
        }
        for (Waiter* waiter : name.waiters) waiter->set(error);
    }

    asio::any_io_executor executor;
    milliseconds keep;
    LookUp look_up;
    std::unordered_map<std::string, Name> names;
};

Resolver::Resolver(asio::any_io_executor executor, milliseconds keep, LookUp look_up)
    : state_(std::make_shared<State>(executor, keep, std::move(look_up))) {}

Resolver::~Resolver() {
    // Look-ups under way hold the state: letting go of the function ends them, or leaves them to nobody.
    state_->look_up = nullptr;
}

bool Resolver::Known::covers(const std::string& address) const {
    const auto parsed = literal(address);
    return parsed && contains(addresses_, plain(*parsed));
}

asio::awaitable<Answer> Resolver::resolve(std::string host, milliseconds limit) {
    if (const auto address = literal(host)) co_return Answer(Addresses{*address});

    const auto state = state_;
    Name& name = state->names[host];
    const auto now = clock::now();
    const bool serves = name.serves(now);
    if (serves && now < name.known.answered_at_ + state->keep) co_return Answer(name.in_turn(now));
    if (!name.asked) State::ask(state, host, name);
    Waiter waiter(state->executor);
    const Enrolled enrolled(name.waiters, waiter);
    const milliseconds patience = serves ? limit / 2 : limit;
    const auto failed = co_await waiter.get_within(patience);
    if (serves || (failed && !*failed)) co_return Answer(name.in_turn(now));
    co_return Answer(failed ? *failed : error_code(asio::error::timed_out));
}

void Resolver::set_aside(const std::string& host, const asio::ip::address& address) {
    const auto found = state_->names.find(host);
    if (found == state_->names.end()) return;
    auto& aside = found->second.aside;
    std::erase_if(aside, [&](const Name::Aside& one) { return one.address == address; });
    aside.push_back({address, clock::now() + aside_for});
}

const Resolver::Known* Resolver::known(const std::string& host) {
    if (literal(host)) return nullptr;
    return &state_->names[host].known;
}

void Resolver::refresh(const std::string& host) {
    Name& name = state_->names[host];
    if (!name.asked) State::ask(state_, host, name);
}

}  // namespace oncegate::net

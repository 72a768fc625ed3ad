#pragma once
// One worker of the proxy on a thread of its own, with the store in memory and whatever upstream the test scripts: real
// sockets on both sides, faults and clock of the store in the test's hand.

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "config/config.hpp"
#include "net/listener.hpp"
#include "proxy/session.hpp"
#include "proxy/worker.hpp"
#include "support/net/raw_socket.hpp"
#include "support/store/memory_backend.hpp"

namespace oncegate::test {

class ProxyUnderTest {
 public:
    using Adjust = std::function<void(config::Config&)>;

    /// Routes: "pay" (POST /pay, enforced, scope [route], key syntax any) and "rest" (everything, plain), both to
    /// 127.0.0.1:`upstream`. `adjust` may change the configuration before it is used.
    explicit ProxyUnderTest(std::uint16_t upstream, const Adjust& adjust = {});
    ~ProxyUnderTest();
    ProxyUnderTest(const ProxyUnderTest&) = delete;
    ProxyUnderTest& operator=(const ProxyUnderTest&) = delete;

    MemoryDatabase& store() { return store_; }
    test::RawSocket connect() const { return test::RawSocket::connect(port_); }
    const config::Config& config() const { return generation_->config(); }
    std::string metrics() const { return metrics_->text(); }

    /// Sends `request` on a connection of its own and reads one answer.
    test::RawSocket::Message ask(std::string_view request) const;

 private:
    boost::asio::awaitable<void> serve(std::unique_ptr<net::Stream> stream);

    proxy::InFlight in_flight_;
    std::unique_ptr<proxy::Metrics> metrics_;
    std::unique_ptr<proxy::AccessLog> access_log_;
    std::unique_ptr<proxy::ProgramLog> log_;
    core::KeyedHash log_names_{"test"};
    std::unique_ptr<proxy::Shared> shared_;
    std::shared_ptr<const proxy::Generation> generation_;
    MemoryDatabase store_;
    boost::asio::io_context io_{1};
    std::unique_ptr<proxy::Worker> worker_;
    std::unique_ptr<net::Listener> listener_;
    std::unique_ptr<async::TaskSet> services_;
    std::uint16_t port_ = 0;
    std::thread thread_;
};

/// A POST of `body` to /pay with this key, on a connection that stays open.
std::string pay(std::string_view key, std::string_view body = "{}");

/// The status of a response head.
int status_of(std::string_view head);

/// True when a head line is exactly `line`.
bool has_line(std::string_view head, std::string_view line);

}  // namespace oncegate::test

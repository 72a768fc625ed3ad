#include "net/listener.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

namespace oncegate::net {

namespace {

using asio::ip::tcp;

constexpr int backlog = 4096;  // the system caps it at somaxconn
constexpr milliseconds short_of_descriptors{100};

/// SO_REUSEPORT as a settable socket option: Asio has no type for it.
struct ReusePort {
    int on = 1;
    template <class Protocol>
    int level(const Protocol&) const {
        return SOL_SOCKET;
    }
    template <class Protocol>
    int name(const Protocol&) const {
        return SO_REUSEPORT;
    }
    template <class Protocol>
    const int* data(const Protocol&) const {
        return &on;
    }
    template <class Protocol>
    std::size_t size(const Protocol&) const {
        return sizeof(on);
    }
};

bool is_any(const BindAddress& address) { return address.host.empty() || address.host == "*"; }

/// "Any" means IPv6 and IPv4 on one socket; IPv4 alone on a system without IPv6.
tcp::endpoint endpoint_of(const BindAddress& address) {
    if (!is_any(address)) return {asio::ip::make_address(address.host), address.port};
    const int probe = ::socket(AF_INET6, SOCK_STREAM, 0);
    if (probe < 0) return {tcp::v4(), address.port};
    ::close(probe);
    return {tcp::v6(), address.port};
}

enum class Port : std::uint8_t { shared, exclusive };

void open_and_bind(tcp::acceptor& acceptor, const BindAddress& address, Port port) {
    const auto endpoint = endpoint_of(address);
    acceptor.open(endpoint.protocol());
    acceptor.set_option(asio::socket_base::reuse_address(true));
    if (port == Port::shared) acceptor.set_option(ReusePort());
    if (endpoint.protocol() == tcp::v6()) acceptor.set_option(asio::ip::v6_only(!is_any(address)));
    acceptor.bind(endpoint);
}

bool may_pass(const error_code& error) {
    return error == asio::error::no_descriptors || error.value() == ENFILE || error == asio::error::no_buffer_space ||
           error == asio::error::no_memory;
}

}  // namespace

std::optional<BindAddress> parse_bind(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);

    BindAddress address;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    if (digits.empty() || fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;

    const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    address.host = host;
    if (!bracketed && is_any(address)) return address;
    error_code invalid;
    const auto parsed = asio::ip::make_address(address.host, invalid);
    if (invalid || parsed.is_v6() != bracketed) return std::nullopt;
    return address;
}

error_code probe_bind(const BindAddress& address) {
    asio::io_context nowhere;
    tcp::acceptor probe(nowhere);
    try {
        open_and_bind(probe, address, Port::exclusive);
        probe.listen();
    } catch (const boost::system::system_error& fault) {
        return fault.code();
    }
    return {};
}

Listener::Listener(asio::any_io_executor executor, const BindAddress& address) : acceptor_(executor), pause_(executor) {
    open_and_bind(acceptor_, address, Port::shared);
    acceptor_.listen(backlog);
}

std::uint16_t Listener::port() const { return acceptor_.local_endpoint().port(); }

asio::awaitable<void> Listener::run(std::function<void(std::unique_ptr<Stream>)> on_accept) {
    on_accept_ = &on_accept;
    while (acceptor_.is_open()) {
        auto [error, socket] = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
        if (!error) {
            on_accept(make_plain_stream(std::move(socket)));
        } else if (may_pass(error)) {
            pause_.expires_after(short_of_descriptors);
            co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
        } else if (error == asio::error::operation_aborted) {
            co_return;
        }
        // Anything else concerns the one connection that was being accepted.
    }
}

void Listener::close() {
    error_code error;
    if (on_accept_ != nullptr && acceptor_.is_open()) acceptor_.non_blocking(true, error);
    while (on_accept_ != nullptr && !error) {
        auto socket = acceptor_.accept(error);
        if (!error) (*on_accept_)(make_plain_stream(std::move(socket)));
    }
    on_accept_ = nullptr;
    acceptor_.close(error);
    pause_.cancel();
}

}  // namespace oncegate::net

#include "net/listener.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <catch2/catch.hpp>
#include <vector>

#include "support/net/raw_socket.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using net::BindAddress;
using net::Listener;
using test::RawSocket;

namespace {

/// Runs a listener in the test's loop and keeps what it accepts.
struct Accepting {
    Accepting(asio::io_context& loop, const BindAddress& address) : io(loop), listener(io.get_executor(), address) {
        auto keep = [this](std::unique_ptr<net::Stream> stream) { streams.push_back(std::move(stream)); };
        asio::co_spawn(io, listener.run(keep), [this](const std::exception_ptr& error) {
            escaped = error;
            ended = true;
        });
    }
    void wait_for(std::size_t count) {
        test::run_until(io, [&] { return streams.size() >= count; });
    }

    asio::io_context& io;
    Listener listener;
    std::vector<std::unique_ptr<net::Stream>> streams;
    std::exception_ptr escaped;
    bool ended = false;
};

/// The lowest free descriptor is the limit as long as this lives: nothing more can be opened.
class NoMoreDescriptors {
 public:
    NoMoreDescriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const int lowest = ::dup(0);
        ::close(lowest);
        rlimit none = before_;
        none.rlim_cur = static_cast<rlim_t>(lowest);
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
    rlimit before_{};
};

std::string described(std::string_view text) {
    const auto address = net::parse_bind(text);
    return address ? address->host + " " + std::to_string(address->port) : "none";
}

}  // namespace

TEST_CASE("bind addresses are read as people write them") {
    CHECK(described("0.0.0.0:8080") == "0.0.0.0 8080");
    CHECK(described("127.0.0.1:0") == "127.0.0.1 0");
    CHECK(described("[::1]:65535") == "::1 65535");
    CHECK(described(":8080") == " 8080");
    CHECK(described("*:8080") == "* 8080");
    for (const char* bad : {"", ":", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:80x",
                            "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "::1:80", "[::1]", "[::1:80",
                            "[127.0.0.1]:80", "[]:80", "[*]:80", "host:80", "127.0.0.1.5:80", " 127.0.0.1:80"}) {
        INFO(bad);
        CHECK(described(bad) == "none");
    }
}

TEST_CASE("a listener accepts until it is closed") {
    asio::io_context io;
    Accepting accepting(io, {"127.0.0.1", 0});
    REQUIRE(accepting.listener.port() != 0);
    const RawSocket first = RawSocket::connect(accepting.listener.port());
    const RawSocket second = RawSocket::connect(accepting.listener.port());
    accepting.wait_for(2);
    CHECK(accepting.streams[0]->peer_address() == "127.0.0.1");

    accepting.listener.close();
    test::run_until(io, [&] { return accepting.ended; });
    CHECK_FALSE(accepting.escaped);
}

TEST_CASE("closing before the first connection ends the listener") {
    asio::io_context io;
    Accepting accepting(io, {"127.0.0.1", 0});
    io.poll();
    accepting.listener.close();
    test::run_until(io, [&] { return accepting.ended; });
    CHECK_FALSE(accepting.escaped);
}

TEST_CASE("two listeners share a port, as threads do") {
    asio::io_context io;
    const Listener first(io.get_executor(), {"127.0.0.1", 0});
    const Listener second(io.get_executor(), {"127.0.0.1", first.port()});
    CHECK(second.port() == first.port());
}

TEST_CASE("any address takes IPv4 clients and shows them as such") {
    asio::io_context io;
    const std::string host = GENERATE("", "*", "0.0.0.0");
    Accepting accepting(io, {host, 0});
    const RawSocket client = RawSocket::connect(accepting.listener.port());
    accepting.wait_for(1);
    CHECK(accepting.streams[0]->peer_address() == "127.0.0.1");
}

TEST_CASE("a port that another program holds is told before it is shared") {
    asio::io_context io;
    const Listener other(io.get_executor(), {"127.0.0.1", 0});
    CHECK(net::probe_bind({"127.0.0.1", other.port()}) == asio::error::address_in_use);
    CHECK_FALSE(net::probe_bind({"127.0.0.1", 0}));
}

TEST_CASE("an address that is not this machine's cannot be bound") {
    asio::io_context io;
    CHECK_THROWS_AS(Listener(io.get_executor(), {"192.0.2.1", 0}), boost::system::system_error);
}

TEST_CASE("a listener short of descriptors pauses and goes on when there are some", "[R148]") {
    asio::io_context io;
    Accepting accepting(io, {"127.0.0.1", 0});
    const RawSocket client = RawSocket::connect(accepting.listener.port());
    {
        const NoMoreDescriptors none;
        for (int turn = 0; turn < 20; ++turn) io.poll();
        CHECK(accepting.streams.empty());
        CHECK_FALSE(accepting.ended);
    }
    accepting.wait_for(1);
    CHECK_FALSE(accepting.ended);
}

TEST_CASE("a pausing listener can be closed") {
    asio::io_context io;
    Accepting accepting(io, {"127.0.0.1", 0});
    const RawSocket client = RawSocket::connect(accepting.listener.port());
    const NoMoreDescriptors none;
    for (int turn = 0; turn < 20; ++turn) io.poll();
    accepting.listener.close();
    test::run_until(io, [&] { return accepting.ended; });
    CHECK(accepting.streams.empty());
}

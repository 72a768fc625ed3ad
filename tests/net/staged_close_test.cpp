#include "net/staged_close.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "support/net/connected_pair.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using test::ConnectedPair;
using test::run;

TEST_CASE("a peer that is still sending reads the response before the end", "[R128]") {
    asio::io_context io;
    ConnectedPair pair(io);
    std::string received;
    std::thread peer([&] {
        pair.theirs.send(std::string(1U << 20, 'x'));
        received = pair.theirs.read_all();
        pair.theirs.half_close();
    });
    const std::string response = "HTTP/1.1 413 Content Too Large\r\n\r\n";
    const std::array<asio::const_buffer, 1> pieces{asio::buffer(response)};
    run(io, pair.ours.stream().write(pieces));
    run(io, net::staged_close(pair.ours, 10s, 8U << 20));
    peer.join();
    CHECK(received == response);
}

TEST_CASE("a peer that does not end is left at the limit of time or bytes", "[R128]") {
    asio::io_context io;
    ConnectedPair silent(io);
    run(io, net::staged_close(silent.ours, 10ms, 1000));
    CHECK(silent.theirs.read_all().empty());

    ConnectedPair talking(io);
    talking.theirs.send(std::string(100'000, 'x'));
    run(io, net::staged_close(talking.ours, 1h, 10'000));
    SUCCEED("returned although the peer never closed");
}

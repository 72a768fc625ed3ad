#pragma once
// Both ends of one loopback connection: ours is what the code under test gets, theirs is driven by the test in the same
// thread.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/connection.hpp"
#include "support/net/raw_socket.hpp"

namespace oncegate::test {

class ConnectedPair {
 public:
    explicit ConnectedPair(boost::asio::io_context& io) : theirs(-1), ours(open(io, theirs)) {}

    RawSocket theirs;
    net::Connection ours;

 private:
    static std::unique_ptr<net::Stream> open(boost::asio::io_context& io, RawSocket& theirs) {
        using boost::asio::ip::tcp;
        tcp::acceptor acceptor(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
        theirs = RawSocket::connect(acceptor.local_endpoint().port());
        return net::make_plain_stream(acceptor.accept());
    }
};

}  // namespace oncegate::test

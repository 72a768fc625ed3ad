#pragma once
// The smallest conversation there is, for tests of pools: "ping" is answered with "pong".

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <string>
#include <vector>

#include "net/upstream_pool.hpp"
#include "support/net/raw_socket.hpp"

namespace oncegate::test {

/// A script: answers until the client is gone.
inline void answer_pings(RawSocket& client) {
    try {
        while (true) {
            client.expect("ping");
            client.send("pong");
        }
    } catch (const PeerFailure&) {
    }
}

inline boost::asio::awaitable<std::string> ping(net::PooledConnection& connection) {
    const std::string text = "ping";
    const std::array<boost::asio::const_buffer, 1> pieces{boost::asio::buffer(text)};
    co_await connection.stream().write(pieces);
    while (connection.connection().buffered().size() < 4) {
        const auto read = co_await connection.connection().fill(100);
        if (read.error) break;
    }
    std::string answer(connection.connection().buffered());
    connection.connection().consume(answer.size());
    co_return answer;
}

/// An upstream of ports on loopback.
inline net::UpstreamOptions loopback_upstream(const std::vector<std::uint16_t>& ports) {
    net::UpstreamOptions options;
    for (const auto port : ports) {
        net::UpstreamServer server;
        server.host = "127.0.0.1";
        server.port = port;
        server.authority = "127.0.0.1:" + std::to_string(port);
        options.servers.push_back(server);
    }
    options.connect = std::chrono::seconds(5);
    return options;
}

}  // namespace oncegate::test

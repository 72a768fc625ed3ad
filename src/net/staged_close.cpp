#include "net/staged_close.hpp"

namespace oncegate::net {

asio::awaitable<void> staged_close(Connection& connection, milliseconds limit, std::size_t bytes) {
    constexpr std::size_t one_read = 16U << 10;
    connection.stream().close_sending();
    connection.stream().deadline(limit);
    std::size_t dropped = 0;
    while (dropped < bytes) {
        connection.consume(connection.buffered().size());
        const IoResult read = co_await connection.fill(one_read);
        if (read.error) break;
        dropped += read.bytes;
    }
    connection.stream().close();
}

}  // namespace oncegate::net

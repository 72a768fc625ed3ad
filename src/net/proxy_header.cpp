#include "net/proxy_header.hpp"

#include <string>

#include "core/proxy_protocol.hpp"

namespace oncegate::net {

asio::awaitable<error_code> read_proxy_header(Stream& stream) {
    std::string bytes;
    auto header = core::parse_proxy_header(bytes);
    while (header.status == core::ProxyHeader::Status::incomplete) {
        const auto held = bytes.size();
        bytes.resize(held + header.missing);
        const asio::mutable_buffer room(bytes.data() + held, header.missing);
        const IoResult read = co_await stream.read_some(room);
        bytes.resize(held + read.bytes);
        if (read.error) co_return read.error;
        header = core::parse_proxy_header(bytes);
    }
    if (header.status == core::ProxyHeader::Status::malformed) co_return asio::error::invalid_argument;
    if (header.client) stream.announce_peer(std::move(*header.client));
    co_return error_code();
}

}  // namespace oncegate::net

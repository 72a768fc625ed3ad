#pragma once
// Heads and bodies to bytes. Framing fields are written here and nowhere else, from the framing that is asked for
// (R76).

#include <string>
#include <string_view>

#include "core/framing.hpp"
#include "core/http_message.hpp"
#include "net/stream.hpp"

namespace oncegate::net {

enum class Persistence : std::uint8_t { keep_alive, close };

/// The head of a request as bytes: `head.fields` as they are, then Content-Length or Transfer-Encoding for `framing`.
std::string request_head_bytes(const core::RequestHead& head, const core::Framing& framing);

/// Likewise for a response. `framing.kind` none writes neither field; for a response to HEAD or a 304 pass the framing
/// to declare and send no body. Connection is written where it must be said: close to a 1.1 client, keep-alive to a 1.0
/// client.
std::string response_head_bytes(const core::ResponseHead& head, const core::Framing& framing, core::HttpVersion client,
                                Persistence persistence);

/// Writes a body piece by piece in the given framing. The head bytes can travel with the first piece in one write.
class BodyWriter {
 public:
    BodyWriter(Stream& stream, core::Framing framing, std::string head = {})
        : stream_(stream), framing_(framing), pending_head_(std::move(head)) {}

    /// Sends head (if still pending) and one piece; with an empty piece only the head.
    asio::awaitable<IoResult> write(std::string_view piece);

    /// Sends what ends the body: the last chunk (with `trailers`) or nothing.
    asio::awaitable<IoResult> finish(const core::Fields& trailers = {});

    /// finish() together with a last piece, in one write.
    asio::awaitable<IoResult> write_last(std::string_view piece);

 private:
    Stream& stream_;
    core::Framing framing_;
    std::string pending_head_;
};

}  // namespace oncegate::net

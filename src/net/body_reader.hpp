#pragma once
// A message body in pieces, transfer coding removed, trailers set apart (R9, R78). Strict chunked parsing (R117).

#include <boost/system/result.hpp>
#include <memory>
#include <string_view>

#include "core/framing.hpp"
#include "net/connection.hpp"

namespace oncegate::net {

struct BodyFault {
    enum class Kind : std::uint8_t {
        cut_off,    ///< the peer closed before the end (R65, R87)
        timed_out,  ///< no piece within the idle time
        malformed,  ///< bad chunk framing
    };
    Kind kind = Kind::cut_off;
};

class BodyReader {
 public:
    /// `idle`: longest wait for the next piece. The connection must outlive the reader.
    BodyReader(Connection& connection, core::Framing framing, milliseconds idle);
    ~BodyReader();
    BodyReader(BodyReader&&) noexcept;

    /// The next piece, valid until the next call; empty exactly once, at the end, and after it.
    /// The connection then stands at the first byte after the message.
    asio::awaitable<boost::system::result<std::string_view, BodyFault>> next();

    bool finished() const;

    /// Fields after the last chunk; for pass-through only.
    const core::Fields& trailers() const;

 private:
    struct Decoder;
    std::unique_ptr<Decoder> decoder_;
};

}  // namespace oncegate::net

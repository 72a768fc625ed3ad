#pragma once
// The content of a keyed request, read whole before anything else happens (R65, R69): hashed on the way, kept for
// sending, and looked into where a rule of the policy asks for it.

#include <boost/asio/awaitable.hpp>
#include <stdexcept>

#include "core/fingerprint.hpp"
#include "net/body_spill.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// A kept body cannot be looked into: its file cannot be mapped.
struct UnreadableContent : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Lives in its exchange's frame.
class KeptContent {
 public:
    explicit KeptContent(Request& request) : request_(request), body_(request.server().limits.memory_body) {}

    /// Reads it, the first time. False when the request is over: it was answered, or the client broke off.
    boost::asio::awaitable<bool> read();

    bool is_read() const { return is_read_; }
    const net::BodySpill& body() const { return body_; }
    const core::Digest& digest() const { return digest_; }

    /// All bytes in one piece; `pages` holds on to them. Throws UnreadableContent.
    std::string_view bytes(net::MappedBytes& pages) const;

    /// The request's fingerprint by `rule`. Throws as bytes() does.
    core::Fingerprint fingerprint(const core::FingerprintRule& rule) const;

    /// How the body goes to the upstream.
    core::Framing framing() const;

 private:
    boost::asio::awaitable<bool> keep(std::string_view piece);

    Request& request_;
    net::BodySpill body_;
    core::Digest digest_{};
    bool is_read_ = false;
};

}  // namespace oncegate::proxy

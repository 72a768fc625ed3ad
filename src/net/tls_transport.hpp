#pragma once
// The stream below TLS as OpenSSL sees it: a BIO that reads and writes what can be had at once.

#include <cstdint>
#include <memory>

#include "net/stream.hpp"
#include "net/tls_handles.hpp"

namespace oncegate::net {

/// Must stay where it is while a BIO points to it.
struct TlsTransport {
    std::unique_ptr<Stream> stream;
    error_code error;         ///< of the last read or write that failed other than for having to wait
    std::uint64_t taken = 0;  ///< bytes, handshake and framing included
    bool drained = false;     ///< the last read got less than there was room for: another would have to wait

    /// Throws std::bad_alloc.
    Openssl<BIO> make_bio();
};

}  // namespace oncegate::net

#pragma once
// What went wrong in TLS, as an error code with words for the log.

#include <openssl/ssl.h>

#include <boost/system/error_code.hpp>
#include <string>

namespace oncegate::net {

/// The transport ended without close_notify: what was read may be cut off (R87, RFC 9112 §9.8).
boost::system::error_code tls_truncated();

/// Why the last call on `ssl` failed: the certificate that did not verify, or the oldest entry of OpenSSL's error
/// queue, which is emptied.
boost::system::error_code last_tls_fault(const SSL* ssl);

/// The newest entry of OpenSSL's error queue in words; the queue is emptied.
std::string last_tls_reason();

}  // namespace oncegate::net

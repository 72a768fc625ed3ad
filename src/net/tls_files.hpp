#pragma once
// Reads certificates and keys from PEM files. Errors are words that name the file and never its content.

#include <boost/system/result.hpp>
#include <string>
#include <vector>

#include "net/tls_handles.hpp"

namespace oncegate::net {

struct TlsCredentials {
    Openssl<X509> leaf;
    Openssl<STACK_OF(X509)> chain;  ///< what follows the leaf in its file; never null
    Openssl<EVP_PKEY> key;          ///< belongs to the leaf
};

/// A certificate with what vouches for it, leaf first, and its private key, which has no password.
boost::system::result<TlsCredentials, std::string> read_credentials(const std::string& certificate,
                                                                    const std::string& private_key);

/// Everything in the file; at least one.
boost::system::result<std::vector<Openssl<X509>>, std::string> read_certificates(const std::string& path);

/// Nothing when `context` took them; the certificate's file is named otherwise.
std::string use_credentials(SSL_CTX* context, const TlsCredentials& credentials, const std::string& certificate);

/// Makes the certificates of the file the authorities of `context`; nothing when that went well.
std::string trust_authorities(SSL_CTX* context, const std::string& path);

}  // namespace oncegate::net

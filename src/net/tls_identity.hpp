#pragma once
// What a certificate says about its holder.

#include <string>
#include <vector>

#include "net/stream.hpp"
#include "net/tls_handles.hpp"

namespace oncegate::net {

PeerCertificate describe_certificate(X509* certificate);

/// The host names it is for, in lower case: its DNS alternative names, or its common name when it has none (RFC 6125
/// §6.4.4). May hold wildcards.
std::vector<std::string> host_names(X509* certificate);

}  // namespace oncegate::net

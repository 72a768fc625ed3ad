#pragma once
// Who the client is when proxies stand in between: their word counts only as far as they are trusted
// (`trusted_proxies`). Also who the client proved to be by its certificate.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"
#include "core/network.hpp"

namespace oncegate::core {

/// Who sent the request and how it arrived. The texts must outlive it.
struct Peer {
    std::string_view address;  ///< of the socket's other end, no port; IPv6 without brackets; empty: a unix socket
    std::string_view scheme = "http";  ///< of our own listener: http or https
    enum class Trust : std::uint8_t { none, trusted };
    Trust trust = Trust::none;  ///< whether it is a proxy whose word on the client is believed
};

/// The client's address for the access log and `scope: client_ip`, in its canonical spelling.
///
/// The peer's own address, unless the peer is trusted. Then X-Forwarded-For is read from its right end: each address
/// was added by the one to its right, so it is believed as long as that one is trusted; the first that is not itself
/// trusted is the client. What is no address (`unknown`, `_hidden`, garbage) ends the walk at the last address that was
/// one. Without an X-Forwarded-For line the same is done with `for` of Forwarded (RFC 7239), which counts for nothing
/// when any of it is malformed. Where both are there X-Forwarded-For is taken: a trusted proxy that writes only
/// Forwarded must take the other away.
std::string client_address(const Peer& peer, const Fields& fields, const std::vector<Network>& trusted);

/// "https" when our own listener is TLS, or a trusted peer says that the client came by https: by the first element of
/// X-Forwarded-Proto, without such a line by `proto` of the Forwarded element that names the client. Else "http".
std::string_view client_scheme(const Peer& peer, const Fields& fields, const std::vector<Network>& trusted);

/// What `scope: client_cert` takes for the owner of a verified certificate. It stays the same when the certificate is
/// renewed: the URI names ("uri:spiffe://example/pay"); without one the subject ("subject:CN=pay,O=Example"); with an
/// empty subject the other names ("dns:pay.example"); in the end the certificate itself ("sha256:" and the
/// fingerprint). Several names are sorted and joined by ", ".
/// `subject`: RFC 2253. `names`: subject alternative names as "dns:...", "uri:...", "email:...". `fingerprint`: SHA-256
/// in hex.
std::string certificate_identity(std::string_view subject, const std::vector<std::string>& names,
                                 std::string_view fingerprint);

}  // namespace oncegate::core

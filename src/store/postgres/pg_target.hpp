#pragma once
// Where to connect: a connection URL taken apart into single servers, so that each gets its share of the deadline and
// no name is resolved by libpq, which would block (pure).

#include <string>
#include <utility>
#include <vector>

namespace oncegate::store {

/// The keywords and values for PQconnectStartParams.
using PgKeywords = std::vector<std::pair<std::string, std::string>>;

/// One entry of the URL's host list.
struct PgServer {
    PgKeywords keywords;  ///< everything, host and port included
    std::string resolve;  ///< a host name that has still to be resolved; empty: an address, a socket's folder or
                          ///< libpq's default
    std::string port;
};

/// The servers of a URL or keyword string in its order. Throws std::invalid_argument when libpq cannot parse it, or the
/// lists do not go together.
std::vector<PgServer> pg_servers(const std::string& url);

/// Everything libpq needs for a blocking connection to whichever server serves (migrations).
PgKeywords pg_keywords(const std::string& url);

}  // namespace oncegate::store

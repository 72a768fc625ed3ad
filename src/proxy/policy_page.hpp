#pragma once
// What clients may rely on, at /.well-known/idempotency on the proxy's listeners (R103): for each route with a policy
// everything that a client must know to use it, and what each problem means under its fragment. HTML for people, JSON
// for programs; its shape is documented in config/README.md. Nothing of the inside appears: no upstream, no store.

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "proxy/client_side.hpp"

namespace oncegate::proxy {

bool asks_for_policy_page(const core::RequestHead& head);

boost::asio::awaitable<void> send_policy_page(ClientSide& client, const config::Config& config);

/// Whether `accept` prefers JSON to HTML (RFC 9110 §12.5.1): by weight, and of equal weights by which of the two is
/// named more closely, as programs do that say "application/json, */*". HTML otherwise.
bool prefers_json(std::string_view accept);

/// `page_url`: where the client found it; problem types are that and a fragment. Pure.
std::string policy_page_json(const config::Config& config, std::string_view page_url);
std::string policy_page_html(const config::Config& config);

}  // namespace oncegate::proxy

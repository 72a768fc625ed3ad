#pragma once
// What clients may rely on, at /.well-known/idempotency on the proxy's listeners (R103): for each enforced route
// whether a key is needed, its syntax, scope, lifetime and statuses, and what each problem means under its fragment.
// HTML for a browser, JSON for `Accept: application/json`.

#include <boost/asio/awaitable.hpp>
#include <string>

#include "config/config.hpp"
#include "proxy/client_side.hpp"

namespace oncegate::proxy {

bool asks_for_policy_page(const core::RequestHead& head);

boost::asio::awaitable<void> send_policy_page(ClientSide& client, const config::Config& config);

/// Pure, for tests.
/// `page_url`: where the client found it; problem types are that and a fragment.
std::string policy_page_json(const config::Config& config, std::string_view page_url);
std::string policy_page_html(const config::Config& config);

}  // namespace oncegate::proxy

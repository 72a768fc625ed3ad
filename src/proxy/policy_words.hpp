#pragma once
// A policy's values in the words of its configuration, for the policy page.

#include <string>
#include <string_view>

#include "config/config.hpp"

namespace oncegate::proxy {

/// Whether the policy page has something to say about a route.
bool is_published(const config::Route& route);

std::string_view word(core::Mode mode);
std::string_view word(core::KeySyntax syntax);
std::string_view word(core::BodyComparison comparison);
std::string_view word(core::InFlightRule::Action action);
std::string_view word(core::UnknownOutcome rule);
std::string_view word(core::ReplayRule::Content mode);
std::string_view word(core::ReplayRule::Date date);
std::string_view word(core::AfterTtl rule);
std::string_view word(core::StoreDown rule);
/// "header:Idempotency-Key".
std::string word(const core::KeyLocation& location);
/// "header:Content-Type?", "json:/amount".
std::string word(const core::FingerprintPart& part);
std::string word(const core::ScopePart& part);

}  // namespace oncegate::proxy

#pragma once
// A policy in sentences for the people who write its clients. Plain text: whoever puts it into markup escapes it.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"

namespace oncegate::proxy {

/// What an idempotency key is good for, and what it is not.
std::string_view promise();
/// The document that the header field comes from.
std::string_view draft();

struct Sentence {
    std::string_view about;  ///< "Key", "Lifetime"
    std::string text;
};

/// Everything about one route, in the order in which a client meets it. `request_body`: the limit in bytes.
std::vector<Sentence> sentences_about(const config::Route& route, std::uint64_t request_body);

}  // namespace oncegate::proxy

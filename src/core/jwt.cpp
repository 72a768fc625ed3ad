#include "core/jwt.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <optional>

#include "core/jwt_algorithm.hpp"
#include "core/jwt_text.hpp"

namespace oncegate::core {

namespace {

namespace json = boost::json;

/// Why a token is refused; empty: it is not.
using Reason = std::string;

constexpr std::string_view malformed = "The token is malformed";
constexpr std::string_view not_accepted = "The signature algorithm of the token is not accepted here";
constexpr std::string_view not_verified = "The signature of the token could not be verified";

struct Parts {
    std::string_view header;
    std::string_view payload;
    std::string_view signature;
    std::string_view signed_text;  ///< header and payload with the dot between them
};

std::optional<Parts> split(std::string_view token) {
    const auto first = token.find('.');
    const auto second = first == std::string_view::npos ? first : token.find('.', first + 1);
    if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) return std::nullopt;
    return Parts{token.substr(0, first), token.substr(first + 1, second - first - 1), token.substr(second + 1),
                 token.substr(0, second)};
}

std::optional<JwtObject> decoded_object(std::string_view part) {
    const auto bytes = decode_base64url(part);
    return bytes ? parse_jwt_object(*bytes) : std::nullopt;
}

bool accepts(const std::vector<std::string>& accepted, std::string_view word) {
    return accepted.empty() || std::find(accepted.begin(), accepted.end(), word) != accepted.end();
}

/// A key without a name may be any token's; one with a name is for tokens that ask for it, or for none by name.
bool may_be_meant(const TokenKey& key, const std::optional<std::string_view>& kid) {
    return !kid || key.kid.empty() || key.kid == *kid;
}

Reason check_signature(const json::object& header, const Parts& parts, const TokenRules& rules) {
    const auto alg = string_member(header, "alg");
    const auto kid = string_member(header, "kid");
    if (!alg || (header.contains("kid") && !kid)) return Reason(malformed);
    // Extensions that must be understood, and none is (RFC 7515 §4.1.11).
    if (header.contains("crit")) return Reason("The token asks for an extension that is not known here");
    const auto* algorithm = find_jwt_algorithm(*alg);
    if (algorithm == nullptr || !accepts(rules.algorithms, *alg)) return Reason(not_accepted);
    const auto signature = decode_base64url(parts.signature);
    if (!signature) return Reason(malformed);
    bool any = false;
    for (const auto& key : rules.keys) {
        if (!fits(key, *algorithm)) continue;
        any = true;
        if (may_be_meant(key, kid) && verify_signature(*algorithm, key, parts.signed_text, *signature)) return {};
    }
    return Reason(any ? not_verified : not_accepted);
}

/// A NumericDate (RFC 7519 §2); nothing when it is no number, or none that there is.
std::optional<double> date_of(const json::value& value) {
    if (value.is_int64()) return static_cast<double>(value.get_int64());
    if (value.is_uint64()) return static_cast<double>(value.get_uint64());
    if (!value.is_double() || !std::isfinite(value.get_double())) return std::nullopt;
    return value.get_double();
}

Reason check_times(const json::object& claims, std::int64_t now) {
    const auto time = static_cast<double>(now);
    const auto leeway = static_cast<double>(token_leeway_seconds);
    if (const auto* exp = claims.if_contains("exp")) {
        const auto end = date_of(*exp);
        if (!end) return Reason(malformed);
        if (time >= *end + leeway) return "The token has expired";
    }
    if (const auto* nbf = claims.if_contains("nbf")) {
        const auto start = date_of(*nbf);
        if (!start) return Reason(malformed);
        if (time < *start - leeway) return "The token is not valid yet";
    }
    return {};
}

bool is_for(const json::object& claims, const std::vector<std::string>& audiences) {
    if (audiences.empty()) return true;
    if (const auto one = string_member(claims, "aud")) return accepts(audiences, *one);
    const auto* aud = claims.if_contains("aud");
    if (aud == nullptr || !aud->is_array()) return false;
    for (const auto& one : aud->get_array()) {
        if (!one.is_string()) continue;
        const auto& text = one.get_string();
        if (accepts(audiences, std::string_view(text.data(), text.size()))) return true;
    }
    return false;
}

Reason check_claims(const json::object& claims, const TokenRules& rules, std::int64_t now) {
    auto reason = check_times(claims, now);
    if (!reason.empty()) return reason;
    const auto issuer = string_member(claims, "iss");
    if (!rules.issuers.empty() && (!issuer || !accepts(rules.issuers, *issuer))) {
        return "The token was not issued by one that is accepted here";
    }
    if (!is_for(claims, rules.audiences)) return "The token is for another audience";
    return {};
}

}  // namespace

std::vector<std::string> token_algorithms() {
    std::vector<std::string> names;
    for (const auto& algorithm : jwt_algorithms()) names.emplace_back(algorithm.name);
    return names;
}

bool can_verify(const TokenRules& rules) {
    const auto algorithms = jwt_algorithms();
    return std::any_of(rules.keys.begin(), rules.keys.end(), [&](const TokenKey& key) {
        return std::any_of(algorithms.begin(), algorithms.end(), [&](const JwtAlgorithm& algorithm) {
            return accepts(rules.algorithms, algorithm.name) && fits(key, algorithm);
        });
    });
}

boost::system::result<json::object, std::string> verify_token(std::string_view token, const TokenRules& rules,
                                                              std::int64_t now) {
    if (token.size() > token_bytes_max) return Reason("The token is too long");
    const auto parts = split(token);
    if (!parts) return Reason(malformed);
    const auto header = decoded_object(parts->header);
    if (!header) return Reason(malformed);
    auto reason = check_signature(header->members, *parts, rules);
    if (!reason.empty()) return reason;
    auto claims = decoded_object(parts->payload);
    if (!claims) return Reason(malformed);
    reason = check_claims(claims->members, rules, now);
    if (!reason.empty()) return reason;
    for (const auto& [name, text] : claims->inexact) claims->members[name] = text;
    return std::move(claims->members);
}

}  // namespace oncegate::core

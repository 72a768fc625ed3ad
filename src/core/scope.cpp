#include "core/scope.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "core/head_rules.hpp"
#include "core/host_rules.hpp"
#include "core/route_table.hpp"

namespace oncegate::core {

namespace {

/// Names the layout of what is hashed; a change of layout must change it, or old records would be found by new rules.
constexpr std::string_view identity_version = "oncegate record id 1";

/// An empty field counts as absent: it would be one scope for all careless clients (R37).
std::optional<std::string> field(const Fields& fields, std::string_view name) {
    auto combined = fields.combined(name);
    if (combined && combined->empty()) return std::nullopt;
    return combined;
}

/// A text as it is, a number or truth value as JSON writes it. Lists, objects and null name nobody, and neither does an
/// empty text.
std::optional<std::string> claim(const boost::json::object& claims, std::string_view name) {
    const auto* value = claims.if_contains(boost::json::string_view(name.data(), name.size()));
    if (value == nullptr || value->is_null() || value->is_structured()) return std::nullopt;
    if (!value->is_string()) return boost::json::serialize(*value);
    const auto& text = value->get_string();
    if (text.empty()) return std::nullopt;
    return std::string(text.data(), text.size());
}

/// Nothing when the request lacks the part.
std::optional<std::string> value_of(const ScopePart& part, const ScopeSource& source) {
    switch (part.kind) {
        case ScopePart::Kind::route: return std::string(source.route);
        case ScopePart::Kind::method: return source.head.method;
        case ScopePart::Kind::host: {
            // As routes are matched: what is one host for them is one scope.
            auto host = to_lower(host_of(effective_host(source.head)));
            if (host.empty()) return std::nullopt;
            return host;
        }
        case ScopePart::Kind::path: return normalise_path(split_target(source.head.target).path);
        case ScopePart::Kind::header: return field(source.head.fields, part.name);
        case ScopePart::Kind::client_cert:
            if (!source.client_cert || source.client_cert->empty()) return std::nullopt;
            return std::string(*source.client_cert);
        case ScopePart::Kind::client_ip:
            if (source.client_address.empty()) return std::nullopt;
            return std::string(source.client_address);
        case ScopePart::Kind::jwt: return source.claims == nullptr ? std::nullopt : claim(*source.claims, part.name);
        case ScopePart::Kind::auth:
            return source.authorization == nullptr ? std::nullopt : field(*source.authorization, part.name);
    }
    std::abort();
}

}  // namespace

std::string name_of(const ScopePart& part) {
    switch (part.kind) {
        case ScopePart::Kind::route: return "route";
        case ScopePart::Kind::method: return "method";
        case ScopePart::Kind::host: return "host";
        case ScopePart::Kind::path: return "path";
        case ScopePart::Kind::header: return "header:" + part.name;
        case ScopePart::Kind::jwt: return "jwt:" + part.name;
        case ScopePart::Kind::client_cert: return "client_cert";
        case ScopePart::Kind::client_ip: return "client_ip";
        case ScopePart::Kind::auth: return "auth:" + part.name;
    }
    std::abort();
}

boost::system::result<std::vector<ScopeValue>, std::string> read_scope(const std::vector<ScopePart>& parts,
                                                                       const ScopeSource& source) {
    std::vector<ScopeValue> values;
    values.reserve(parts.size());
    for (const auto& part : parts) {
        auto value = value_of(part, source);
        if (!value && !part.optional) return name_of(part);
        values.push_back({name_of(part), std::move(value)});
    }
    return values;
}

RecordId identify(const std::vector<ScopeValue>& scope, std::string_view key) {
    Sha256 hash;
    hash.update_prefixed(identity_version);
    for (const auto& [part, value] : scope) {
        hash.update_prefixed(to_lower(part));
        hash.update(value ? std::string_view("\1", 1) : std::string_view("\0", 1));
        hash.update_prefixed(value.value_or(std::string()));
    }
    hash.update("k");
    hash.update_prefixed(key);
    return hash.finish();
}

}  // namespace oncegate::core

#include "core/forwarding.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/field_list.hpp"
#include "core/head_rules.hpp"

namespace oncegate::core {
namespace {

template <std::size_t N>
bool is_among(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::any_of(names.begin(), names.end(), [name](std::string_view one) { return iequals(name, one); });
}

constexpr std::array<std::string_view, 10> hop_by_hop_names{"Connection",
                                                            "Keep-Alive",
                                                            "Proxy-Connection",
                                                            "TE",
                                                            "Trailer",
                                                            "Transfer-Encoding",
                                                            "Upgrade",
                                                            "Proxy-Authenticate",
                                                            "Proxy-Authentication-Info",
                                                            "Proxy-Authorization"};

/// Fields that a sender may not make hop-by-hop by naming them in Connection: without Host the request is invalid, and
/// the others tell the upstream who is asking. RFC 9110 §7.6.1 forbids to name what is meant for every recipient.
constexpr std::array<std::string_view, 8> never_nominated{
    "Host",           "Cache-Control", "Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host",
    "Idempotency-Key"};

/// What a recipient would act on before it has seen the body: routing, authentication, control and cookies have no
/// place in a trailer (RFC 9110 §6.5.1), nor has what the proxy itself reads or adds.
constexpr std::array<std::string_view, 16> never_in_trailers{"Host",
                                                             "Authorization",
                                                             "Cookie",
                                                             "Set-Cookie",
                                                             "Cache-Control",
                                                             "Expect",
                                                             "Idempotency-Key",
                                                             "Idempotency-Outcome",
                                                             "Range",
                                                             "Location",
                                                             "Forwarded",
                                                             "X-Forwarded-For",
                                                             "X-Forwarded-Proto",
                                                             "X-Forwarded-Host",
                                                             "Via",
                                                             "Max-Forwards"};

constexpr std::array<std::string_view, 3> proxy_only_names{"Idempotency-Attempt", "Idempotency-Token",
                                                           "Idempotency-Recovery-Point"};

bool is_framing(std::string_view name) { return iequals(name, "Content-Length") || iequals(name, "Transfer-Encoding"); }

/// Order without case.
bool precedes(std::string_view option, std::string_view name) {
    return std::lexicographical_compare(option.begin(), option.end(), name.begin(), name.end(),
                                        [](char a, char b) { return lower(a) < lower(b); });
}

/// What of the client's fields goes on. Expect is met by the proxy, which has the body or asks for it itself (R123).
bool stays_behind(std::string_view name, const std::vector<std::string>& options) {
    return is_hop_by_hop(name, options) || is_framing(name) || is_among(name, proxy_only_names) ||
           iequals(name, "Expect");
}

/// One fewer hop for OPTIONS and TRACE (RFC 9110 §7.6.2); anything but a positive number is passed on as it is.
std::optional<std::string> fewer_hops(const RequestHead& head, const FieldView& field) {
    if (head.method != "OPTIONS" && head.method != "TRACE") return std::nullopt;
    if (!iequals(field.name, "Max-Forwards")) return std::nullopt;
    constexpr std::size_t digits_max = 9;  // keeps the number within its type
    if (field.value.size() > digits_max || !std::all_of(field.value.begin(), field.value.end(), is_digit))
        return std::nullopt;
    std::uint32_t hops = 0;
    for (const char c : field.value) hops = hops * 10 + static_cast<std::uint32_t>(c - '0');
    if (hops == 0) return std::nullopt;
    return std::to_string(hops - 1);
}

/// The origin-form of the target: an absolute-form is for proxies, and its authority travels in Host (RFC 9112 §3.2).
std::string origin_target(const RequestHead& head) {
    if (head.target.starts_with('/') || head.target == "*" || head.method == "CONNECT") return head.target;
    const auto parts = split_target(head.target);
    // RFC 9112 §3.2.4: an OPTIONS on a URI with neither path nor query asks about the server as a whole.
    const bool bare = parts.query.empty() && parts.path == "/" && !head.target.ends_with('/');
    if (bare && head.method == "OPTIONS") return "*";
    return std::string(parts.path).append(parts.query);
}

/// Room for a copy of `source` and what is added to it, so that the copy grows no buffer.
void reserve_for(Fields& copy, const Fields& source, std::size_t added_lines, std::size_t added_bytes) {
    std::size_t bytes = added_bytes;
    for (const auto field : source) bytes += field.name.size() + field.value.size();
    copy.reserve(source.size() + added_lines, bytes);
}

void append_element(Fields& fields, std::string_view name, std::string_view element) {
    auto list = fields.combined(name).value_or(std::string());
    if (!list.empty()) list += ", ";
    fields.set(name, list.append(element));
}

void add_when_absent(Fields& fields, std::string_view name, std::string_view value) {
    if (!value.empty() && !fields.contains(name)) fields.add(name, value);
}

/// A node or host as Forwarded writes it: a token bare, anything else quoted (RFC 7239 §4, §6).
std::string token_or_quoted(std::string_view text) {
    if (is_token(text)) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted.append("\"");
}

std::string forwarded_element(const Peer& peer, std::string_view host) {
    const bool ipv6 = peer.address.find(':') != std::string::npos;
    const std::string node = peer.address.empty() ? "unknown" : ipv6 ? "[" + peer.address + "]" : peer.address;
    std::string element = "for=" + token_or_quoted(node);
    if (!host.empty()) element.append(";host=").append(token_or_quoted(host));
    return element.append(";proto=").append(peer.scheme);
}

/// Where an element of Via ends: comments nest and may hold commas (RFC 9110 §5.6.5).
std::size_t via_element_end(std::string_view value) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const char c = value[i];
        if (c == '\\' && depth > 0) ++i;
        if (c == '(') ++depth;
        if (c == ')' && depth > 0) --depth;
        if (c == ',' && depth == 0) return i;
    }
    return value.size();
}

/// received-by of `received-protocol RWS received-by [ RWS comment ]`.
std::string_view received_by(std::string_view element) {
    element = trim_ows(element);
    const auto gap = element.find_first_of(" \t");
    if (gap == std::string_view::npos) return {};
    element = trim_ows(element.substr(gap));
    return element.substr(0, element.find_first_of(" \t("));
}

}  // namespace

std::vector<std::string> connection_options(const Fields& fields) {
    std::vector<std::string> options;
    for (const auto field : fields) {
        if (!iequals(field.name, "Connection")) continue;
        for_each_element(field.value, [&](std::string_view option) {
            if (!option.empty()) options.push_back(to_lower(option));
        });
    }
    std::sort(options.begin(), options.end());
    options.erase(std::unique(options.begin(), options.end()), options.end());
    return options;
}

bool is_hop_by_hop(std::string_view name, const std::vector<std::string>& options) {
    if (is_among(name, hop_by_hop_names)) return true;
    if (options.empty() || is_among(name, never_nominated)) return false;
    // Sorted, so that many options beside many fields cost no more than sorting them.
    const auto at = std::lower_bound(options.begin(), options.end(), name, precedes);
    return at != options.end() && iequals(*at, name);
}

bool loops(const Fields& fields, std::string_view pseudonym) {
    for (const auto field : fields) {
        if (!iequals(field.name, "Via")) continue;
        for (auto rest = field.value; !rest.empty();) {
            const auto end = via_element_end(rest);
            if (iequals(received_by(rest.substr(0, end)), pseudonym)) return true;
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    return false;
}

RequestHead for_upstream(const RequestHead& received, const Peer& peer, std::string_view pseudonym) {
    constexpr std::size_t added_lines = 6;
    constexpr std::size_t added_bytes = 512;
    const auto options = connection_options(received.fields);
    const auto host = effective_host(received);
    const bool target_names_host = !received.target.starts_with('/') && received.target != "*";

    RequestHead head;
    head.method = received.method;
    head.target = origin_target(received);
    head.version = HttpVersion::http11;
    reserve_for(head.fields, received.fields, added_lines, added_bytes);
    for (const auto field : received.fields) {
        if (stays_behind(field.name, options)) continue;
        if (target_names_host && iequals(field.name, "Host")) {
            head.fields.add(field.name, host);
        } else if (const auto hops = fewer_hops(received, field)) {
            head.fields.add(field.name, *hops);
        } else {
            head.fields.add(field.name, field.value);
        }
    }
    add_when_absent(head.fields, "Host", host);

    head.fields.add("Via", std::string(received.version == HttpVersion::http10 ? "1.0 " : "1.1 ").append(pseudonym));
    if (!peer.address.empty()) append_element(head.fields, "X-Forwarded-For", peer.address);
    // Only a trusted proxy's word on these would count, and none is trusted yet: what the client says of itself goes.
    head.fields.set("X-Forwarded-Proto", peer.scheme);
    head.fields.remove("X-Forwarded-Host");
    add_when_absent(head.fields, "X-Forwarded-Host", host);
    append_element(head.fields, "Forwarded", forwarded_element(peer, host));
    return head;
}

ResponseHead for_client(const ResponseHead& received, std::string_view http_date) {
    const auto options = connection_options(received.fields);
    ResponseHead head;
    head.version = received.version;
    head.status = received.status;
    head.reason = received.reason;
    reserve_for(head.fields, received.fields, 1, http_date.size() + 4);
    for (const auto field : received.fields) {
        const bool dropped =
            is_hop_by_hop(field.name, options) || is_framing(field.name) || iequals(field.name, "Idempotency-Outcome");
        if (!dropped) head.fields.add(field.name, field.value);
    }
    add_when_absent(head.fields, "Date", http_date);
    return head;
}

Fields forwarded_trailers(const Fields& received) {
    Fields kept;
    for (const auto field : received) {
        const bool dropped = is_hop_by_hop(field.name, {}) || is_framing(field.name) ||
                             is_among(field.name, proxy_only_names) || is_among(field.name, never_in_trailers);
        if (!dropped) kept.add(field.name, field.value);
    }
    return kept;
}

Fields for_replay(const Fields& stored, const ReplayRule& rule, std::string_view http_date) {
    const auto excluded = [&rule](std::string_view name) {
        return std::any_of(rule.exclude_headers.begin(), rule.exclude_headers.end(),
                           [name](const std::string& one) { return iequals(name, one); });
    };
    const auto asks_for_retry = [](const FieldView& field) {
        return iequals(field.value, "true") &&
               (iequals(field.name, "x-should-retry") || iequals(field.name, "Stripe-Should-Retry"));
    };
    bool date_due = rule.date == ReplayRule::Date::now;
    const bool keep_dates = !date_due;
    Fields fields;
    reserve_for(fields, stored, 2, rule.marker.size() + http_date.size() + 16);
    for (const auto field : stored) {
        if (excluded(field.name) || (!rule.marker.empty() && iequals(field.name, rule.marker))) continue;
        if (keep_dates || !iequals(field.name, "Date")) {
            fields.add(field.name, asks_for_retry(field) ? std::string_view("false") : field.value);
        } else if (date_due) {
            fields.add(field.name, http_date);
            date_due = false;
        }
    }
    if (date_due) fields.add("Date", http_date);
    if (!rule.marker.empty()) fields.add(rule.marker, "true");
    return fields;
}

}  // namespace oncegate::core

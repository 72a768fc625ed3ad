#include "core/known_fields.hpp"

#include <algorithm>
#include <array>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

using enum FieldTrait;

struct Row {
    std::string_view name;  ///< in lower case
    KnownField field;
};

/// Sorted by the length of the name.
constexpr std::array rows{
    Row{"te", {FieldId::te, hop_by_hop}},
    // RFC 9110 §7.6.3: a path that a message could hide from would not be found to be a circle.
    Row{"via", {FieldId::via, for_everyone | head_only}},
    Row{"age", {FieldId::other, head_only}},
    Row{"date", {FieldId::date, head_only}},
    Row{"host", {FieldId::host, for_everyone | head_only}},
    Row{"vary", {FieldId::other, head_only}},
    // Reserved, so that the option of that name means nothing else (RFC 9110 §18.4).
    Row{"close", {FieldId::close, hop_by_hop}},
    Row{"range", {FieldId::range, head_only}},
    Row{"cookie", {FieldId::cookie, head_only}},
    Row{"expect", {FieldId::expect, head_only}},
    Row{"trailer", {FieldId::trailer, hop_by_hop}},
    Row{"upgrade", {FieldId::upgrade, hop_by_hop}},
    Row{"expires", {FieldId::other, head_only}},
    Row{"warning", {FieldId::other, head_only}},
    Row{"location", {FieldId::location, head_only}},
    Row{"if-match", {FieldId::other, head_only}},
    Row{"if-range", {FieldId::other, head_only}},
    Row{"forwarded", {FieldId::forwarded, for_everyone | head_only}},
    Row{"connection", {FieldId::connection, hop_by_hop}},
    Row{"keep-alive", {FieldId::keep_alive, hop_by_hop}},
    Row{"set-cookie", {FieldId::set_cookie, head_only}},
    Row{"retry-after", {FieldId::other, head_only}},
    Row{"max-forwards", {FieldId::max_forwards, head_only}},
    Row{"content-type", {FieldId::other, head_only}},
    Row{"authorization", {FieldId::authorization, head_only}},
    // RFC 9110 §7.6.1 itself names it as one that Connection must not.
    Row{"cache-control", {FieldId::cache_control, for_everyone | head_only}},
    Row{"content-range", {FieldId::other, head_only}},
    Row{"if-none-match", {FieldId::other, head_only}},
    Row{"content-length", {FieldId::content_length, framing}},
    // Belongs to an upgrade to HTTP/2, which is never passed on.
    Row{"http2-settings", {FieldId::http2_settings, hop_by_hop}},
    Row{"idempotency-key", {FieldId::idempotency_key, for_everyone | head_only}},
    Row{"x-forwarded-for", {FieldId::x_forwarded_for, for_everyone | head_only}},
    Row{"proxy-connection", {FieldId::proxy_connection, hop_by_hop}},
    Row{"x-forwarded-host", {FieldId::x_forwarded_host, for_everyone | head_only}},
    Row{"content-encoding", {FieldId::other, head_only}},
    Row{"www-authenticate", {FieldId::other, head_only}},
    Row{"idempotency-token", {FieldId::idempotency_token, proxy_only}},
    Row{"transfer-encoding", {FieldId::transfer_encoding, hop_by_hop | framing}},
    Row{"x-forwarded-proto", {FieldId::x_forwarded_proto, for_everyone | head_only}},
    Row{"if-modified-since", {FieldId::other, head_only}},
    Row{"proxy-authenticate", {FieldId::proxy_authenticate, hop_by_hop}},
    Row{"idempotency-attempt", {FieldId::idempotency_attempt, proxy_only}},
    Row{"idempotency-outcome", {FieldId::idempotency_outcome, head_only}},
    Row{"proxy-authorization", {FieldId::proxy_authorization, hop_by_hop}},
    Row{"if-unmodified-since", {FieldId::other, head_only}},
    Row{"proxy-authentication-info", {FieldId::proxy_authentication_info, hop_by_hop}},
    Row{"idempotency-recovery-point", {FieldId::idempotency_recovery_point, proxy_only}},
};

static_assert(std::is_sorted(rows.begin(), rows.end(),
                             [](const Row& a, const Row& b) { return a.name.size() < b.name.size(); }));

constexpr std::size_t longest = rows.back().name.size();

/// Where the names of each length begin; those of length n end where those of n + 1 begin.
constexpr auto make_starts() {
    std::array<std::uint8_t, longest + 2> starts{};
    std::uint8_t row = 0;
    for (std::size_t length = 0; length < starts.size(); ++length) {
        while (row < rows.size() && rows[row].name.size() < length) ++row;
        starts[length] = row;
    }
    return starts;
}
constexpr auto starts = make_starts();

constexpr bool is_named(std::string_view name, std::string_view lower_case) {
    return std::equal(name.begin(), name.end(), lower_case.begin(), [](char a, char b) { return lower(a) == b; });
}

}  // namespace

KnownField known_field(std::string_view name) {
    if (name.size() > longest) return {};
    for (std::size_t row = starts[name.size()]; row < starts[name.size() + 1]; ++row) {
        if (is_named(name, rows[row].name)) return rows[row].field;
    }
    return {};
}

}  // namespace oncegate::core

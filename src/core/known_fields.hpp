#pragma once
// The field names that mean something to an intermediary, found by one look-up (RFC 9110 §7.6.1, R75, R121). What is
// done with them is the caller's to say.

#include <cstdint>
#include <string_view>

namespace oncegate::core {

enum class FieldId : std::uint8_t {
    other,
    authorization,
    cache_control,
    close,
    connection,
    content_length,
    cookie,
    date,
    expect,
    forwarded,
    host,
    http2_settings,
    idempotency_attempt,
    idempotency_key,
    idempotency_outcome,
    idempotency_recovery_point,
    idempotency_token,
    keep_alive,
    location,
    max_forwards,
    proxy_authenticate,
    proxy_authentication_info,
    proxy_authorization,
    proxy_connection,
    range,
    set_cookie,
    te,
    trailer,
    transfer_encoding,
    upgrade,
    via,
    x_forwarded_for,
    x_forwarded_host,
    x_forwarded_proto,
};

enum class FieldTrait : std::uint8_t {
    none = 0,
    hop_by_hop = 1,    ///< speaks of one connection; never passed on as it came
    framing = 2,       ///< says where the content ends; made anew for each hop
    proxy_only = 4,    ///< a request field that only this proxy may send
    for_everyone = 8,  ///< stays although Connection names it
    head_only = 16,    ///< acted on before the content is there: no place in a trailer (RFC 9110 §6.5.1)
};

constexpr FieldTrait operator|(FieldTrait a, FieldTrait b) {
    return static_cast<FieldTrait>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

struct KnownField {
    FieldId id = FieldId::other;
    FieldTrait traits = FieldTrait::none;

    /// Whether it has one of `wanted`.
    constexpr bool is(FieldTrait wanted) const {
        return (static_cast<unsigned>(traits) & static_cast<unsigned>(wanted)) != 0;
    }
};

/// Compared without case. FieldId::other, without traits, for every name that is not in the list above.
KnownField known_field(std::string_view name);

}  // namespace oncegate::core

// The head of a response on its way to the client, trailers, and replays.

#include "core/forwarding.hpp"

#include <algorithm>

#include "core/connection_options.hpp"
#include "core/known_fields.hpp"

namespace oncegate::core {

namespace {

/// Room for a copy of `source` and what is added to it, so that the copy grows no buffer.
void reserve_for(Fields& copy, const Fields& source, std::size_t added_lines, std::size_t added_bytes) {
    std::size_t bytes = added_bytes;
    for (const auto field : source) bytes += field.name.size() + field.value.size();
    copy.reserve(source.size() + added_lines, bytes);
}

/// What tells the client which protocols the upstream switches to, or waits for (RFC 9110 §7.8, §15.5.22).
void add_upgrade(Fields& fields, const ResponseHead& received) {
    if (received.status != 101 && received.status != 426) return;
    const auto protocols = tunnel_protocols(received.fields);
    if (protocols.empty()) return;
    fields.add("Connection", "upgrade");
    fields.add("Upgrade", protocols);
}

}  // namespace

ResponseHead for_client(const ResponseHead& received, std::string_view http_date, Upgrade upgrade) {
    constexpr std::size_t added_lines = 3;
    constexpr std::size_t added_bytes = 96;
    const ConnectionOptions options(received.fields);
    ResponseHead head;
    head.version = received.version;
    head.status = received.status;
    head.reason = received.reason;
    reserve_for(head.fields, received.fields, added_lines, added_bytes);
    bool date_due = !http_date.empty();
    for (const auto field : received.fields) {
        const auto known = known_field(field.name);
        const bool dropped = known.is(FieldTrait::hop_by_hop | FieldTrait::framing) ||
                             known.id == FieldId::idempotency_outcome || options.nominates(field.name);
        if (dropped) continue;
        if (known.id == FieldId::date) date_due = false;
        head.fields.add(field.name, field.value);
    }
    if (date_due) head.fields.add("Date", http_date);
    if (upgrade == Upgrade::keep) add_upgrade(head.fields, received);
    return head;
}

Fields forwarded_trailers(const Fields& received, const Fields& head) {
    constexpr auto unwanted =
        FieldTrait::hop_by_hop | FieldTrait::framing | FieldTrait::proxy_only | FieldTrait::head_only;
    Fields kept;
    if (received.empty()) return kept;
    const ConnectionOptions options(head);
    for (const auto field : received) {
        if (!known_field(field.name).is(unwanted) && !options.nominates(field.name)) kept.add(field.name, field.value);
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

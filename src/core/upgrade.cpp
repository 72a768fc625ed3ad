#include "core/upgrade.hpp"

#include <algorithm>
#include <array>

#include "core/connection_options.hpp"
#include "core/field_list.hpp"

namespace oncegate::core {

namespace {

/// protocol-name of `protocol-name [ "/" protocol-version ]`; empty when the element is not of that form.
std::string_view protocol_name(std::string_view element) {
    const auto slash = element.find('/');
    const auto name = element.substr(0, slash);
    const bool sound = is_token(name) && (slash == std::string_view::npos || is_token(element.substr(slash + 1)));
    return sound ? name : std::string_view();
}

bool speaks_http(std::string_view name) {
    static constexpr std::array<std::string_view, 5> names{"h2c", "h2", "h3", "HTTP", "TLS"};
    return std::any_of(names.begin(), names.end(), [name](std::string_view one) { return iequals(name, one); });
}

/// Calls `visit` with each protocol that is named; false when one is malformed.
template <class Visit>
bool for_each_protocol(const Fields& fields, Visit visit) {
    bool sound = true;
    for (const auto field : fields) {
        if (!iequals(field.name, "Upgrade")) continue;
        for_each_element(field.value, [&](std::string_view element) {
            if (element.empty()) return;
            if (protocol_name(element).empty()) sound = false;
            visit(element);
        });
    }
    return sound;
}

}  // namespace

std::string tunnel_protocols(const Fields& fields) {
    std::string kept;
    const bool sound = for_each_protocol(fields, [&](std::string_view protocol) {
        if (speaks_http(protocol_name(protocol))) return;
        if (!kept.empty()) kept += ", ";
        kept += protocol;
    });
    return sound ? kept : std::string();
}

bool wants_upgrade(const RequestHead& head) {
    return head.version == HttpVersion::http11 && head.fields.contains("Upgrade") &&
           ConnectionOptions(head.fields).upgrade() && !tunnel_protocols(head.fields).empty();
}

bool switches_as_asked(const RequestHead& sent, const ResponseHead& received) {
    if (received.status != 101) return false;
    std::size_t named = 0;
    std::size_t agreed = 0;
    const bool sound = for_each_protocol(received.fields, [&](std::string_view chosen) {
        ++named;
        bool asked = false;
        for_each_protocol(sent.fields, [&](std::string_view wanted) { asked = asked || iequals(wanted, chosen); });
        if (asked) ++agreed;
    });
    return sound && named > 0 && agreed == named;
}

}  // namespace oncegate::core

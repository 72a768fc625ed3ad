// `host`, `headers`, `upgrade`, `retries` of a route: how its requests are passed on. What would break framing, the
// proxy's own promises or the key on its way is refused with the reason.

#include <algorithm>

#include "config/addresses.hpp"
#include "config/foreign_names.hpp"
#include "config/load_parts.hpp"
#include "config/readers.hpp"
#include "core/known_fields.hpp"

namespace oncegate::config {

namespace {

using core::FieldId;
using core::FieldTrait;

enum class Side : std::uint8_t { request, response };

/// Why a route may not edit this field; empty: it may.
std::string refusal(Side side, std::string_view name) {
    const auto known = core::known_field(name);
    if (known.is(FieldTrait::framing)) return "says where the content ends, which the proxy itself sets";
    if (known.is(FieldTrait::hop_by_hop)) return "is of one connection, which the proxy itself speaks for";
    if (side == Side::response) {
        return known.id == FieldId::idempotency_outcome ? "is for the proxy and never reaches a client" : "";
    }
    if (known.is(FieldTrait::proxy_only)) return "is only for the proxy to send";
    if (known.id == FieldId::host) return "is set with the route's own key: host";
    if (known.id == FieldId::via) return "shows a request that runs in a circle, and must stay as it is";
    if (known.id == FieldId::expect) return "is answered by the proxy and not passed on";
    return {};
}

/// RFC 9110 §5.5, but for the white space around it, which a recipient would drop.
bool is_field_value(std::string_view value) {
    const bool clean = std::all_of(value.begin(), value.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return c == '\t' || (byte >= 0x20 && byte != 0x7f);
    });
    return clean && core::trim_ows(value).size() == value.size();
}

constexpr const char* no_variables = "variables are not supported yet; the value would be sent as written";

/// Where an upstream finds what the most copied variables stand for.
std::string client_hint(std::string_view value) {
    const bool client = value.find("remote_addr") != std::string_view::npos ||
                        value.find("forwarded_for") != std::string_view::npos ||
                        value.find("REMOTE_ADDRESS") != std::string_view::npos || value.find("[src]") != value.npos;
    return client ? ", and X-Forwarded-For carries the client's address already" : "";
}

bool has_name(const std::vector<std::string>& names, std::string_view name) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& one) { return core::iequals(one, name); });
}

/// Reads one side's edits; every name at most once, in `set` or in `remove`.
class EditReader {
 public:
    EditReader(Side side, core::HeaderEdits& edits, Problems& problems)
        : side_(side), edits_(edits), problems_(problems) {}

    void read(const Node& node) {
        Section section(node, problems_);
        const Node* set = section.take("set");
        const Node* remove = section.take("remove");
        section.finish();
        if (node.kind == Node::Kind::mapping && node.entries.empty()) problems_.add(node, "has no effect: it is empty");
        if (set != nullptr) read_set(*set);
        if (remove != nullptr) read_remove(*remove);
    }

 private:
    void read_set(const Node& node) {
        if (node.kind != Node::Kind::mapping) {
            return problems_.add(node, "a mapping from header names to values is expected here");
        }
        if (node.entries.empty()) problems_.add(node, "has no effect: it is empty");
        for (const auto& entry : node.entries) {
            if (!accept(entry.key, entry.place, node.path)) continue;
            const auto value = text(entry.value, problems_);
            if (!value) continue;
            if (!is_field_value(*value)) {
                problems_.add(entry.value,
                              "a header value may not hold control characters nor white space at its ends");
            }
            if (looks_like_a_variable(*value)) {
                problems_.add(entry.value, "'" + *value + "': " + no_variables + client_hint(*value));
            }
            edits_.set.emplace_back(entry.key, *value);
        }
    }

    void read_remove(const Node& node) {
        if (node.kind == Node::Kind::list && node.items.empty()) problems_.add(node, "has no effect: it is empty");
        for (const Node* item : items_of(node, problems_)) {
            const auto name = text(*item, problems_);
            if (name && accept(*name, item->place, item->path)) edits_.remove.push_back(*name);
        }
    }

    bool accept(const std::string& name, Place place, const std::string& path) {
        std::string why;
        if (!core::is_token(name)) {
            why = "is not a header name";
        } else if (name.find('*') != std::string::npos) {
            why = "is taken literally; patterns are not supported yet";
        } else if (has_name(seen_, name)) {
            why = "is already in these edits";
        } else {
            why = refusal(side_, name);
        }
        seen_.push_back(name);
        if (!why.empty()) problems_.add(place, path + ": '" + name + "' " + why);
        return why.empty();
    }

    Side side_;
    core::HeaderEdits& edits_;
    Problems& problems_;
    std::vector<std::string> seen_;
};

bool edits(const core::HeaderEdits& edits, std::string_view name) {
    return has_name(edits.remove, name) || std::any_of(edits.set.begin(), edits.set.end(),
                                                       [&](const auto& one) { return core::iequals(one.first, name); });
}

/// The upstream must read the key that the client sent (contract §3).
void check_key_fields(const Node& node, const Route& route, Problems& problems) {
    if (!route.policy || route.policy->mode == core::Mode::off) return;
    for (const auto& alternative : route.policy->key.from) {
        for (const auto& location : alternative) {
            const bool is_field = location.kind == core::KeyLocation::Kind::header;
            if (!is_field || !edits(route.request_headers, location.name)) continue;
            problems.add(node, location.name + " carries the key of this route and reaches the upstream untouched");
        }
    }
}

void load_headers(const Node& node, Route& route, Problems& problems) {
    Section section(node, problems);
    if (node.kind == Node::Kind::mapping && node.entries.empty()) problems.add(node, "has no effect: it is empty");
    if (const Node* side = section.take("request")) {
        EditReader(Side::request, route.request_headers, problems).read(*side);
        check_key_fields(*side, route, problems);
    }
    if (const Node* side = section.take("response")) {
        EditReader(Side::response, route.response_headers, problems).read(*side);
    }
    section.finish();
}

void load_host(const Node& node, HostRule& host, Problems& problems) {
    const auto written = name(node, problems);
    if (!written) return;
    const std::vector<std::pair<std::string, HostRule::Kind>> words{{"preserve", HostRule::Kind::preserve},
                                                                    {"upstream", HostRule::Kind::upstream}};
    for (const auto& [word, kind] : words) {
        if (*written == word) {
            host.kind = kind;
            return;
        }
        // Taken for a name, a slip of the fingers would be sent to the upstream.
        if (edit_distance(core::to_lower(*written), word) <= 1) {
            return problems.add(node, "'" + *written + "' is not known; did you mean '" + word + "'?");
        }
    }
    if (looks_like_a_variable(*written)) {
        return problems.add(node, "'" + *written + "': " + no_variables + ", and preserve sends the client's Host");
    }
    if (has_wrong_port(*written)) return problems.add(node, "'" + *written + "': the port must be from 1 to 65535");
    if (!is_host_with_port(*written)) {
        return problems.add(node, "must be preserve, upstream or a host name, not '" + *written + "'");
    }
    host.kind = HostRule::Kind::name;
    host.name = *written;
}

/// A tunnel's bytes are not looked into, so no policy can hold for what runs in it (R135).
void check_upgrade(const Node& node, const Route& route, Problems& problems) {
    if (!route.upgrade || !route.policy || route.policy->mode == core::Mode::off) return;
    problems.add(node, "a route with an idempotency policy passes no upgrade on; give the upgraded path its own route");
}

void check_retries(const Node& node, const Route& route, Problems& problems) {
    const auto& methods = route.match.methods;
    const bool none_safe = !methods.empty() && std::none_of(methods.begin(), methods.end(), is_safe);
    if (route.retries > 0 && none_safe) {
        problems.add(node, "has no effect: only GET, HEAD, OPTIONS and TRACE are tried again, and this route has none");
    }
}

}  // namespace

void load_forwarding(Section& section, Route& route, Problems& problems) {
    if (const Node* host = section.take("host")) load_host(*host, route.host, problems);
    if (const Node* headers = section.take("headers")) load_headers(*headers, route, problems);
    if (const Node* upgrade = section.take("upgrade")) {
        route.upgrade = flag(*upgrade, problems).value_or(false);
        check_upgrade(*upgrade, route, problems);
    }
    if (const Node* retries = section.take("retries")) {
        if (retries->kind == Node::Kind::mapping) {
            return problems.add(*retries, "conditions are not supported yet; write a number of further tries");
        }
        route.retries = static_cast<unsigned>(Integer{0, 10}(*retries, problems).value_or(0));
        check_retries(*retries, route, problems);
    }
}

}  // namespace oncegate::config

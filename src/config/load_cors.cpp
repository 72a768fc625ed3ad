// `cors` of a route: which origins' scripts may use it. Everything that browsers would silently not match is refused
// here.

#include <algorithm>

#include "config/load_parts.hpp"
#include "config/readers.hpp"
#include "core/cors.hpp"

namespace oncegate::config {

namespace {

std::optional<std::string> origin(const Node& node, Problems& problems) {
    auto written = text(node, problems);
    if (!written || *written == "*") return written;
    const auto fault = core::origin_fault(*written);
    if (fault.empty()) return written;
    problems.add(node, std::string("'").append(*written).append("' ").append(fault));
    return std::nullopt;
}

std::vector<std::string> origins(const Node& node, Problems& problems) {
    std::vector<std::string> out;
    for (const Node* item : items_of(node, problems)) {
        auto one = origin(*item, problems);
        if (!one) continue;
        if (std::find(out.begin(), out.end(), *one) != out.end()) problems.add(*item, "is already in this list");
        out.push_back(std::move(*one));
    }
    if (node.kind == Node::Kind::list && node.items.empty()) {
        problems.add(node, "must name at least one origin; leave the block out to allow none");
    }
    const bool any = std::find(out.begin(), out.end(), "*") != out.end();
    if (any && out.size() > 1) problems.add(node, "'*' allows every origin; it stands alone");
    return out;
}

bool holds_star(const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), "*") != names.end();
}

/// Browsers take `*` for nothing but a character once credentials come along (Fetch standard, "CORS check").
void check_credentials(const Node& node, const Cors& cors, Problems& problems) {
    if (!cors.allow_credentials) return;
    if (holds_star(cors.allow_origins)) {
        problems.add(node, "'*' in allow_origins and allow_credentials: true exclude each other; name the origins");
    }
    if (holds_star(cors.allow_headers) || holds_star(cors.expose_headers)) {
        problems.add(node, "'*' is no wildcard with allow_credentials: true; name the headers");
    }
}

void check_edits(const Node& node, const core::HeaderEdits& edits, Problems& problems) {
    for (const auto& [name, value] : edits.set) {
        if (!core::to_lower(name).starts_with("access-control-")) continue;
        problems.add(node, std::string("headers.response sets ")
                               .append(name)
                               .append(", which this block answers for; write it in one place"));
    }
}

}  // namespace

void load_cors(Section& section, Route& route, Problems& problems) {
    const Node* node = section.take("cors");
    if (node == nullptr) return;
    Cors& cors = route.cors.emplace();
    Section block(*node, problems);
    if (const Node* allowed = block.need("allow_origins")) cors.allow_origins = origins(*allowed, problems);
    block.read("allow_headers", cors.allow_headers, field_names);
    block.read("expose_headers", cors.expose_headers, field_names);
    block.read("allow_credentials", cors.allow_credentials, flag);
    block.read("max_age", cors.max_age, Duration{milliseconds(0), std::chrono::hours(24) * 365});
    block.finish();
    check_credentials(*node, cors, problems);
    check_edits(*node, route.response_headers, problems);
}

}  // namespace oncegate::config

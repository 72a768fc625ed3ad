#include "core/client_address.hpp"

#include <algorithm>

#include "core/field_list.hpp"
#include "core/forwarded_field.hpp"

namespace oncegate::core {

namespace {

bool is_port(std::string_view text) {
    return !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), is_digit);
}

/// The canonical address in `192.0.2.7`, `192.0.2.7:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`; nothing
/// for a name, `unknown` or `_hidden`.
std::optional<std::string> address_of(std::string_view node) {
    if (node.starts_with('[')) {
        const auto end = node.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        const auto rest = node.substr(end + 1);
        if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return std::nullopt;
        node = node.substr(1, end - 1);
        if (node.find(':') == std::string_view::npos) return std::nullopt;
    } else if (std::count(node.begin(), node.end(), ':') == 1) {
        const auto colon = node.find(':');
        if (!is_port(node.substr(colon + 1))) return std::nullopt;
        node = node.substr(0, colon);
    }
    return canonical_address(node);
}

/// The elements of X-Forwarded-For from all its lines; empty ones are none (RFC 9110 §5.6.1).
std::vector<std::string_view> forwarded_for(const Fields& fields) {
    std::vector<std::string_view> nodes;
    for (const auto field : fields) {
        if (!iequals(field.name, "X-Forwarded-For")) continue;
        for_each_element(field.value, [&](std::string_view node) {
            if (!node.empty()) nodes.push_back(node);
        });
    }
    return nodes;
}

/// Where the walk from the right ended: the address that was reached, and the last element whose author is trusted.
struct Reached {
    std::string address;
    std::size_t element = 0;
};

template <class Node, class Text>
Reached walk(std::string_view peer, const std::vector<Node>& nodes, Text text, const std::vector<Network>& trusted) {
    Reached reached{std::string(peer), nodes.size()};
    while (reached.element > 0) {
        --reached.element;
        auto address = address_of(text(nodes[reached.element]));
        if (!address) break;
        reached.address = std::move(*address);
        if (!is_among(reached.address, trusted)) break;
    }
    return reached;
}

Reached walk_forwarded(std::string_view peer, const std::vector<ForwardedElement>& elements,
                       const std::vector<Network>& trusted) {
    return walk(
        peer, elements, [](const ForwardedElement& element) { return std::string_view(element.node); }, trusted);
}

/// "uri:spiffe://a, uri:spiffe://b" of the names that `wanted` holds for.
template <class Predicate>
std::string joined_names(const std::vector<std::string>& names, Predicate wanted) {
    std::vector<std::string_view> chosen;
    for (const auto& name : names) {
        if (wanted(name)) chosen.push_back(name);
    }
    std::sort(chosen.begin(), chosen.end());
    std::string joined;
    for (const auto name : chosen) joined.append(joined.empty() ? "" : ", ").append(name);
    return joined;
}

}  // namespace

std::string client_address(const Peer& peer, const Fields& fields, const std::vector<Network>& trusted) {
    if (peer.trust == Peer::Trust::none) return std::string(peer.address);
    const auto nodes = forwarded_for(fields);
    if (!nodes.empty()) {
        return walk(
                   peer.address, nodes, [](std::string_view node) { return node; }, trusted)
            .address;
    }
    const auto elements = parse_forwarded(fields);
    if (!elements) return std::string(peer.address);
    return walk_forwarded(peer.address, *elements, trusted).address;
}

std::string_view client_scheme(const Peer& peer, const Fields& fields, const std::vector<Network>& trusted) {
    if (peer.scheme == "https" || peer.trust == Peer::Trust::none) return peer.scheme;
    const auto is_https = [](std::string_view scheme) { return iequals(scheme, "https"); };
    if (const auto proto = fields.find("X-Forwarded-Proto")) {
        return is_https(trim_ows(proto->substr(0, proto->find(',')))) ? "https" : "http";
    }
    const auto elements = parse_forwarded(fields);
    if (!elements || elements->empty()) return peer.scheme;
    const auto element = walk_forwarded(peer.address, *elements, trusted).element;
    return is_https((*elements)[element].proto) ? "https" : "http";
}

std::string certificate_identity(std::string_view subject, const std::vector<std::string>& names,
                                 std::string_view fingerprint) {
    auto uris = joined_names(names, [](const std::string& name) { return name.starts_with("uri:"); });
    if (!uris.empty()) return uris;
    if (!subject.empty()) return std::string("subject:").append(subject);
    auto others = joined_names(names, [](const std::string&) { return true; });
    if (!others.empty()) return others;
    return std::string("sha256:").append(fingerprint);
}

}  // namespace oncegate::core

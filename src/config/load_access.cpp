// `authorize` and `jwt` of a route: who may do what, and whose key it is. Key files are only opened here: what is in
// them is for the program that loads them to judge, and it reads them again when they change.

#include <algorithm>

#include "config/addresses.hpp"
#include "config/load_parts.hpp"
#include "config/readers.hpp"
#include "config/yaml_text.hpp"
#include "core/jwt.hpp"
#include "core/known_fields.hpp"

namespace oncegate::config {

namespace {

using core::FieldId;
using core::FieldTrait;

bool starts_with_word(std::string_view name, std::string_view word) {
    return core::iequals(name.substr(0, word.size()), word);
}

/// A single text or a list of them.
template <class Reader>
std::vector<std::string> one_or_several(const Node& node, Problems& problems, const Reader& reader) {
    std::vector<std::string> out;
    if (node.kind != Node::Kind::list) {
        if (auto one = reader(node, problems)) out.push_back(std::move(*one));
        return out;
    }
    if (node.items.empty()) problems.add(node, "must name at least one; leave the key out for the default");
    for (const Node* item : items_of(node, problems)) {
        if (auto one = reader(*item, problems)) out.push_back(std::move(*one));
    }
    return out;
}

/// Why such a field of the service's answer cannot be put on the request; empty: it can.
std::string no_forwarding_of(std::string_view name) {
    const auto known = core::known_field(name);
    if (known.is(FieldTrait::framing) || starts_with_word(name, "Content-")) {
        return "describes the content of the service's own answer";
    }
    if (known.is(FieldTrait::hop_by_hop)) return "is of one connection, which the proxy itself speaks for";
    if (known.is(FieldTrait::proxy_only)) return "is only for the proxy to send";
    if (known.id == FieldId::host) return "is set with the route's own key: host";
    if (known.id == FieldId::via) return "shows a request that runs in a circle, and must stay as it is";
    if (known.id == FieldId::expect) return "is answered by the proxy and not passed on";
    return {};
}

/// Why the client's field of that name is never sent to the service; empty: it can be.
std::string no_sending_of(std::string_view name) {
    const auto known = core::known_field(name);
    if (known.is(FieldTrait::framing)) return "is not sent: the service is asked without content";
    if (known.is(FieldTrait::hop_by_hop)) return "is of one connection and never passed on";
    if (known.is(FieldTrait::proxy_only)) return "is only for the proxy to send";
    if (known.id == FieldId::host) return "is the service's own; the client's is sent as X-Forwarded-Host";
    if (known.id == FieldId::expect) return "is answered by the proxy and not passed on";
    return {};
}

template <class Objection>
std::vector<std::string> fields(const Node& node, Problems& problems, Objection objection) {
    std::vector<std::string> names;
    for (const Node* item : items_of(node, problems)) {
        auto name = field_name(*item, problems);
        if (!name) continue;
        std::string why = objection(*name);
        const auto same = [&](const std::string& other) { return core::iequals(other, *name); };
        if (std::any_of(names.begin(), names.end(), same)) why = "is already in this list";
        if (!why.empty()) problems.add(*item, std::string("'").append(*name).append("' ").append(why));
        names.push_back(std::move(*name));
    }
    return names;
}

struct ServiceUrl {
    UpstreamServer server;
    std::string target;
};

std::optional<ServiceUrl> service_url(const Node& node, Problems& problems) {
    const auto url = name(node, problems);
    if (!url) return std::nullopt;
    const auto refuse = [&](std::string_view why) {
        problems.add(node, std::string("'").append(*url).append("' ").append(why));
        return std::nullopt;
    };
    if (!url->starts_with("http://") && !url->starts_with("https://")) {
        return refuse("is not an http:// or https:// URL");
    }
    if (url->find('#') != std::string::npos) return refuse("has a fragment, which is never sent");
    const auto path = url->find_first_of("/?", url->find("//") + 2);
    const auto origin = std::string_view(*url).substr(0, path);
    if (origin.find('@') != std::string_view::npos) return refuse("holds credentials, which are not sent");
    ServiceUrl out;
    std::string why;
    auto server = parse_server(origin, why);
    if (!server) {
        problems.add(node, why);
        return std::nullopt;
    }
    out.server = std::move(*server);
    if (path != std::string::npos) out.target = url->substr(path);
    if (!out.target.starts_with('/')) out.target.insert(0, "/");
    if (!is_request_target(out.target)) return refuse("holds what a request target cannot, such as a space");
    return out;
}

/// The upstream that has this server alone, with its TLS and pool settings; made when there is none. A name that is
/// taken grows until it is not.
std::size_t upstream_of(const ServiceUrl& url, milliseconds timeout, std::vector<Upstream>& upstreams) {
    const auto scheme = url.server.scheme == UpstreamServer::Scheme::https ? "https://" : "http://";
    std::string made_name = std::string("authorize ").append(scheme).append(url.server.authority);
    for (std::size_t i = 0; i < upstreams.size(); ++i) {
        auto& upstream = upstreams[i];
        if (upstream.servers.size() != 1 || upstream.servers.front() != url.server) continue;
        if (upstream.made_for_authorize) {
            upstream.timeouts.connect = std::min(upstream.timeouts.connect, timeout);
        }
        return i;
    }
    const auto taken = [&](const Upstream& upstream) { return upstream.name == made_name; };
    while (std::any_of(upstreams.begin(), upstreams.end(), taken)) made_name.append("'");
    Upstream made;
    made.name = std::move(made_name);
    made.made_for_authorize = true;
    made.servers.push_back(url.server);
    made.timeouts.connect = std::min(made.timeouts.connect, timeout);
    upstreams.push_back(std::move(made));
    return upstreams.size() - 1;
}

std::optional<std::string> key_file(const Node& node, Problems& problems) {
    const auto written = text(node, problems);
    if (written && (written->starts_with("http://") || written->starts_with("https://"))) {
        problems.add(node, std::string("'").append(*written).append(
                               "' is not fetched; write it to a file: it is read again when it changes"));
        return std::nullopt;
    }
    return readable_file(node, problems);
}

std::optional<std::string> algorithm(const Node& node, Problems& problems) {
    auto written = text(node, problems);
    if (!written) return std::nullopt;
    const auto known = core::token_algorithms();
    if (std::find(known.begin(), known.end(), *written) != known.end()) return written;
    if (core::iequals(*written, "none")) {
        problems.add(node, "'none' is no signature: everybody could write such a token");
        return std::nullopt;
    }
    for (const auto& name : known) {
        if (!core::iequals(*written, name)) continue;
        problems.add(node, std::string("'").append(*written).append("' is not known; write ").append(name));
        return std::nullopt;
    }
    std::string all;
    for (const auto& name : known) all.append(all.empty() ? "" : ", ").append(name);
    problems.add(node, std::string("'").append(*written).append("' is not known; expected some of ").append(all));
    return std::nullopt;
}

bool reads(const core::Policy& policy, core::ScopePart::Kind kind) {
    return std::any_of(policy.scope.begin(), policy.scope.end(),
                       [&](const core::ScopePart& part) { return part.kind == kind; });
}

/// A forwarded field would take the key's place on the way to the upstream.
void check_key_stays(const Node& forward, const Route& route, Problems& problems) {
    if (!route.policy) return;
    for (const auto& alternative : route.policy->key.from) {
        for (const auto& location : alternative) {
            if (location.kind != core::KeyLocation::Kind::header) continue;
            for (const auto& item : forward.items) {
                if (!core::iequals(item.text, location.name)) continue;
                problems.add(item,
                             std::string("'").append(item.text).append("' carries the key, which stays as it came"));
            }
        }
    }
}

/// What the service's answer replaces on the way is still the client's own word here: it would be believed for the
/// scope of somebody else.
void check_overruled_fields(const ResolvedPolicy& resolved, const Route& route, Problems& problems) {
    if (!route.authorize) return;
    const auto overruled = [&](const std::string& name) {
        const auto& forward = route.authorize->forward;
        return std::any_of(forward.begin(), forward.end(),
                           [&](const std::string& one) { return core::iequals(one, name); });
    };
    for (const auto& part : resolved.policy.scope) {
        if (part.kind != core::ScopePart::Kind::header || !overruled(part.name)) continue;
        problems.add(resolved.place_of("scope"),
                     std::string("header:")
                         .append(part.name)
                         .append(" is what the client sends, and authorize.forward replaces it; write auth:")
                         .append(part.name));
    }
    for (const auto& part : resolved.policy.fingerprint.include) {
        const bool written = resolved.is_written("fingerprint.include");
        if (part.kind != core::FingerprintPart::Kind::header || !written || !overruled(part.name)) continue;
        problems.add(resolved.place_of("fingerprint.include"),
                     std::string("header:").append(part.name).append(
                         " is what the client sends, and authorize.forward replaces it on the way"));
    }
}

}  // namespace

void load_authorize(const Node& node, std::vector<Upstream>& upstreams, Route& route, Problems& problems) {
    Section section(node, problems);
    const auto before = problems.count();
    Authorize authorize;
    std::optional<ServiceUrl> url;
    if (const Node* written = section.need("url")) url = service_url(*written, problems);
    if (const Node* names = section.take("headers")) {
        authorize.all_headers = false;
        authorize.headers = fields(*names, problems, no_sending_of);
    }
    if (const Node* names = section.take("forward")) authorize.forward = fields(*names, problems, no_forwarding_of);
    section.read("timeout", authorize.timeout, Duration{milliseconds(1), std::chrono::hours(1)});
    section.finish();
    if (url && problems.count() == before) {
        authorize.target = url->target;
        authorize.upstream = upstream_of(*url, authorize.timeout, upstreams);
    }
    route.authorize = std::move(authorize);
}

void load_jwt(const Node& node, Route& route, Problems& problems) {
    Section section(node, problems);
    Jwt& jwt = route.jwt.emplace();
    if (const Node* keys = section.need("keys")) jwt.keys = one_or_several(*keys, problems, key_file);
    if (const Node* issuer = section.take("issuer")) jwt.issuer = one_or_several(*issuer, problems, name);
    if (const Node* audience = section.take("audience")) jwt.audience = one_or_several(*audience, problems, name);
    if (const Node* names = section.take("algorithms")) jwt.algorithms = one_or_several(*names, problems, algorithm);
    section.read("header", jwt.header, field_name);
    section.finish();
}

void check_access(const AccessNodes& nodes, const Route& route, Problems& problems) {
    if (nodes.authorize != nullptr) {
        if (const Node* forward = nodes.authorize->find("forward")) check_key_stays(*forward, route, problems);
    }
    if (nodes.jwt == nullptr) return;
    if (!route.policy || !reads(*route.policy, core::ScopePart::Kind::jwt)) {
        problems.add(*nodes.jwt, "has no effect: no scope: jwt:CLAIM of this route reads the token");
    }
}

void check_scope_sources(const ResolvedPolicy& resolved, const Route& route, Problems& problems) {
    check_overruled_fields(resolved, route, problems);
    for (const auto& part : resolved.policy.scope) {
        const std::string written = yaml_text(part);
        if (part.kind == core::ScopePart::Kind::jwt && !route.jwt) {
            problems.add(resolved.place_of("scope"), std::string(written)
                                                         .append(" needs jwt: { keys: FILE } on route '")
                                                         .append(route.name)
                                                         .append("', which verifies the token"));
        }
        if (part.kind == core::ScopePart::Kind::auth && !route.authorize) {
            problems.add(resolved.place_of("scope"), std::string(written)
                                                         .append(" needs authorize: { url: URL } on route '")
                                                         .append(route.name)
                                                         .append("', whose answer it reads"));
        }
    }
}

}  // namespace oncegate::config

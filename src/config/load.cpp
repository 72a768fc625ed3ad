#include "config/load.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "config/load_parts.hpp"
#include "config/readers.hpp"

namespace oncegate::config {

namespace {

using ClientCertificates = RouteSurroundings::ClientCertificates;

bool asks_for_certificate(const Listener& listener) {
    return listener.tls && listener.tls->client_auth != ListenerTls::ClientAuth::none;
}

/// `before`: how many problems there were before the server's own were looked for.
ClientCertificates client_certificates(const Server& server, const Problems& problems, std::size_t before) {
    if (problems.count() != before) return ClientCertificates::unknown;
    const bool asked = std::any_of(server.listeners.begin(), server.listeners.end(), asks_for_certificate);
    return asked ? ClientCertificates::asked_for : ClientCertificates::none;
}

void load_document(const Node& root, Config& config, Problems& problems) {
    Section section(root, problems);
    const auto before = problems.count();
    if (const Node* server = section.need("server")) load_server(*server, config.server, problems);
    const auto certificates = client_certificates(config.server, problems, before);
    if (const Node* admin = section.take("admin")) load_admin(*admin, config.admin, problems);
    if (const Node* store = section.take("store")) load_store(*store, config.store, problems);
    if (const Node* upstreams = section.need("upstreams")) load_upstreams(*upstreams, config.upstreams, problems);
    NamedPolicies policies;
    if (const Node* named = section.take("policies")) policies = read_named_policies(*named, problems);
    if (const Node* routes = section.need("routes")) {
        load_routes(*routes, {config.upstreams, policies, certificates}, config.routes, problems);
    }
    if (const Node* log = section.take("log")) load_log(*log, config.log, problems);
    if (const Node* tracing = section.take_or_blank("tracing")) load_tracing(*tracing, problems);
    section.finish();
    check_binds(root, config.admin, problems);
}

}  // namespace

Loaded load_text(std::string_view yaml, const std::string& file_name, const Environment& environment) {
    Problems problems;
    Config config;
    if (auto root = parse_yaml(yaml, environment, problems)) {
        if (root->kind == Node::Kind::blank) {
            problems.add(Place{1, 1}, "the file holds no configuration; server, upstreams and routes are needed");
        } else {
            load_document(*root, config, problems);
        }
    }
    Loaded loaded;
    loaded.errors = problems.sorted(file_name);
    if (loaded.errors.empty()) loaded.config = std::move(config);
    return loaded;
}

Loaded load_file(const std::string& path, const Environment& environment) {
    const auto reason = why_unreadable(path);
    if (!reason.empty()) {
        Loaded loaded;
        loaded.errors.push_back({path, 0, 0, "the file cannot be read: " + reason});
        return loaded;
    }
    std::ifstream file(path, std::ios::binary);
    const std::string yaml{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    return load_text(yaml, path, environment);
}

}  // namespace oncegate::config

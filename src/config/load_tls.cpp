// `tls` of a listener and of an upstream. The files are only opened: what is in them is for the program that loads them
// to judge, and it reads them again when they change.

#include "config/addresses.hpp"
#include "config/load_parts.hpp"
#include "config/readers.hpp"

namespace oncegate::config {

namespace {

using ClientAuth = ListenerTls::ClientAuth;

const Choice<ClientAuth> client_auths{
    {{"none", ClientAuth::none}, {"optional", ClientAuth::optional}, {"required", ClientAuth::required}}};

/// The client rules of a listener, which may stand beside any of its certificates.
struct ClientRules {
    const Node* ca_node = nullptr;
    const Node* auth_node = nullptr;
    bool auth_written = false;  ///< perhaps as something that is not known
};

/// Keeps the first value; another one beside another certificate cannot be, for a client that asks for one name may
/// not be let off under another.
template <class T>
void agree(const Node& node, const Node*& first, T& target, T value, Problems& problems) {
    if (first == nullptr) {
        first = &node;
        target = std::move(value);
    } else if (value != target) {
        problems.add(node, "differs from line " + std::to_string(first->place.line) +
                               "; it holds for the whole listener, whatever name the client asks for");
    }
}

void load_entry(const Node& node, ListenerTls& tls, ClientRules& rules, Problems& problems) {
    Section section(node, problems);
    CertificateFiles files;
    if (const Node* file = section.need("certificate")) {
        files.certificate = readable_file(*file, problems).value_or("");
    }
    if (const Node* file = section.need("private_key")) {
        files.private_key = readable_file(*file, problems).value_or("");
    }
    if (const Node* ca = section.take_or_blank("client_ca")) {
        agree(*ca, rules.ca_node, tls.client_ca, readable_file(*ca, problems).value_or(""), problems);
    }
    if (const Node* auth = section.take("client_auth")) {
        rules.auth_written = true;
        if (const auto value = client_auths(*auth, problems)) {
            agree(*auth, rules.auth_node, tls.client_auth, *value, problems);
        }
    }
    section.finish();
    tls.certificates.push_back(std::move(files));
}

void check_client_rules(const ListenerTls& tls, const ClientRules& rules, Problems& problems) {
    if (tls.client_auth != ClientAuth::none && rules.ca_node == nullptr) {
        problems.add(*rules.auth_node, "needs client_ca, the authority that client certificates are checked against");
    }
    if (rules.ca_node != nullptr && !rules.auth_written) {
        problems.add(*rules.ca_node, "has no effect without client_auth: optional or required");
    }
}

/// Verified with nothing and shown nothing: such settings promise what does not happen.
void check_upstream_tls(const Node& node, const UpstreamTls& tls, Problems& problems) {
    if (tls.certificate.empty() != tls.private_key.empty()) {
        problems.add(node, tls.certificate.empty() ? "private_key needs certificate" : "certificate needs private_key");
    }
    if (!tls.verify && !tls.ca.empty()) {
        problems.add(*node.find("ca"), "has no effect with verify: false, which checks no certificate");
    }
}

bool has_https(const Upstream& upstream) {
    return std::any_of(upstream.servers.begin(), upstream.servers.end(),
                       [](const UpstreamServer& server) { return server.scheme == UpstreamServer::Scheme::https; });
}

}  // namespace

std::optional<std::string> readable_file(const Node& node, Problems& problems) {
    auto path = name(node, problems);
    if (!path) return std::nullopt;
    const auto reason = why_unreadable(*path);
    if (reason.empty()) return path;
    problems.add(node, "the file '" + *path + "' cannot be read: " + reason);
    return std::nullopt;
}

void load_listener_tls(const Node& node, Listener& listener, Problems& problems) {
    ListenerTls& tls = listener.tls.emplace();
    ClientRules rules;
    if (node.kind == Node::Kind::list) {
        for (const Node* item : items_of(node, problems)) load_entry(*item, tls, rules, problems);
        if (node.items.empty()) problems.add(node, "must name at least one certificate and its private_key");
    } else {
        load_entry(node, tls, rules, problems);
    }
    check_client_rules(tls, rules, problems);
}

void load_upstream_tls(const Node& node, Upstream& upstream, ServersSound servers, Problems& problems) {
    UpstreamTls& tls = upstream.tls;
    Section section(node, problems);
    const auto before = problems.count();
    section.read_or_blank("ca", tls.ca, readable_file);
    section.read_or_blank("certificate", tls.certificate, readable_file);
    section.read_or_blank("private_key", tls.private_key, readable_file);
    if (const Node* server_name = section.take_or_blank("server_name")) {
        tls.server_name = name(*server_name, problems).value_or("");
        if (!tls.server_name.empty() && !is_host(tls.server_name)) {
            problems.add(*server_name, "'" + tls.server_name + "' is not a host name; a port takes no part");
        }
    }
    section.read("verify", tls.verify, flag);
    section.finish();
    if (problems.count() != before) return;
    check_upstream_tls(node, tls, problems);
    const bool written = tls != UpstreamTls{};
    if (written && servers == ServersSound::yes && !has_https(upstream)) {
        problems.add(node, "has no effect: none of these servers is https://");
    }
}

}  // namespace oncegate::config

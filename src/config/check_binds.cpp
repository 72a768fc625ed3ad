// Binds that cannot stand beside each other: the system would refuse the second at start, and say only that an address
// is in use.

#include "config/addresses.hpp"
#include "config/load_parts.hpp"

namespace oncegate::config {

namespace {

/// The binds of the listeners that are written right.
std::vector<const Node*> listener_binds(const Node& root) {
    std::vector<const Node*> binds;
    const Node* server = root.find("server");
    const Node* listeners = server == nullptr ? nullptr : server->find("listeners");
    if (listeners == nullptr) return binds;
    for (const auto& item : listeners->items) {
        const Node* bind = item.find("bind");
        if (bind != nullptr && bind->kind == Node::Kind::scalar && reach_of_bind(bind->text)) binds.push_back(bind);
    }
    return binds;
}

void check_pair(const Node& first, const Node& second, Problems& problems) {
    if (!binds_overlap(first.text, second.text)) return;
    if (first.text == second.text) {
        return problems.add(second, "another listener is bound to " + second.text + " already");
    }
    problems.add(second, second.text + " and " + first.text + " of line " + std::to_string(first.place.line) +
                             " overlap; only one of them can be bound");
}

void check_admin(const Node& listener, const Node* written, const std::string& admin, Problems& problems) {
    if (!binds_overlap(listener.text, admin)) return;
    const bool equal = listener.text == admin;
    if (written == nullptr) {
        const std::string what = equal ? "is the default of admin.bind too" : "overlaps the default of admin.bind, ";
        return problems.add(listener, listener.text + " " + what + (equal ? "" : admin) + "; write admin.bind");
    }
    const std::string line = " of line " + std::to_string(listener.place.line);
    if (equal) return problems.add(*written, admin + " is a listener's address too, that" + line);
    problems.add(*written,
                 admin + " and the listener " + listener.text + line + " overlap; only one of them can be bound");
}

}  // namespace

void check_binds(const Node& root, const Admin& admin, Problems& problems) {
    const auto binds = listener_binds(root);
    const Node* block = root.find("admin");
    const Node* written = block == nullptr ? nullptr : block->find("bind");
    for (std::size_t i = 0; i < binds.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) check_pair(*binds[j], *binds[i], problems);
        check_admin(*binds[i], written, admin.bind, problems);
    }
}

}  // namespace oncegate::config

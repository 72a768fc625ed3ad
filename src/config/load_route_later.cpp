// Keys of a route whose effect is still to come: their shape is checked in full, then they are refused by name.

#include "config/load_parts.hpp"
#include "config/readers.hpp"

namespace oncegate::config {

namespace {

template <class Check>
void refuse_after(const Node* node, Problems& problems, Check check) {
    if (node == nullptr) return;
    const auto before = problems.count();
    check(*node);
    if (problems.count() == before) problems.add_unsupported(*node);
}

/// A single text or a list of them.
void check_texts(const Node& node, Problems& problems) {
    if (node.kind != Node::Kind::list) {
        name(node, problems);
        return;
    }
    for (const Node* item : items_of(node, problems)) name(*item, problems);
}

void check_authorize(const Node& node, Problems& problems) {
    Section section(node, problems);
    if (const Node* url = section.need("url")) http_url(*url, problems);
    for (const auto* key : {"headers", "forward"}) {
        if (const Node* names = section.take(key)) field_names(*names, problems);
    }
    milliseconds timeout{};
    section.read("timeout", timeout, Duration{milliseconds(1), std::chrono::hours(1)});
    section.finish();
}

void check_jwt(const Node& node, Problems& problems) {
    Section section(node, problems);
    if (const Node* keys = section.need("keys")) check_texts(*keys, problems);
    for (const auto* key : {"issuer", "audience", "algorithms"}) {
        if (const Node* values = section.take(key)) check_texts(*values, problems);
    }
    if (const Node* header = section.take("header")) field_name(*header, problems);
    section.finish();
}

}  // namespace

void check_later_route_keys(Section& route, Problems& problems) {
    refuse_after(route.take("authorize"), problems, [&](const Node& node) { check_authorize(node, problems); });
    refuse_after(route.take("jwt"), problems, [&](const Node& node) { check_jwt(node, problems); });
}

}  // namespace oncegate::config

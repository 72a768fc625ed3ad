// The head of a request on its way upstream. One pass decides about every line; the lines that grow at their end are
// written behind it.

#include <algorithm>

#include "core/connection_options.hpp"
#include "core/forwarded_field.hpp"
#include "core/forwarding.hpp"
#include "core/head_rules.hpp"
#include "core/host_rules.hpp"
#include "core/known_fields.hpp"

namespace oncegate::core {

namespace {

constexpr std::size_t added_lines = 8;
constexpr std::size_t added_bytes = 512;

/// The origin-form of the target: an absolute-form is for proxies, and its authority travels in Host (RFC 9112 §3.2).
std::string origin_target(const RequestHead& head) {
    if (head.target.starts_with('/') || head.target == "*" || head.method == "CONNECT") return head.target;
    const auto parts = split_target(head.target);
    // RFC 9112 §3.2.4: an OPTIONS on a URI with neither path nor query asks about the server as a whole.
    const bool bare = parts.query.empty() && parts.path == "/" && !head.target.ends_with('/');
    if (bare && head.method == "OPTIONS") return "*";
    return std::string(parts.path).append(parts.query);
}

/// One hop fewer (RFC 9110 §7.6.2); anything but a positive number is passed on as it is.
std::string fewer_hops(std::string_view value) {
    constexpr std::size_t digits_max = 9;  // keeps the number within its type
    if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit)) return std::string(value);
    if (value.size() > digits_max) return std::string(digits_max, '9');  // the most that is supported here
    std::uint32_t hops = 0;
    for (const char c : value) hops = hops * 10 + static_cast<std::uint32_t>(c - '0');
    return std::to_string(hops == 0 ? 0 : hops - 1);
}

bool is_web_scheme(std::string_view text) { return iequals(text, "http") || iequals(text, "https"); }

std::string_view first_element(std::string_view list) { return trim_ows(list.substr(0, list.find(','))); }

/// A list whose lines are gathered while the others are copied, and written at the end with one element more.
struct GrowingList {
    std::size_t first = 0;  ///< index of its first line
    std::size_t lines = 0;

    void note(std::size_t index) {
        if (lines++ == 0) first = index;
    }

    /// `text` becomes its elements so far, ready for another one.
    void start(std::string& text, const Fields& fields, FieldId id) const {
        text.clear();
        std::size_t seen = 0;
        for (std::size_t i = first; seen < lines; ++i) {
            const auto field = fields[i];
            if (known_field(field.name).id != id) continue;
            ++seen;
            if (!field.value.empty()) text.append(field.value).append(", ");
        }
    }
};

/// Whether servers that make one variable of `X-User` and `X_User` would take the field for one that is the proxy's to
/// send.
bool is_lookalike(std::string_view name) {
    if (name.find('_') == std::string_view::npos) return false;
    std::string dashed(name);
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    const auto known = known_field(dashed);
    return known.is(FieldTrait::proxy_only) || known.id == FieldId::x_forwarded_for ||
           known.id == FieldId::x_forwarded_host || known.id == FieldId::x_forwarded_proto;
}

class UpstreamFields {
 public:
    UpstreamFields(const RequestHead& received, const Peer& peer, const ForwardingRule& rule, Fields& out)
        : received_(received),
          peer_(peer),
          rule_(rule),
          asked_host_(effective_host(received)),
          host_(rule.host.value_or(asked_host_)),
          out_(out) {}

    void copy() {
        reserve();
        const ConnectionOptions options(received_.fields);
        for (std::size_t i = 0; i < received_.fields.size(); ++i) {
            const auto field = received_.fields[i];
            const auto known = known_field(field.name);
            if (known.id == FieldId::other && is_lookalike(field.name)) continue;
            const bool stays_behind = known.is(FieldTrait::hop_by_hop | FieldTrait::framing | FieldTrait::proxy_only);
            if (!stays_behind && !options.nominates(field.name)) copy(known.id, i, field);
        }
    }

    void add_own(std::string_view pseudonym) {
        if (!host_written_ && !host_.empty()) out_.add("Host", host_);
        std::string text;
        text.reserve(added_bytes / 2);
        text.append(received_.version == HttpVersion::http10 ? "1.0 " : "1.1 ").append(pseudonym);
        out_.add("Via", text);
        forwarded_for_.start(text, received_.fields, FieldId::x_forwarded_for);
        text += peer_.address.empty() ? std::string_view("unknown") : peer_.address;
        out_.add("X-Forwarded-For", text);
        if (!keeps_proto_.value_or(false)) out_.add("X-Forwarded-Proto", peer_.scheme);
        if (!keeps_host_.value_or(false) && !asked_host_.empty()) out_.add("X-Forwarded-Host", asked_host_);
        // What is malformed tells nobody anything, and an unclosed quote in it would swallow our own element.
        text.clear();
        if (forwarded_.lines > 0 && parse_forwarded(received_.fields)) {
            forwarded_.start(text, received_.fields, FieldId::forwarded);
        }
        append_forwarded(text, peer_.address, asked_host_, peer_.scheme);
        out_.add("Forwarded", text);
        add_upgrade();
    }

 private:
    bool trusted() const { return peer_.trust == Peer::Trust::trusted; }

    void reserve() {
        std::size_t bytes = added_bytes;
        for (const auto field : received_.fields) bytes += field.name.size() + field.value.size();
        out_.reserve(received_.fields.size() + added_lines, bytes);
    }

    void copy(FieldId id, std::size_t index, const FieldView& field) {
        if (id == FieldId::host) return copy_host(field);
        if (id == FieldId::expect) return;  // met by the proxy, which has the body or asks for it itself (R123)
        if (id == FieldId::x_forwarded_for) return forwarded_for_.note(index);
        if (id == FieldId::forwarded) return forwarded_.note(index);
        if (id == FieldId::max_forwards && (received_.method == "OPTIONS" || received_.method == "TRACE")) {
            return out_.add(field.name, fewer_hops(field.value));
        }
        if (id == FieldId::x_forwarded_proto) {
            if (!keeps_proto_) keeps_proto_ = trusted() && is_web_scheme(first_element(field.value));
            if (!*keeps_proto_) return;
        }
        if (id == FieldId::x_forwarded_host) {
            if (!keeps_host_)
                keeps_host_ = trusted() && is_host_and_port(first_element(field.value), PortRule::optional);
            if (!*keeps_host_) return;
        }
        out_.add(field.name, field.value);
    }

    void copy_host(const FieldView& field) {
        if (!host_.empty() && !host_written_) out_.add(field.name, host_);
        host_written_ = true;
    }

    void add_upgrade() {
        if (rule_.upgrade == Upgrade::drop || !wants_upgrade(received_)) return;
        out_.add("Connection", "upgrade");
        out_.add("Upgrade", tunnel_protocols(received_.fields));
    }

    const RequestHead& received_;
    const Peer& peer_;
    const ForwardingRule& rule_;
    const std::string_view asked_host_;
    const std::string_view host_;
    Fields& out_;
    bool host_written_ = false;
    std::optional<bool> keeps_proto_;  ///< what the first of those lines settled
    std::optional<bool> keeps_host_;
    GrowingList forwarded_for_;
    GrowingList forwarded_;
};

/// Where an element of Via ends: comments nest and may hold commas (RFC 9110 §5.6.5).
std::size_t via_element_end(std::string_view value) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const char c = value[i];
        if (c == '\\' && depth > 0) ++i;
        if (c == '(') ++depth;
        if (c == ')' && depth > 0) --depth;
        if (c == ',' && depth == 0) return i;
    }
    // A comment that is never closed must not hide the elements behind it.
    return depth == 0 ? value.size() : std::min(value.size(), value.find(','));
}

/// received-by of `received-protocol RWS received-by [ RWS comment ]`.
std::string_view received_by(std::string_view element) {
    element = trim_ows(element);
    const auto gap = element.find_first_of(" \t");
    if (gap == std::string_view::npos) return {};
    element = trim_ows(element.substr(gap));
    return element.substr(0, element.find_first_of(" \t("));
}

}  // namespace

bool loops(const Fields& fields, std::string_view pseudonym) {
    for (const auto field : fields) {
        if (!iequals(field.name, "Via")) continue;
        for (auto rest = field.value; !rest.empty();) {
            const auto end = via_element_end(rest);
            if (iequals(received_by(rest.substr(0, end)), pseudonym)) return true;
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    return false;
}

RequestHead for_upstream(const RequestHead& received, const Peer& peer, std::string_view pseudonym,
                         const ForwardingRule& rule) {
    RequestHead head;
    head.method = received.method;
    head.target = origin_target(received);
    head.version = HttpVersion::http11;
    UpstreamFields fields(received, peer, rule, head.fields);
    fields.copy();
    fields.add_own(pseudonym);
    return head;
}

}  // namespace oncegate::core

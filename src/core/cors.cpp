#include "core/cors.hpp"

#include <algorithm>

#include "core/field_list.hpp"

namespace oncegate::core {

namespace {

constexpr std::string_view allow_origin_field = "Access-Control-Allow-Origin";
constexpr std::string_view allow_credentials_field = "Access-Control-Allow-Credentials";
constexpr std::string_view expose_field = "Access-Control-Expose-Headers";

bool lists(std::string_view list, std::string_view name) {
    bool found = false;
    for_each_element(list, [&](std::string_view element) { found = found || iequals(element, name); });
    return found;
}

void vary_by_origin(Fields& fields) {
    const auto vary = fields.combined("Vary").value_or(std::string());
    if (!lists(vary, "Origin") && !lists(vary, "*")) fields.add("Vary", "Origin");
}

bool is_scheme(std::string_view text) {
    return !text.empty() && text.front() >= 'a' && text.front() <= 'z' &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || is_digit(c) || c == '+' || c == '-' || c == '.';
           });
}

bool is_host_char(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '.' || c == '_'; }

bool is_ipv6_char(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || c == ':' || c == '.'; }

/// The host at the beginning of `authority`, an IPv6 address with its brackets; empty: there is none.
std::string_view host_at(std::string_view authority) {
    const auto past = [&](auto is_part, std::size_t from) {
        const auto begin = authority.begin() + static_cast<std::ptrdiff_t>(from);
        return static_cast<std::size_t>(std::find_if_not(begin, authority.end(), is_part) - authority.begin());
    };
    if (!authority.starts_with('[')) return authority.substr(0, past(is_host_char, 0));
    const auto end = past(is_ipv6_char, 1);
    return end > 1 && authority.substr(end).starts_with(']') ? authority.substr(0, end + 1) : std::string_view();
}

std::string port_fault(std::string_view scheme, std::string_view port) {
    const bool digits =
        !port.empty() && port.size() <= 5 && port.front() != '0' && std::all_of(port.begin(), port.end(), is_digit);
    if (!digits || (port.size() == 5 && port > "65535")) return "has a port that is not from 1 to 65535";
    if ((scheme == "https" && port == "443") || (scheme == "http" && port == "80")) {
        return "names the port that its scheme has anyway, which browsers leave out";
    }
    return {};
}

}  // namespace

std::string origin_fault(std::string_view text) {
    if (text == "null") return "is sent by every sandboxed page and local file, so it allows anybody";
    if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
        return "holds upper-case letters, which browsers never send";
    }
    if (text.find('*') != std::string_view::npos) return "holds a wildcard; origins are compared as a whole";
    const auto colon = text.find("://");
    if (colon == std::string_view::npos || !is_scheme(text.substr(0, colon))) {
        return "is not an origin such as https://shop.example";
    }
    const auto authority = text.substr(colon + 3);
    if (authority.find('/') != std::string_view::npos) return "goes on after the host; an origin has no path or slash";
    const auto host = host_at(authority);
    if (host.empty()) return "is not an origin such as https://shop.example";
    const auto rest = authority.substr(host.size());
    if (rest.empty()) return {};
    return rest.front() == ':' ? port_fault(text.substr(0, colon), rest.substr(1))
                               : "is not an origin such as https://shop.example";
}

std::optional<std::string_view> origin_of(const RequestHead& head) {
    if (head.fields.count("Origin") != 1) return std::nullopt;
    const auto origin = head.fields.find("Origin");
    return origin->empty() ? std::nullopt : origin;
}

std::optional<std::string_view> preflight_method(const RequestHead& head) {
    if (head.method != "OPTIONS" || !origin_of(head)) return std::nullopt;
    if (head.fields.count("Access-Control-Request-Method") != 1) return std::nullopt;
    const auto method = head.fields.find("Access-Control-Request-Method");
    return is_token(*method) ? method : std::nullopt;
}

std::optional<std::string> allowed_origin(const std::vector<std::string>& allowed, Credentials credentials,
                                          std::string_view origin) {
    const auto holds = [&](std::string_view one) {
        return std::find(allowed.begin(), allowed.end(), one) != allowed.end();
    };
    if (holds("*") && credentials == Credentials::omitted) return "*";
    if (origin != "*" && holds(origin)) return std::string(origin);
    return std::nullopt;
}

void CorsAnswer::apply(Fields& fields) const {
    for (const auto name : {allow_origin_field, allow_credentials_field, expose_field}) fields.remove(name);
    vary_by_origin(fields);
    if (allow_origin.empty()) return;
    fields.add(allow_origin_field, allow_origin);
    if (credentials == Credentials::included) fields.add(allow_credentials_field, "true");
    if (!expose.empty()) fields.add(expose_field, expose);
}

Fields PreflightAnswer::fields() const {
    Fields out;
    out.add("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
    if (about.allow_origin.empty()) return out;
    about.apply(out);
    out.remove(expose_field);  // for the answer itself, which no script reads
    out.add("Access-Control-Allow-Methods", methods);
    if (!headers.empty()) out.add("Access-Control-Allow-Headers", headers);
    out.add("Access-Control-Max-Age", std::to_string(max_age_s));
    return out;
}

void add_field_name(std::string& list, std::string_view name) {
    if (name.empty() || lists(list, name)) return;
    list.append(list.empty() ? "" : ", ").append(name);
}

}  // namespace oncegate::core

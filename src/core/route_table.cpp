#include "core/route_table.hpp"

#include <algorithm>
#include <array>

#include "core/ascii.hpp"
#include "core/head_rules.hpp"
#include "core/host_rules.hpp"

namespace oncegate::core {
namespace {

constexpr std::string_view any_segment = "{}";

constexpr int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    const char low = lower(c);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

constexpr bool is_unreserved(char c) {
    return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

/// The byte that a percent-encoding at `at` stands for, or -1.
int encoded_byte(std::string_view text, std::size_t at) {
    if (text[at] != '%' || at + 2 >= text.size()) return -1;
    const int high = hex_value(text[at + 1]);
    const int low = hex_value(text[at + 2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/// RFC 3986 §6.2.2.1 and §6.2.2.2: unreserved characters decoded, other encodings in upper case.
std::string decode_unreserved(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int byte = encoded_byte(text, i);
        if (byte < 0) {
            out += text[i];
            continue;
        }
        const char c = static_cast<char>(byte);
        if (is_unreserved(c)) {
            out += c;
        } else {
            constexpr std::string_view digits = "0123456789ABCDEF";
            out += '%';
            out += digits[static_cast<std::size_t>(byte / 16)];
            out += digits[static_cast<std::size_t>(byte % 16)];
        }
        i += 2;
    }
    return out;
}

/// Takes the text up to the next slash off `rest`, and the slash too; `more` tells whether there was one.
std::string_view take_segment(std::string_view& rest, bool& more) {
    const auto slash = rest.find('/');
    const auto segment = rest.substr(0, slash);
    more = slash != std::string_view::npos;
    rest.remove_prefix(more ? slash + 1 : rest.size());
    return segment;
}

/// What can change in normalisation; most paths hold none of it and are matched where they lie.
bool is_normal(std::string_view path) {
    return path.find('%') == std::string_view::npos && path.find("//") == std::string_view::npos &&
           path.find("/.") == std::string_view::npos;
}

bool may_hide_separator(std::string_view path) { return path.find_first_of("%\\") != std::string_view::npos; }

/// How a server may read what could be a separator. Servers differ in each point, so every mixture is possible.
struct Reading {
    enum class Nul : std::uint8_t { kept, separates, ends };
    bool slash = false;      ///< `%2F` separates
    bool backslash = false;  ///< `%5C` and `\` separate
    Nul nul = Nul::kept;
};

/// Every reading but the plain one.
constexpr std::array<Reading, 11> other_readings{{{true, false, Reading::Nul::kept},
                                                  {false, true, Reading::Nul::kept},
                                                  {true, true, Reading::Nul::kept},
                                                  {false, false, Reading::Nul::separates},
                                                  {true, false, Reading::Nul::separates},
                                                  {false, true, Reading::Nul::separates},
                                                  {true, true, Reading::Nul::separates},
                                                  {false, false, Reading::Nul::ends},
                                                  {true, false, Reading::Nul::ends},
                                                  {false, true, Reading::Nul::ends},
                                                  {true, true, Reading::Nul::ends}}};

/// The path as a server sees it that reads it so.
std::string read_as(const Reading& reading, std::string_view path) {
    std::string out;
    out.reserve(path.size());
    for (std::size_t i = 0; i < path.size(); ++i) {
        const int byte = encoded_byte(path, i);
        if (byte == 0 && reading.nul == Reading::Nul::ends) break;
        const bool separates = (byte == '/' && reading.slash) || (byte == '\\' && reading.backslash) ||
                               (byte == 0 && reading.nul == Reading::Nul::separates);
        if (separates) {
            out += '/';
            i += 2;
        } else {
            out += path[i] == '\\' && reading.backslash ? '/' : path[i];
        }
    }
    return out;
}

/// Whether `segment` is "{name}"; `malformed` when it has braces in any other way.
bool is_placeholder(std::string_view segment, bool& malformed) {
    const bool whole = segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
    const auto name = whole ? segment.substr(1, segment.size() - 2) : segment;
    malformed = name.find_first_of("{}") != std::string_view::npos;
    return whole && !malformed;
}

/// Why a literal segment can never equal one of a normalised path; null when it can.
const char* literal_fault(std::string_view segment) {
    if (segment.find('*') != std::string_view::npos)
        return "an asterisk is only for /** at the end; one segment is {name}";
    if (segment == "." || segment == "..") return "dot segments are resolved before matching";
    for (std::size_t i = 0; i < segment.size(); ++i) {
        const char c = segment[i];
        if (c == '?' || c == '#') return "a pattern is a path, without query and fragment";
        if (c <= ' ' || c > '~') return "write characters outside visible ASCII percent-encoded";
        if (c == '%' && encoded_byte(segment, i) < 0) return "a percent sign needs two hexadecimal digits";
    }
    return nullptr;
}

bool host_matches(std::string_view wanted, std::string_view host) {
    if (wanted.empty()) return true;
    if (!wanted.starts_with("*.")) return iequals(wanted, host);
    const auto suffix = wanted.substr(1);
    return host.size() > suffix.size() && iequals(host.substr(host.size() - suffix.size()), suffix);
}

std::optional<std::size_t> first_match(const std::vector<RouteMatch>& routes, const RequestHead& head,
                                       std::string_view host, std::string_view path) {
    const auto found = std::find_if(routes.begin(), routes.end(), [&](const RouteMatch& route) {
        const bool method = route.methods.empty() ||
                            std::find(route.methods.begin(), route.methods.end(), head.method) != route.methods.end();
        return method && (!route.path || route.path->matches(path)) && host_matches(route.host, host);
    });
    if (found == routes.end()) return std::nullopt;
    return static_cast<std::size_t>(found - routes.begin());
}

}  // namespace

std::optional<PathPattern> PathPattern::parse(std::string_view text, std::string& why) {
    if (!text.starts_with('/')) {
        why = "a path pattern begins with /";
        return std::nullopt;
    }
    PathPattern pattern;
    pattern.text_ = text;
    auto rest = text.substr(1);
    for (bool more = true; more;) {
        const auto segment = take_segment(rest, more);
        bool malformed = false;
        if (segment == "**" && !more) {
            pattern.subtree_ = true;
        } else if (segment.empty() && more) {
            why = "duplicate slashes are merged before matching";
            return std::nullopt;
        } else if (is_placeholder(segment, malformed)) {
            pattern.segments_.emplace_back(any_segment);
        } else if (malformed) {
            why = "braces hold the name of one whole segment: /orders/{id}";
            return std::nullopt;
        } else if (const char* fault = literal_fault(segment)) {
            why = fault;
            return std::nullopt;
        } else {
            pattern.segments_.push_back(decode_unreserved(segment));
        }
    }
    return pattern;
}

bool PathPattern::matches(std::string_view path) const {
    // `*` and an authority are no paths: only a pattern for everything takes them.
    if (!path.starts_with('/')) return subtree_ && segments_.empty();
    auto rest = path.substr(1);
    bool more = true;
    for (const auto& wanted : segments_) {
        if (!more) return false;
        const auto segment = take_segment(rest, more);
        if (wanted == any_segment ? segment.empty() : segment != wanted) return false;
    }
    return subtree_ || !more;
}

std::string normalise_path(std::string_view raw_path) {
    if (!raw_path.starts_with('/')) return std::string(raw_path);
    const auto decoded = decode_unreserved(raw_path);
    std::string_view rest = std::string_view(decoded).substr(1);
    std::string out = "/";
    for (bool more = true; more;) {
        const auto segment = take_segment(rest, more);
        if (segment.empty() || segment == ".") continue;
        if (segment == "..") {
            // `out` ends in a slash here: drop it and the segment before it, but never the root.
            if (out.size() > 1) out.erase(out.rfind('/', out.size() - 2) + 1);
            continue;
        }
        out.append(segment);
        if (more) out += '/';
    }
    return out;
}

boost::system::result<std::size_t, RouteTable::Miss> RouteTable::find(const RequestHead& head) const {
    const auto raw = split_target(head.target).path;
    const auto host = host_of(effective_host(head));
    const auto found =
        is_normal(raw) ? first_match(routes_, head, host, raw) : first_match(routes_, head, host, normalise_path(raw));
    if (may_hide_separator(raw)) {
        for (const auto& reading : other_readings) {
            const auto other = read_as(reading, raw);
            if (other != raw && first_match(routes_, head, host, normalise_path(other)) != found) {
                return Miss::ambiguous;
            }
        }
    }
    if (!found) return Miss::none;
    return *found;
}

}  // namespace oncegate::core

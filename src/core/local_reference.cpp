#include "core/local_reference.hpp"

#include <algorithm>
#include <boost/url.hpp>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

namespace urls = boost::urls;

std::string without_port(std::string authority, std::string_view default_port) {
    if (authority.ends_with(default_port)) authority.resize(authority.size() - default_port.size());
    return to_lower(authority);
}

bool is_local(std::string_view authority, std::string_view scheme, const std::vector<std::string>& authorities) {
    const std::string_view default_port = iequals(scheme, "https") ? ":443" : ":80";
    const auto wanted = without_port(std::string(authority), default_port);
    return std::any_of(authorities.begin(), authorities.end(),
                       [&](const std::string& one) { return without_port(one, default_port) == wanted; });
}

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

/// RFC 3986 §5.2.4, segment by segment; percent-encoded bytes stay as they are, for an encoded separator is none.
std::string without_dot_segments(std::string_view path) {
    std::vector<std::string_view> kept;
    bool open = true;  // a path that ends in a dot segment ends in a slash
    path.remove_prefix(1);
    for (bool more = true; more;) {
        const auto end = path.find('/');
        more = end != std::string_view::npos;
        const auto segment = path.substr(0, end);
        open = segment == "." || segment == "..";
        if (segment == ".." && !kept.empty()) kept.pop_back();
        if (!open) kept.push_back(segment);
        if (more) path.remove_prefix(end + 1);
    }
    std::string out;
    for (const auto segment : kept) out.append("/").append(segment);
    return open || out.empty() ? out.append("/") : out;
}

enum class Authority : std::uint8_t { none, given };

/// RFC 3986 §5.2.2, §5.2.3.
std::string resolved_path(std::string_view path, Authority authority, std::string_view base) {
    if (path.empty()) return authority == Authority::given ? "/" : std::string(base);
    if (path.front() == '/') return without_dot_segments(path);
    return without_dot_segments(std::string(base.substr(0, base.rfind('/') + 1)).append(path));
}

}  // namespace

std::optional<std::string> local_target(std::string_view location, std::string_view base_target,
                                        const std::vector<std::string>& authorities) {
    const auto reference = urls::parse_uri_reference(location);
    if (!reference) return std::nullopt;
    if (reference->has_scheme() && !iequals(reference->scheme(), "http") && !iequals(reference->scheme(), "https")) {
        return std::nullopt;
    }
    if (reference->has_scheme() && !reference->has_authority()) return std::nullopt;
    if (reference->has_userinfo()) return std::nullopt;
    if (reference->has_authority() &&
        !is_local(std::string(reference->encoded_authority()), std::string(reference->scheme()), authorities)) {
        return std::nullopt;
    }
    std::string target =
        resolved_path(std::string_view(reference->encoded_path().data(), reference->encoded_path().size()),
                      reference->has_authority() ? Authority::given : Authority::none, path_of(base_target));
    if (reference->has_query()) {
        target.append("?").append(std::string(reference->encoded_query()));
    } else if (reference->encoded_path().empty() && !reference->has_authority()) {
        target.append(base_target.substr(path_of(base_target).size()));  // the base's own query
    }
    return target;
}

}  // namespace oncegate::core

#include "core/local_reference.hpp"

#include <algorithm>
#include <boost/url.hpp>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

namespace urls = boost::urls;

constexpr std::string_view here = "http://here.invalid";

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
    const auto base = urls::parse_uri(std::string(here).append(base_target));
    if (!base) return std::nullopt;
    urls::url resolved;
    if (!urls::resolve(*base, *reference, resolved)) return std::nullopt;
    std::string target(resolved.encoded_path());
    if (target.empty()) target = "/";
    if (resolved.has_query()) target.append("?").append(std::string(resolved.encoded_query()));
    return target;
}

}  // namespace oncegate::core

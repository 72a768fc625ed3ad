#pragma once
// Cross-origin requests of browsers as the Fetch standard (CORS protocol) has them: what asks, who is allowed, and the
// fields that say so. Which route allows what is the configuration's.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"

namespace oncegate::core {

/// Why a text can never equal the Origin field of a browser, as the end of a sentence; empty: it can. An origin is
/// `scheme://host[:port]` in lower case, without a path and without the port that the scheme has anyway.
std::string origin_fault(std::string_view text);

/// The origin that the request comes from; nothing when it says none, or several.
std::optional<std::string_view> origin_of(const RequestHead& head);

/// The method that a preflight asks for: OPTIONS with an Origin and an Access-Control-Request-Method that is one.
std::optional<std::string_view> preflight_method(const RequestHead& head);

enum class Credentials : std::uint8_t { omitted, included };

/// What Access-Control-Allow-Origin answers to `origin`: the origin, which is compared byte by byte, or `*` when that
/// is allowed and no credentials come along; nothing when it is not allowed.
std::optional<std::string> allowed_origin(const std::vector<std::string>& allowed, Credentials credentials,
                                          std::string_view origin);

/// What a route's final answers say to the script that reads them. Made for one request.
struct CorsAnswer {
    std::string allow_origin;  ///< empty: the request comes from no origin that is allowed
    Credentials credentials = Credentials::omitted;
    std::string expose;  ///< list of field names that scripts may read

    /// Puts it into an answer's head. Fields of the same names that are there give way: who answers for the route's
    /// origins is one place alone. `Vary` is added to.
    void apply(Fields& fields) const;
};

/// The answer to a preflight, without its status: an origin that is not allowed gets no Allow fields.
struct PreflightAnswer {
    CorsAnswer about;
    std::string methods;
    std::string headers;
    std::int64_t max_age_s = 0;

    Fields fields() const;
};

/// Appends `name` to a list of field names unless it is there, in whatever case.
void add_field_name(std::string& list, std::string_view name);

}  // namespace oncegate::core

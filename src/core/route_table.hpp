#pragma once
// Which route a request takes: first match wins (contract §2, §3 "Matching"). Matching reads a normalised copy of the
// path; the target itself is forwarded as it came (R126). A target that would select another route when an encoded
// separator is read as a separator is refused instead of guessed.

#include <boost/system/result.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"

namespace oncegate::core {

/// `/v1/payments` exactly, `/v1/**` that and all below, `/v1/orders/{id}/refunds` one segment in braces.
class PathPattern {
 public:
    /// Nothing when the text is no pattern; `why` then says so in one sentence.
    static std::optional<PathPattern> parse(std::string_view text, std::string& why);

    bool matches(std::string_view normalised_path) const;
    const std::string& text() const { return text_; }

 private:
    std::string text_;
    std::vector<std::string> segments_;  ///< "{}" stands for any one segment
    bool subtree_ = false;
};

struct RouteMatch {
    std::string host;                  ///< lower case, no port; empty: any; "*.example.com" one or more labels
    std::vector<std::string> methods;  ///< empty: any
    std::optional<PathPattern> path;   ///< none: any
};

/// RFC 3986 §6.2.2: unreserved characters decoded, dot segments removed, duplicate slashes merged.
std::string normalise_path(std::string_view raw_path);

class RouteTable {
 public:
    explicit RouteTable(std::vector<RouteMatch> routes) : routes_(std::move(routes)) {}

    enum class Miss : std::uint8_t {
        none,       ///< no route: 404
        ambiguous,  ///< `%2F`, `%5C`, `\` or an encoded NUL changes the answer: 400
    };
    /// Index of the first route that matches.
    boost::system::result<std::size_t, Miss> find(const RequestHead& head) const;

 private:
    std::vector<RouteMatch> routes_;
};

}  // namespace oncegate::core

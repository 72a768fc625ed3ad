#pragma once
// The proxy's own errors in the format of the API they stand in (policy key `errors`): a body per kind of problem with
// places for what differs. Status and the other fields stay as core/problem makes them.

#include <map>
#include <string>
#include <string_view>

#include "core/problem.hpp"

namespace oncegate::core {

struct ErrorTemplate {
    std::string content_type = "application/json";
    std::string body;  ///< with {code}, {detail} and {status}

    friend bool operator==(const ErrorTemplate&, const ErrorTemplate&) = default;
};

/// Kinds that have none are problem documents.
using ErrorTemplates = std::map<ProblemKind, ErrorTemplate>;

/// What is wrong with a body, as the end of a sentence; empty: nothing. Looks for names in braces that stand for
/// nothing, and, where the content type is JSON, whether it is that once its values are in.
std::string template_fault(const ErrorTemplate& written);

/// Why a content type is none; empty: it is one (RFC 9110 §8.3.1).
std::string media_type_fault(std::string_view text);

/// Whether a request whose route is known can meet such a problem.
bool has_route(ProblemKind kind);

/// The problem as `templates` say, else as a problem document. Values are escaped as the content type asks: as in a
/// JSON string, as XML and HTML character references, else not at all.
ProblemResponse render(const Problem& problem, std::string_view policy_page, const ErrorTemplates& templates);

}  // namespace oncegate::core

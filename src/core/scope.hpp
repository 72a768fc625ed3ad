#pragma once
// Whose key it is (R34-R38): the parts the policy names, and the record's identity made of them and the key.

#include <boost/json/object.hpp>
#include <boost/system/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"
#include "core/policy.hpp"
#include "core/record.hpp"

namespace oncegate::core {

/// What a scope part can be read from, beside the head. The texts must outlive it.
struct ScopeSource {
    std::string_view route;
    const RequestHead& head;
    std::string_view client_address = {};                        ///< by client_address(); empty: not known
    std::optional<std::string_view> client_cert = std::nullopt;  ///< by certificate_identity(); nothing: none was shown
    const boost::json::object* claims = nullptr;                 ///< of a verified token; null: none was sent
    const Fields* authorization = nullptr;  ///< what the authorisation service answered; null: not asked
};

/// One part's name ("header:Authorization") and value; an optional part that is absent has none.
struct ScopeValue {
    std::string part;
    std::optional<std::string> value;
};

/// The values in the policy's order, or the name of the first part that the request lacks.
boost::system::result<std::vector<ScopeValue>, std::string> read_scope(const std::vector<ScopePart>& parts,
                                                                       const ScopeSource& source);

/// "header:Authorization", "route", "jwt:sub".
std::string name_of(const ScopePart& part);

/// SHA-256 over the parts (name, presence, value) and the key, each length-prefixed; R34.
RecordId identify(const std::vector<ScopeValue>& scope, std::string_view key);

}  // namespace oncegate::core

#pragma once
// Parameters of a field value (RFC 9110 §5.6.6), as Content-Type and a form part's Content-Disposition carry them. What
// a parameter means is left to the caller.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oncegate::core {

struct FieldParameter {
    std::string name;       ///< in lower case
    std::string value;      ///< without its quotes; a backslash that is there to keep a quote or a backslash is gone
    std::size_t begin = 0;  ///< offset in the field value of the semicolon before it
    std::size_t end = 0;    ///< and of what follows it
};

struct ParameterizedValue {
    std::string value;  ///< what stands before the parameters, in lower case
    std::vector<FieldParameter> parameters;

    const FieldParameter* find(std::string_view name) const;  ///< `name` in lower case
};

/// More of them are refused, since each is compared with all before it.
inline constexpr std::size_t parameters_max = 32;

/// Nothing when the value is malformed or names a parameter twice: two readers might then understand it in two ways. A
/// backslash before anything but a quote or a backslash stands for itself, as browsers send it in file names.
std::optional<ParameterizedValue> parse_parameters(std::string_view field_value);

}  // namespace oncegate::core

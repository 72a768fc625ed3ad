#pragma once
// `${NAME}` and `${NAME:-default}` in the values of a configuration. The environment is an argument: nothing here reads
// the process's own but process_environment().

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace oncegate::config {

/// Value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// `text` with every reference replaced; `$${` stands for a literal `${`, any other `$` for itself. A default may be
/// empty and is taken as it is (it is not searched for references). `:-` also replaces a variable that is set but
/// empty, as in a shell. Nothing when a variable is not set or a reference is not well formed; `why` then says so in
/// one sentence.
std::optional<std::string> substitute(std::string_view text, const Environment& environment, std::string& why);

}  // namespace oncegate::config

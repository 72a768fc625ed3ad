#pragma once
// YAML text to Config: every error of the file at once, each with its place. Never logs, reads only the file and the
// `*_file` secrets it names, and takes the environment as an argument.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/environment.hpp"
#include "config/problems.hpp"

namespace oncegate::config {

struct Loaded {
    std::optional<Config> config;     ///< present exactly when there are no errors
    std::vector<ConfigError> errors;  ///< in the file's order
};

Loaded load_file(const std::string& path, const Environment& environment);
Loaded load_text(std::string_view yaml, const std::string& file_name, const Environment& environment);

}  // namespace oncegate::config

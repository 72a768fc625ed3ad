#pragma once
// The commands that read a configuration and say something about it: check, explain and migrate. Each returns its exit
// code.

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace oncegate::app {

/// The configuration, or nothing when its errors were printed to standard error.
std::optional<config::Config> load_or_complain(const std::string& file);

int run_check(const std::string& file);

int run_explain(const std::string& file, const std::string& method, const std::string& url,
                const std::vector<std::string>& headers);

enum class Migration : unsigned char { apply, print };
int run_migrate(const std::string& file, Migration migration);

}  // namespace oncegate::app

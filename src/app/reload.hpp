#pragma once
// What of a configuration can change while the program runs, and when the files it names have changed.

#include <cstdint>
#include <map>
#include <string>

#include "config/config.hpp"

namespace oncegate::app {

/// The settings that differ and take effect at a start only ("server.threads, store"); empty when there are none.
std::string needs_restart(const config::Config& running, const config::Config& next);

/// Notices when a certificate, key or CA file that a configuration names is replaced. A symbolic link that is pointed
/// elsewhere counts as a change, as does a file that appears or goes.
class FileWatch {
 public:
    /// Looks at the files as they are now.
    explicit FileWatch(const config::Config& config);

    /// Whether one differs from when it was last looked at; they are looked at anew.
    bool changed();

 private:
    struct Stamp {
        std::int64_t modified_ns = 0;
        std::uint64_t inode = 0;
        std::int64_t bytes = -1;  ///< -1: not there
        friend bool operator==(const Stamp&, const Stamp&) = default;
    };
    static Stamp stamp_of(const std::string& path);

    std::map<std::string, Stamp> files_;
};

}  // namespace oncegate::app

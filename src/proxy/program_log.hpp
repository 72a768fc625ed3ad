#pragma once
// The program's own log, on standard error. What it is told, it writes; deciding what is worth saying is the caller's.

#include <memory>
#include <string_view>

#include "config/config.hpp"

namespace oncegate::proxy {

/// Any thread.
class ProgramLog {
 public:
    explicit ProgramLog(const config::Log& options);
    ~ProgramLog();

    void debug(std::string_view message);
    void info(std::string_view message);
    void warning(std::string_view message);
    void error(std::string_view message);

    /// A warning that a busy fault would repeat: at most one a second and topic, and the next one says how many were
    /// left out.
    void limited(std::string_view topic, std::string_view message);

 private:
    struct Sink;
    std::unique_ptr<Sink> sink_;
};

}  // namespace oncegate::proxy

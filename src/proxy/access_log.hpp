#pragma once
// One line a request, with the fields of contract §5: JSON, or text for people. The key itself appears only with
// `log.keys: plain` (R40).

#include <memory>
#include <string>

#include "config/config.hpp"
#include "proxy/outcome.hpp"

namespace oncegate::proxy {

/// `unix_ms`: when the request was over. Pure, for tests.
std::string json_line(const Report& report, std::int64_t unix_ms);
std::string text_line(const Report& report, std::int64_t unix_ms);

/// Any thread.
class AccessLog {
 public:
    /// Throws std::runtime_error when the file cannot be opened.
    explicit AccessLog(const config::Log& options);
    ~AccessLog();

    void write(const Report& report);
    void flush();

 private:
    struct Sink;
    config::Log::Format format_;
    std::unique_ptr<Sink> sink_;
};

}  // namespace oncegate::proxy

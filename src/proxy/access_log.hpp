#pragma once
// One line a request, with the fields of contract §5: JSON, or text for people. The key itself appears only with
// `log.keys: plain` (R40).

#include <memory>
#include <string>

#include "config/config.hpp"
#include "proxy/outcome.hpp"

namespace oncegate::proxy {

/// Appends one line without its end. `unix_ms`: when the request was over. No I/O, for tests.
void append_json_line(std::string& out, const Report& report, std::int64_t unix_ms);
void append_text_line(std::string& out, const Report& report, std::int64_t unix_ms);

/// Any thread.
class AccessLog {
 public:
    /// Throws std::runtime_error when the file cannot be opened.
    explicit AccessLog(const config::Log& options);
    ~AccessLog();

    /// The line is kept until enough are there or flush() is called: whoever owns the log calls it a few times a
    /// second, and at the end.
    void write(const Report& report);
    void flush();

    /// Opens the file anew, for whoever moved it away (log rotation). False when it cannot be: the old one goes on.
    bool reopen();

 private:
    struct Sink;
    config::Log::Format format_;
    std::string file_;
    std::unique_ptr<Sink> sink_;
};

}  // namespace oncegate::proxy

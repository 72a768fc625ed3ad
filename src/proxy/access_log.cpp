#include "proxy/access_log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <mutex>
#include <stdexcept>

namespace oncegate::proxy {

namespace {

/// Lines are handed on together: a system call for each would cost more than the line itself.
constexpr std::size_t waiting_bytes_max = 32U << 10;

/// What stands for itself inside a JSON string.
constexpr auto plain_bytes = [] {
    std::array<bool, 256> plain{};
    for (std::size_t byte = 0x20; byte < 0x7F; ++byte) plain[byte] = byte != '"' && byte != '\\';
    return plain;
}();

/// Request bytes need not be UTF-8, and a log line must be valid JSON all the same: bytes from 0x80 on are written as
/// if Latin-1.
void append_quoted(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    out.push_back('"');
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && plain_bytes[static_cast<unsigned char>(text[plain])]) ++plain;
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty()) break;
        const char c = text.front();
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(c);
        } else {
            out.append("\\u00");
            out.push_back(digits[byte >> 4]);
            out.push_back(digits[byte & 0xF]);
        }
        text.remove_prefix(1);
    }
    out.push_back('"');
}

/// `name` is written as it stands in the line: `,"status":`.
void append_text(std::string& out, std::string_view name, std::string_view value) {
    out.append(name);
    append_quoted(out, value);
}

/// A value of the proxy's own, or a token of HTTP: nothing in it needs quoting.
void append_word(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(value).push_back('"');
}

void append_digits(std::string& out, std::uint64_t value) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

void append_number(std::string& out, std::string_view name, std::uint64_t value) {
    out.append(name);
    append_digits(out, value);
}

void append_three_digits(std::string& out, std::uint64_t value) {
    for (const std::uint64_t unit : {100U, 10U, 1U}) out.push_back(static_cast<char>('0' + value / unit % 10));
}

/// Milliseconds with three decimals.
void append_ms(std::string& out, std::string_view name, std::chrono::nanoseconds duration) {
    const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(0, (duration.count() + 500) / 1000));
    out.append(name);
    append_digits(out, us / 1000);
    out.push_back('.');
    append_three_digits(out, us % 1000);
}

/// RFC 3339 with milliseconds. The part that changes once a second is kept.
void append_time(std::string& out, std::int64_t unix_ms) {
    thread_local std::time_t kept_second = -1;
    thread_local std::array<char, 32> kept_text{};
    thread_local std::size_t kept_length = 0;
    const auto second = static_cast<std::time_t>(unix_ms / 1000);
    if (second != kept_second) {
        std::tm parts{};
        gmtime_r(&second, &parts);
        kept_length = std::strftime(kept_text.data(), kept_text.size(), "%Y-%m-%dT%H:%M:%S.", &parts);
        kept_second = second;
    }
    out.append(kept_text.data(), kept_length);
    append_three_digits(out, static_cast<std::uint64_t>(unix_ms % 1000));
    out.push_back('Z');
}

}  // namespace

void append_json_line(std::string& out, const Report& report, std::int64_t unix_ms) {
    out.append(R"({"time":")");
    append_time(out, unix_ms);
    out.push_back('"');
    append_text(out, R"(,"route":)", report.route);
    append_word(out, R"(,"method":")", report.method);
    append_text(out, R"(,"path":)", report.path);
    append_number(out, R"(,"status":)", static_cast<std::uint64_t>(report.status));
    append_word(out, R"(,"outcome":")", name_of(report.outcome));
    append_word(out, R"(,"key_hash":")", report.key_hash);
    if (!report.key.empty()) append_text(out, R"(,"key":)", report.key);
    append_word(out, R"(,"fingerprint":")", report.fingerprint);
    append_number(out, R"(,"attempt":)", report.attempt);
    out.append(report.replayed ? R"(,"replayed":true)" : R"(,"replayed":false)");
    if (report.would_be) append_word(out, R"(,"shadow":")", name_of(*report.would_be));
    append_number(out, R"(,"bytes_in":)", report.bytes_in);
    append_number(out, R"(,"bytes_out":)", report.bytes_out);
    append_ms(out, R"(,"duration_ms":)", report.total);
    append_ms(out, R"(,"upstream_ms":)", report.upstream);
    append_ms(out, R"(,"store_ms":)", report.store);
    append_word(out, R"(,"trace_id":")", report.trace_id);
    append_text(out, R"(,"client":)", report.client);
    out.push_back('}');
}

void append_text_line(std::string& out, const Report& report, std::int64_t unix_ms) {
    append_time(out, unix_ms);
    out.append(" ").append(report.client).append(" ").append(report.method).append(" ");
    append_quoted(out, report.path);
    append_number(out, " ", static_cast<std::uint64_t>(report.status));
    out.append(" ").append(name_of(report.outcome));
    out.append(" route=").append(report.route.empty() ? "-" : report.route);
    out.append(" key_hash=").append(report.key_hash.empty() ? "-" : report.key_hash);
    if (!report.key.empty()) append_text(out, " key=", report.key);
    append_number(out, " attempt=", report.attempt);
    append_number(out, " in=", report.bytes_in);
    append_number(out, " out=", report.bytes_out);
    append_ms(out, " ms=", report.total);
    out.append(" trace_id=").append(report.trace_id);
}

struct AccessLog::Sink {
    spdlog::logger logger;
    std::mutex mutex{};
    std::string waiting{};  ///< whole lines

    void hand_on() {
        if (waiting.empty()) return;
        logger.info(spdlog::string_view_t(waiting.data(), waiting.size()));
        logger.flush();
        waiting.clear();
    }
};

namespace {

spdlog::sink_ptr open_sink(const std::string& file) {
    if (file.empty()) return std::make_shared<spdlog::sinks::stdout_sink_mt>();
    try {
        return std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
    } catch (const spdlog::spdlog_ex& fault) {
        throw std::runtime_error("log.file: " + std::string(fault.what()));
    }
}

}  // namespace

namespace {

/// They come with their ends: the sink adds none.
std::unique_ptr<spdlog::formatter> lines_as_they_are() {
    return std::make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::utc, std::string());
}

}  // namespace

AccessLog::AccessLog(const config::Log& options)
    : format_(options.format), file_(options.file), sink_(new Sink{spdlog::logger("access", open_sink(options.file))}) {
    sink_->logger.set_formatter(lines_as_they_are());
}

bool AccessLog::reopen() {
    if (file_.empty()) return true;
    try {
        auto opened = open_sink(file_);
        const std::lock_guard lock(sink_->mutex);
        sink_->hand_on();
        sink_->logger.sinks().assign(1, std::move(opened));
        sink_->logger.set_formatter(lines_as_they_are());
        return true;
    } catch (const std::runtime_error&) {
        return false;
    }
}

AccessLog::~AccessLog() { flush(); }

void AccessLog::write(const Report& report) {
    using std::chrono::system_clock;
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch()).count();
    thread_local std::string line;
    line.clear();
    if (format_ == config::Log::Format::json) {
        append_json_line(line, report, now);
    } else {
        append_text_line(line, report, now);
    }
    line.push_back('\n');
    const std::lock_guard lock(sink_->mutex);
    sink_->waiting.append(line);
    if (sink_->waiting.size() >= waiting_bytes_max) sink_->hand_on();
}

void AccessLog::flush() {
    const std::lock_guard lock(sink_->mutex);
    sink_->hand_on();
}

}  // namespace oncegate::proxy

#include "proxy/access_log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <stdexcept>

namespace oncegate::proxy {

namespace {

/// Request bytes need not be UTF-8, and a log line must be valid JSON all the same: bytes from 0x80 on are written as
/// if Latin-1.
void append_quoted(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    out.push_back('"');
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(c);
        } else if (byte >= 0x20 && byte < 0x7F) {
            out.push_back(c);
        } else {
            out.append("\\u00");
            out.push_back(digits[byte >> 4]);
            out.push_back(digits[byte & 0xF]);
        }
    }
    out.push_back('"');
}

void append_text(std::string& out, std::string_view name, std::string_view value) {
    out.append(",\"").append(name).append("\":");
    append_quoted(out, value);
}

void append_number(std::string& out, std::string_view name, std::uint64_t value) {
    out.append(",\"").append(name).append("\":").append(std::to_string(value));
}

std::string milliseconds_text(std::chrono::nanoseconds duration) {
    std::array<char, 32> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.3f", static_cast<double>(duration.count()) / 1e6);
    return {text.data(), static_cast<std::size_t>(length)};
}

void append_ms(std::string& out, std::string_view name, std::chrono::nanoseconds duration) {
    out.append(",\"").append(name).append("\":").append(milliseconds_text(duration));
}

std::string rfc3339(std::int64_t unix_ms) {
    const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 64> text{};
    std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    length += static_cast<std::size_t>(
        std::snprintf(text.data() + length, text.size() - length, ".%03dZ", static_cast<int>(unix_ms % 1000)));
    return {text.data(), length};
}

}  // namespace

std::string json_line(const Report& report, std::int64_t unix_ms) {
    std::string out;
    out.reserve(512);
    out.append("{\"time\":\"").append(rfc3339(unix_ms)).append("\"");
    append_text(out, "route", report.route);
    append_text(out, "method", report.method);
    append_text(out, "path", report.path);
    append_number(out, "status", static_cast<std::uint64_t>(report.status));
    append_text(out, "outcome", name_of(report.outcome));
    append_text(out, "key_hash", report.key_hash);
    if (!report.key.empty()) append_text(out, "key", report.key);
    append_text(out, "fingerprint", report.fingerprint);
    append_number(out, "attempt", report.attempt);
    out.append(report.replayed ? ",\"replayed\":true" : ",\"replayed\":false");
    append_number(out, "bytes_in", report.bytes_in);
    append_number(out, "bytes_out", report.bytes_out);
    append_ms(out, "duration_ms", report.total);
    append_ms(out, "upstream_ms", report.upstream);
    append_ms(out, "store_ms", report.store);
    append_text(out, "trace_id", report.trace_id);
    append_text(out, "client", report.client);
    out.push_back('}');
    return out;
}

std::string text_line(const Report& report, std::int64_t unix_ms) {
    std::string out = rfc3339(unix_ms);
    out.append(" ").append(report.client).append(" ").append(report.method).append(" ");
    append_quoted(out, report.path);
    out.append(" ").append(std::to_string(report.status)).append(" ").append(name_of(report.outcome));
    out.append(" route=").append(report.route.empty() ? "-" : report.route);
    out.append(" key_hash=").append(report.key_hash.empty() ? "-" : report.key_hash);
    if (!report.key.empty()) {
        out.append(" key=");
        append_quoted(out, report.key);
    }
    out.append(" attempt=").append(std::to_string(report.attempt));
    out.append(" in=").append(std::to_string(report.bytes_in)).append(" out=").append(std::to_string(report.bytes_out));
    out.append(" ms=").append(milliseconds_text(report.total));
    out.append(" trace_id=").append(report.trace_id);
    return out;
}

struct AccessLog::Sink {
    spdlog::logger logger;
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

AccessLog::AccessLog(const config::Log& options)
    : format_(options.format), sink_(new Sink{spdlog::logger("access", open_sink(options.file))}) {
    sink_->logger.set_pattern("%v");
    if (!options.file.empty()) sink_->logger.flush_on(spdlog::level::info);
}

AccessLog::~AccessLog() = default;

void AccessLog::write(const Report& report) {
    using std::chrono::system_clock;
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch()).count();
    const auto line = format_ == config::Log::Format::json ? json_line(report, now) : text_line(report, now);
    sink_->logger.info(spdlog::string_view_t(line.data(), line.size()));
}

void AccessLog::flush() { sink_->logger.flush(); }

}  // namespace oncegate::proxy

#include "proxy/program_log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <chrono>
#include <map>
#include <mutex>
#include <string>

namespace oncegate::proxy {

struct ProgramLog::Sink {
    struct Topic {
        std::chrono::steady_clock::time_point last{};
        std::size_t left_out = 0;
    };

    spdlog::logger logger;
    config::Log::Format format;
    std::mutex mutex{};
    std::map<std::string, Topic, std::less<>> topics{};

    void write(spdlog::level::level_enum level, std::string_view message) {
        if (!logger.should_log(level)) return;
        if (format == config::Log::Format::json) {
            const std::string quoted = boost::json::serialize(boost::json::string_view(message.data(), message.size()));
            logger.log(level, spdlog::string_view_t(quoted.data(), quoted.size()));
        } else {
            logger.log(level, spdlog::string_view_t(message.data(), message.size()));
        }
    }
};

namespace {

spdlog::level::level_enum threshold(config::Log::Level level) {
    switch (level) {
        case config::Log::Level::debug: return spdlog::level::debug;
        case config::Log::Level::info: return spdlog::level::info;
        case config::Log::Level::warning: return spdlog::level::warn;
        case config::Log::Level::error: return spdlog::level::err;
    }
    std::abort();
}

}  // namespace

ProgramLog::ProgramLog(const config::Log& options)
    : sink_(new Sink{spdlog::logger("oncegate", std::make_shared<spdlog::sinks::stderr_sink_mt>()), options.format}) {
    sink_->logger.set_level(threshold(options.level));
    const bool json = options.format == config::Log::Format::json;
    sink_->logger.set_pattern(
        json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
        spdlog::pattern_time_type::utc);
}

ProgramLog::~ProgramLog() = default;

void ProgramLog::debug(std::string_view message) { sink_->write(spdlog::level::debug, message); }
void ProgramLog::info(std::string_view message) { sink_->write(spdlog::level::info, message); }
void ProgramLog::warning(std::string_view message) { sink_->write(spdlog::level::warn, message); }
void ProgramLog::limited(std::string_view topic, std::string_view message) {
    std::string line;
    {
        const std::lock_guard lock(sink_->mutex);
        auto& known = sink_->topics[std::string(topic)];
        const auto now = std::chrono::steady_clock::now();
        if (now - known.last < std::chrono::seconds(1)) {
            ++known.left_out;
            return;
        }
        line.append(topic).append(": ").append(message);
        if (known.left_out > 0) line.append(" (and ").append(std::to_string(known.left_out)).append(" more)");
        known = Sink::Topic{now, 0};
    }
    warning(line);
}

void ProgramLog::error(std::string_view message) { sink_->write(spdlog::level::err, message); }

}  // namespace oncegate::proxy

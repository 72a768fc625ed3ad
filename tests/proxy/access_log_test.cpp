// The access log's lines: the contract's fields, valid JSON whatever bytes a request held, and no key unless it was
// asked for.

#include "proxy/access_log.hpp"

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>

using namespace oncegate;
namespace json = boost::json;

namespace {

proxy::Report some_report() {
    proxy::Report report;
    report.route = "pay";
    report.method = "POST";
    report.path = "/v1/payments";
    report.outcome = proxy::Outcome::replayed;
    report.status = 201;
    report.key_hash = "0123";
    report.fingerprint = "abcd";
    report.attempt = 2;
    report.replayed = true;
    report.bytes_in = 10;
    report.bytes_out = 20;
    report.total = std::chrono::microseconds(1500);
    report.upstream = std::chrono::microseconds(250);
    report.store = std::chrono::nanoseconds(0);
    report.trace_id = "t";
    report.client = "127.0.0.1";
    return report;
}

std::string json_line(const proxy::Report& report, std::int64_t unix_ms) {
    std::string line;
    proxy::append_json_line(line, report, unix_ms);
    return line;
}

std::string text_line(const proxy::Report& report, std::int64_t unix_ms) {
    std::string line;
    proxy::append_text_line(line, report, unix_ms);
    return line;
}

}  // namespace

TEST_CASE("a line is one JSON object with the fields of the contract in their order") {
    CHECK(
        json_line(some_report(), 1'764'500'000'042) ==
        R"({"time":"2025-11-30T10:53:20.042Z","route":"pay","method":"POST","path":"/v1/payments","status":201,)"
        R"("outcome":"replayed","key_hash":"0123","fingerprint":"abcd","attempt":2,"replayed":true,"bytes_in":10,)"
        R"("bytes_out":20,"duration_ms":1.500,"upstream_ms":0.250,"store_ms":0.000,"trace_id":"t","client":"127.0.0.1"})");
}

TEST_CASE("the key is in a line only when the configuration put it there", "[R40]") {
    auto report = some_report();
    CHECK(json_line(report, 0).find("\"key\":") == std::string::npos);
    report.key = "a \"key\"";
    CHECK(json::parse(json_line(report, 0)).as_object().at("key").as_string() == "a \"key\"");
    CHECK(text_line(report, 0).find("key=\"a \\\"key\\\"\"") != std::string::npos);
}

TEST_CASE("any bytes of a request give a line that parses") {
    for (int byte = 0; byte < 256; ++byte) {
        auto report = some_report();
        const std::string path{'/', 'a', static_cast<char>(byte), 'b'};
        report.path = path;
        const auto line = json_line(report, 0);
        INFO(line);
        CHECK(line.find('\n') == std::string::npos);
        CHECK_NOTHROW(json::parse(line));
    }
}

#include "admin/admin_server.hpp"

#include <openssl/crypto.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "core/head_rules.hpp"
#include "core/problem.hpp"
#include "net/head_reader.hpp"
#include "net/message_writer.hpp"
#include "proxy/policy_page.hpp"

namespace oncegate::admin {

namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::size_t head_bytes_max = 16U << 10;
constexpr milliseconds idle_limit{60'000};
constexpr milliseconds head_limit{10'000};
constexpr milliseconds write_limit{30'000};

Answer problem(int status, std::string_view title, std::string_view detail) {
    return {status, "application/problem+json",
            json::serialize(json::object{{"title", title}, {"status", status}, {"detail", detail}})};
}

Answer readiness(const std::vector<std::string>& reasons) {
    json::array list;
    for (const auto& reason : reasons) list.emplace_back(reason);
    return {reasons.empty() ? 200 : 503, "application/json",
            json::serialize(json::object{{"ready", reasons.empty()}, {"reasons", std::move(list)}})};
}

/// Compares in a time that does not depend on where they differ.
bool same_secret(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool brings_body(const core::RequestHead& head) {
    const auto framing = core::request_framing(head);
    return framing.has_error() || framing->kind != core::Framing::Kind::none;
}

std::string response_bytes(const core::RequestHead& request, const Answer& answer, net::Persistence persistence) {
    core::ResponseHead head;
    head.status = answer.status;
    head.reason = std::string(core::reason_phrase(answer.status));
    head.fields.add("Content-Type", answer.content_type);
    head.fields.add("Cache-Control", "no-store");
    head.fields.add("X-Content-Type-Options", "nosniff");
    if (answer.status == 401) head.fields.add("WWW-Authenticate", "Bearer");
    const core::Framing framing{core::Framing::Kind::length, answer.body.size()};
    auto bytes = net::response_head_bytes(head, framing, request.version, persistence);
    if (request.method != "HEAD") bytes.append(answer.body);
    return bytes;
}

}  // namespace

bool AdminServer::allowed(const core::RequestHead& head) const {
    const auto config = status_.config();
    if (config->admin.token.empty()) return true;
    const auto given = head.fields.find("Authorization").value_or("");
    constexpr std::string_view scheme = "bearer ";
    return given.size() > scheme.size() && core::iequals(given.substr(0, scheme.size()), scheme) &&
           same_secret(core::trim_ows(given.substr(scheme.size())), config->admin.token);
}

Answer AdminServer::answer(const core::RequestHead& head) const {
    const auto path = core::split_target(head.target).path;
    const bool reads = head.method == "GET" || head.method == "HEAD";
    if (path == "/healthz" && reads) return {200, "text/plain; charset=utf-8", "ok\n"};
    if (path == "/readyz" && reads) return readiness(status_.reasons_not_ready());
    if (!allowed(head)) return problem(401, "Unauthorized", "Send the admin token as Authorization: Bearer TOKEN.");
    if (path == "/metrics" && reads) return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_.text()};
    if (path == "/v1/policies" && reads)
        return {200, "application/json", proxy::policy_page_json(*status_.config(), "/.well-known/idempotency")};
    if (path.starts_with("/v1/records") || path.starts_with("/v1/attempts")) {
        return problem(501, "Not supported yet", "Looking into and mending records is not supported yet.");
    }
    if (path == "/healthz" || path == "/readyz" || path == "/metrics" || path == "/v1/policies") {
        return problem(405, "Method Not Allowed", "Use GET.");
    }
    return problem(404, "Not Found", "The admin listener has /healthz, /readyz, /metrics and /v1/policies.");
}

boost::asio::awaitable<void> AdminServer::serve(std::unique_ptr<net::Stream> stream) const {
    net::Connection connection(std::move(stream));
    for (;;) {
        connection.stream().deadline(idle_limit);
        const auto head = co_await net::read_request_head(connection, head_bytes_max, head_limit);
        core::RequestHead none;
        const bool malformed = head.has_error() && head.error().kind == net::NoHead::Kind::malformed;
        if (head.has_error() && !malformed) break;
        // Nothing here takes a body: a request that brings one is answered, and the connection closed behind it.
        const bool last = malformed || brings_body(*head) || !core::keeps_alive(head->version, head->fields);
        const auto persistence = last ? net::Persistence::close : net::Persistence::keep_alive;
        const auto bytes =
            malformed ? response_bytes(none, problem(400, "Bad Request", head.error().fault.detail), persistence)
                      : response_bytes(*head, answer(*head), persistence);
        const std::array<boost::asio::const_buffer, 1> pieces{boost::asio::buffer(bytes)};
        connection.stream().deadline(write_limit);
        const auto written = co_await connection.stream().write(pieces);
        if (written.error || last) break;
    }
    connection.stream().close();
}

}  // namespace oncegate::admin

// What the admin listener answers, without sockets.

#include "admin/admin_server.hpp"

#include <catch2/catch.hpp>

using namespace oncegate;

namespace {

struct FixedStatus final : admin::Status {
    std::vector<std::string> reasons;
    std::shared_ptr<config::Config> loaded = std::make_shared<config::Config>();
    std::vector<std::string> reasons_not_ready() const override { return reasons; }
    std::shared_ptr<const config::Config> config() const override { return loaded; }
};

struct Listener {
    proxy::Metrics metrics{"1.2.3"};
    FixedStatus status;
    config::Config& config = *status.loaded;
    admin::AdminServer server{metrics, status};

    admin::Answer get(std::string target, core::Fields fields = {}) const {
        core::RequestHead head;
        head.method = "GET";
        head.target = std::move(target);
        head.fields = std::move(fields);
        return server.answer(head);
    }
};

}  // namespace

TEST_CASE("a live process is healthy, and ready only without reasons against it") {
    Listener listener;
    CHECK(listener.get("/healthz").status == 200);
    CHECK(listener.get("/readyz").status == 200);
    listener.status.reasons = {"store: away", "draining"};
    CHECK(listener.get("/healthz").status == 200);
    const auto answer = listener.get("/readyz");
    CHECK(answer.status == 503);
    CHECK(answer.body == R"({"ready":false,"reasons":["store: away","draining"]})");
}

TEST_CASE("metrics are Prometheus text with the names of the contract") {
    Listener listener;
    listener.metrics.upstream("target");
    listener.metrics.request_done(listener.metrics.route("pay"), proxy::Outcome::replayed,
                                  std::chrono::milliseconds(3));
    listener.metrics.operation_done("claim", std::chrono::milliseconds(1));
    listener.metrics.batch_done(2);
    const auto answer = listener.get("/metrics");
    CHECK(answer.status == 200);
    CHECK(answer.content_type == "text/plain; version=0.0.4; charset=utf-8");
    for (const auto* line :
         {"oncegate_requests_total{outcome=\"replayed\",route=\"pay\"} 1", "oncegate_build_info{version=\"1.2.3\"} 1",
          "oncegate_request_duration_seconds_count{outcome=\"replayed\",route=\"pay\"} 1",
          "oncegate_store_duration_seconds_count{operation=\"claim\"} 1", "oncegate_store_batch_size_count 1",
          "oncegate_connections{side=\"client\"}", "oncegate_connections{side=\"upstream\"}",
          "oncegate_requests_in_flight{route=\"pay\"}", "oncegate_reaped_total",
          "oncegate_takeovers_total{route=\"pay\"}", "oncegate_stale_completions_total{route=\"pay\"}",
          "oncegate_unrecorded_total{route=\"pay\"}", "oncegate_expired_key_retries_total{route=\"pay\"}",
          "oncegate_upstream_duration_seconds_count{upstream=\"target\"}"}) {
        INFO(line);
        CHECK(answer.body.find(line) != std::string::npos);
    }
}

TEST_CASE("with a token everything but health and readiness needs it") {
    Listener listener;
    listener.config.admin.token = "secret";
    CHECK(listener.get("/healthz").status == 200);
    CHECK(listener.get("/readyz").status == 200);
    CHECK(listener.get("/metrics").status == 401);
    CHECK(listener.get("/metrics", {{"Authorization", "Bearer wrong!"}}).status == 401);
    CHECK(listener.get("/metrics", {{"Authorization", "Basic secret"}}).status == 401);
    CHECK(listener.get("/metrics", {{"Authorization", "Bearer secret"}}).status == 200);
    CHECK(listener.get("/nonsense").status == 401);
}

TEST_CASE("what is not there yet is refused by name") {
    const Listener listener;
    const auto answer = listener.get("/v1/records");
    CHECK(answer.status == 501);
    CHECK(answer.body.find("not supported yet") != std::string::npos);
    CHECK(listener.get("/v1/attempts/abc").status == 501);
    CHECK(listener.get("/nonsense").status == 404);
    CHECK(listener.get("/v1/policies").status == 200);
}

TEST_CASE("the admin listener only answers reads") {
    const Listener listener;
    core::RequestHead head;
    head.method = "POST";
    head.target = "/metrics";
    CHECK(listener.server.answer(head).status == 405);
}

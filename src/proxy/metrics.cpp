#include "proxy/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <map>
#include <mutex>

namespace oncegate::proxy {

namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

const Histogram::BucketBoundaries seconds_buckets{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                  0.25,   0.5,   1,      2.5,   5,    10,    30};
const Histogram::BucketBoundaries batch_buckets{1, 2, 4, 8, 16, 32, 64, 128};

constexpr std::array<const char*, 9> operation_names{"claim",  "complete",  "release",   "mark_unknown", "renew",
                                                     "lookup", "put_chunk", "get_chunk", "reap"};

double in_seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

/// Those by outcome appear when first used: most routes never see most outcomes.
class Metrics::Route {
 public:
    std::string name;
    std::array<std::atomic<Counter*>, outcome_names.size()> requests{};
    std::array<std::atomic<Histogram*>, outcome_names.size()> durations{};
    Gauge* in_flight = nullptr;
    Counter* unrecorded = nullptr;
    Counter* expired_key_retries = nullptr;
    Counter* takeovers = nullptr;
    Counter* stale_completions = nullptr;
    Counter* keyless = nullptr;
    Counter* suspected_duplicates = nullptr;
    std::array<std::atomic<Counter*>, outcome_names.size()> shadowed{};
};

class Metrics::Upstream {
 public:
    std::string name;
    Histogram* durations = nullptr;
    std::array<Counter*, 4> failures{};
};

struct Metrics::Families {
    prometheus::Registry registry;
    Family<Counter>& requests = BuildCounter()
                                    .Name("oncegate_requests_total")
                                    .Help("Requests by route and what became of them")
                                    .Register(registry);
    Family<Histogram>& durations = BuildHistogram()
                                       .Name("oncegate_request_duration_seconds")
                                       .Help("From the request head to the last byte of the answer")
                                       .Register(registry);
    Family<Gauge>& in_flight =
        BuildGauge().Name("oncegate_requests_in_flight").Help("Requests being handled now").Register(registry);
    Family<Counter>& unrecorded = BuildCounter()
                                      .Name("oncegate_unrecorded_total")
                                      .Help("Answers given although they could not be recorded at once")
                                      .Register(registry);
    Family<Counter>& expired_key_retries = BuildCounter()
                                               .Name("oncegate_expired_key_retries_total")
                                               .Help("Keys used again after their ttl")
                                               .Register(registry);
    Family<Counter>& takeovers = BuildCounter()
                                     .Name("oncegate_takeovers_total")
                                     .Help("Attempts that took over a key with an unknown outcome")
                                     .Register(registry);
    Family<Counter>& stale_completions = BuildCounter()
                                             .Name("oncegate_stale_completions_total")
                                             .Help("Completions that came after the key had moved on")
                                             .Register(registry);
    Family<Counter>& keyless = BuildCounter()
                                   .Name("oncegate_keyless_requests_total")
                                   .Help("Requests without a key, forwarded unprotected because none is required")
                                   .Register(registry);
    Family<Counter>& suspected_duplicates = BuildCounter()
                                                .Name("oncegate_suspected_duplicates_total")
                                                .Help("Requests equal to a recent one but for their key")
                                                .Register(registry);
    Family<Counter>& shadowed = BuildCounter()
                                    .Name("oncegate_shadow_total")
                                    .Help("Requests of routes in shadow mode by what they would have got")
                                    .Register(registry);
    Family<Histogram>& upstream_durations = BuildHistogram()
                                                .Name("oncegate_upstream_duration_seconds")
                                                .Help("From taking a connection to the response head")
                                                .Register(registry);
    Family<Histogram>& store_durations = BuildHistogram()
                                             .Name("oncegate_store_duration_seconds")
                                             .Help("One store operation, its wait in the queue included")
                                             .Register(registry);
    Family<Counter>& store_faults =
        BuildCounter().Name("oncegate_store_faults_total").Help("Store operations without a result").Register(registry);
    Family<Gauge>& connections_family =
        BuildGauge().Name("oncegate_connections").Help("Open connections").Register(registry);

    Gauge& client_connections = connections_family.Add({{"side", "client"}});
    Gauge& open_to_upstreams = connections_family.Add({{"side", "upstream"}});

    Histogram& batch_size = BuildHistogram()
                                .Name("oncegate_store_batch_size")
                                .Help("Operations committed together")
                                .Register(registry)
                                .Add({}, batch_buckets);
    Counter& reaped =
        BuildCounter().Name("oncegate_reaped_total").Help("Expired records removed").Register(registry).Add({});

    Family<Counter>& upstream_failures = BuildCounter()
                                             .Name("oncegate_upstream_failures_total")
                                             .Help("Connects, requests and answers that failed at an upstream")
                                             .Register(registry);
    Family<Counter>& entrance_failures = BuildCounter()
                                             .Name("oncegate_entrance_failures_total")
                                             .Help("Client connections without a sound TLS handshake or PROXY header")
                                             .Register(registry);
    Family<Gauge>& server_use = BuildGauge()
                                    .Name("oncegate_upstream_server_up")
                                    .Help("1: requests go to this server, 0: it is down or ejected")
                                    .Register(registry);
    Family<Counter>& reloads = BuildCounter()
                                   .Name("oncegate_config_reloads_total")
                                   .Help("Configurations loaded anew, by what became of them")
                                   .Register(registry);

    std::mutex names;  ///< guards the two maps; what they hold stays where it is
    std::map<std::string, Route> routes;
    std::map<std::string, Upstream> upstreams;
    Route unmatched;
    std::array<Histogram*, operation_names.size()> operations{};
    std::array<Counter*, 4> faults{};
    std::array<Counter*, 2> reload_results{};
    std::array<Counter*, 2> entrances{};
    std::mutex server_gauges;  ///< guards the map
    std::map<std::pair<std::string, std::string>, Gauge*> servers;

    void prepare(Route& route, const std::string& name) {
        route.name = name;
        route.in_flight = &in_flight.Add({{"route", name}});
        route.unrecorded = &unrecorded.Add({{"route", name}});
        route.expired_key_retries = &expired_key_retries.Add({{"route", name}});
        route.takeovers = &takeovers.Add({{"route", name}});
        route.stale_completions = &stale_completions.Add({{"route", name}});
        route.keyless = &keyless.Add({{"route", name}});
        route.suspected_duplicates = &suspected_duplicates.Add({{"route", name}});
    }
};

Metrics::Metrics(std::string_view version) : families_(std::make_unique<Families>()) {
    auto& f = *families_;
    f.prepare(f.unmatched, "");
    f.entrances = {&f.entrance_failures.Add({{"kind", "tls"}}), &f.entrance_failures.Add({{"kind", "proxy_header"}})};
    f.reload_results = {&f.reloads.Add({{"result", "taken"}}), &f.reloads.Add({{"result", "refused"}})};
    for (std::size_t i = 0; i < operation_names.size(); ++i) {
        f.operations[i] = &f.store_durations.Add({{"operation", operation_names[i]}}, seconds_buckets);
    }
    constexpr std::array<const char*, 4> kinds{"unreachable", "timeout", "overloaded", "refused"};
    for (std::size_t i = 0; i < kinds.size(); ++i) f.faults[i] = &f.store_faults.Add({{"kind", kinds[i]}});
    BuildGauge()
        .Name("oncegate_build_info")
        .Help("Always 1; the labels say which build runs")
        .Register(f.registry)
        .Add({{"version", std::string(version)}})
        .Set(1);
}

Metrics::~Metrics() = default;

Metrics::Route& Metrics::route(const std::string& name) {
    const std::lock_guard lock(families_->names);
    const auto [entry, is_new] = families_->routes.try_emplace(name);
    if (is_new) families_->prepare(entry->second, name);
    return entry->second;
}

Metrics::Upstream& Metrics::upstream(const std::string& name) {
    const std::lock_guard lock(families_->names);
    const auto [entry, is_new] = families_->upstreams.try_emplace(name);
    if (is_new) {
        entry->second.name = name;
        constexpr std::array<const char*, 4> kinds{"connect", "broken", "timeout", "malformed"};
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            entry->second.failures[i] = &families_->upstream_failures.Add({{"upstream", name}, {"kind", kinds[i]}});
        }
        entry->second.durations = &families_->upstream_durations.Add({{"upstream", name}}, seconds_buckets);
    }
    return entry->second;
}

Metrics::Route& Metrics::unmatched() { return families_->unmatched; }

void Metrics::request_done(Route& of_route, Outcome outcome, std::chrono::nanoseconds duration) {
    const auto index = static_cast<std::size_t>(outcome);
    auto* counter = of_route.requests[index].load(std::memory_order_acquire);
    auto* histogram = of_route.durations[index].load(std::memory_order_acquire);
    if (counter == nullptr || histogram == nullptr) {
        // Adding the same labels again gives the same object, so that two threads may both come here.
        const prometheus::Labels labels{{"route", of_route.name}, {"outcome", std::string(name_of(outcome))}};
        counter = &families_->requests.Add(labels);
        histogram = &families_->durations.Add(labels, seconds_buckets);
        of_route.requests[index].store(counter, std::memory_order_release);
        of_route.durations[index].store(histogram, std::memory_order_release);
    }
    counter->Increment();
    histogram->Observe(in_seconds(duration));
}

void Metrics::request_began(Route& route) { route.in_flight->Increment(); }
void Metrics::request_ended(Route& route) { route.in_flight->Decrement(); }

void Metrics::upstream_answered(Upstream& upstream, std::chrono::nanoseconds duration) {
    upstream.durations->Observe(in_seconds(duration));
}

void Metrics::unrecorded(Route& route) { route.unrecorded->Increment(); }
void Metrics::expired_key_retry(Route& route) { route.expired_key_retries->Increment(); }
void Metrics::takeover(Route& route) { route.takeovers->Increment(); }
void Metrics::stale_completion(Route& route) { route.stale_completions->Increment(); }
void Metrics::keyless(Route& route) { route.keyless->Increment(); }
void Metrics::suspected_duplicate(Route& route) { route.suspected_duplicates->Increment(); }

void Metrics::shadowed(Route& route, Outcome would_be) {
    auto& known = route.shadowed[static_cast<std::size_t>(would_be)];
    auto* counter = known.load(std::memory_order_acquire);
    if (counter == nullptr) {
        counter = &families_->shadowed.Add({{"route", route.name}, {"would_be", std::string(name_of(would_be))}});
        known.store(counter, std::memory_order_release);
    }
    counter->Increment();
}

void Metrics::server_use(const std::string& upstream, const std::string& server, ServerUse use) {
    const std::lock_guard lock(families_->server_gauges);
    auto*& gauge = families_->servers[{upstream, server}];
    if (gauge == nullptr) gauge = &families_->server_use.Add({{"upstream", upstream}, {"server", server}});
    gauge->Set(use == ServerUse::used ? 1 : 0);
}

void Metrics::forget_server(const std::string& upstream, const std::string& server) {
    const std::lock_guard lock(families_->server_gauges);
    const auto known = families_->servers.extract({upstream, server});
    if (known) families_->server_use.Remove(known.mapped());
}

void Metrics::upstream_failed(Upstream& upstream, Failure kind) {
    upstream.failures[static_cast<std::size_t>(kind)]->Increment();
}

void Metrics::entrance_failed(Entrance what) { families_->entrances[static_cast<std::size_t>(what)]->Increment(); }

void Metrics::reloaded(Reload result) { families_->reload_results[static_cast<std::size_t>(result)]->Increment(); }

void Metrics::reaped(std::size_t records) { families_->reaped.Increment(static_cast<double>(records)); }

void Metrics::client_connections(int change) { families_->client_connections.Increment(change); }

void Metrics::operation_done(std::string_view operation, std::chrono::nanoseconds queued_and_run) {
    for (std::size_t i = 0; i < operation_names.size(); ++i) {
        if (operation == operation_names[i]) families_->operations[i]->Observe(in_seconds(queued_and_run));
    }
}

void Metrics::batch_done(std::size_t operations) { families_->batch_size.Observe(static_cast<double>(operations)); }

void Metrics::fault(const store::StoreFault& fault) {
    families_->faults[static_cast<std::size_t>(fault.kind)]->Increment();
}

std::string Metrics::text() const {
    families_->open_to_upstreams.Set(upstream_connections_.load(std::memory_order_relaxed));
    return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace oncegate::proxy

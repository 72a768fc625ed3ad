#include "proxy/session.hpp"

#include "core/forwarding.hpp"
#include "core/head_rules.hpp"
#include "net/staged_close.hpp"
#include "proxy/exchange.hpp"
#include "proxy/final_recipient.hpp"
#include "proxy/relay.hpp"
#include "proxy/trace.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::ProblemKind;

namespace {

/// How much of an unread request is read off after a refusal before the connection is closed, so that the client reads
/// the answer instead of a reset (R128).
constexpr std::size_t lingering_bytes_max = 1U << 20;
constexpr std::chrono::milliseconds lingering_time{2'000};
constexpr std::chrono::milliseconds first_head_grace{500};

/// Counts something of the shared state for as long as it lives.
class Counted {
 public:
    explicit Counted(std::atomic<std::size_t>& count) : count_(count), number_(count.fetch_add(1) + 1) {}
    ~Counted() { count_.fetch_sub(1); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    std::size_t number() const { return number_; }

 private:
    std::atomic<std::size_t>& count_;
    std::size_t number_;
};

core::Problem problem_of(ProblemKind kind, std::string detail = {}, std::optional<int> status = std::nullopt) {
    core::Problem problem;
    problem.kind = kind;
    problem.detail = std::move(detail);
    problem.status = status;
    return problem;
}

core::Problem overloaded() {
    auto problem = problem_of(ProblemKind::overloaded);
    problem.retry_after = std::chrono::seconds(1);
    return problem;
}

/// For a request that comes when the drain has begun (R148): the client takes it elsewhere.
core::Problem shutting_down() {
    auto problem = overloaded();
    problem.detail = "This proxy is shutting down. Nothing was done; retry with the same key.";
    return problem;
}

bool enforced(const config::Route& route, std::string_view method) {
    if (!route.policy || route.policy->mode == core::Mode::off) return false;
    for (const auto& name : route.enforced_methods) {
        if (name == method) return true;
    }
    return false;
}

}  // namespace

Session::Session(Worker& worker, std::unique_ptr<net::Stream> stream)
    : worker_(worker), connection_(std::move(stream)) {}

bool Session::idle() {
    if (!idle_ || !connection_.buffered().empty() || !connection_.stream().is_quiet()) return false;
    const bool served_before = began_ != std::chrono::steady_clock::time_point();
    return served_before || std::chrono::steady_clock::now() - opened_ > first_head_grace;
}

void Session::close_idle() {
    if (idle()) connection_.stream().cancel();
}

asio::awaitable<void> Session::run() {
    const Counted open(worker_.shared.connections);
    const auto& server = worker_.shared.config.server;
    if (open.number() > server.limits.connections) co_return co_await turn_away();
    worker_.shared.metrics.client_connections(+1);
    auto wait = server.timeouts.head;
    for (;;) {
        auto& stream = connection_.stream();
        stream.deadline(wait);
        idle_ = connection_.buffered().empty();
        auto head = co_await net::read_request_head(connection_, server.limits.request_head, server.timeouts.head);
        idle_ = false;
        if (head.has_error()) {
            co_await refuse_head(head.error());
            break;
        }
        if (co_await serve(std::move(*head)) == net::Persistence::close) break;
        if (worker_.shared.draining) {
            unread_ = true;  // what was sent behind the last request is read off, not answered with a reset
            break;
        }
        wait = server.timeouts.keep_alive;
    }
    worker_.shared.metrics.client_connections(-1);
    if (unread_) {
        co_await net::staged_close(connection_, lingering_time, lingering_bytes_max);
    } else {
        connection_.stream().close();
    }
}

asio::awaitable<void> Session::refuse_head(const net::NoHead& why) {
    const bool late = why.kind == net::NoHead::Kind::timed_out && why.started;
    if (why.kind != net::NoHead::Kind::malformed && !late) co_return;
    auto problem = late ? problem_of(ProblemKind::bad_request, "The request head did not arrive in time.", 408)
                        : problem_of(ProblemKind::bad_request, why.fault.detail, why.fault.status);
    if (problem.status == 431) problem.kind = ProblemKind::head_too_large;
    co_await refuse_unread(std::move(problem));
}

asio::awaitable<void> Session::refuse_unread(core::Problem problem) {
    began_ = std::chrono::steady_clock::now();
    const core::RequestHead none;
    ClientSide client(connection_, none, core::Framing(), worker_.shared.config.server.timeouts,
                      worker_.shared.draining);
    client.close_after();
    Report report;
    co_await client.refuse(problem, built_in_policy_page(none));
    write_report(report, client, Metrics::no_route);
    unread_ = true;
}

asio::awaitable<void> Session::turn_away() {
    co_await refuse_unread(overloaded());
    co_await net::staged_close(connection_, lingering_time, lingering_bytes_max);
}

asio::awaitable<net::Persistence> Session::serve(core::RequestHead head) {
    began_ = std::chrono::steady_clock::now();
    const auto framing = core::request_framing(head);
    route_index_ = Metrics::no_route;
    Report report;
    report.trace_id = trace_id_of(head.fields.find("traceparent").value_or(""));
    ClientSide client(connection_, head, framing.has_value() ? *framing : core::Framing(),
                      worker_.shared.config.server.timeouts, worker_.shared.draining);
    if (framing.has_error()) {
        client.close_after();
        co_await refuse(client, problem_of(ProblemKind::bad_request, framing.error().detail, framing.error().status));
    } else {
        const Counted running(worker_.shared.requests);
        if (worker_.shared.draining) {
            co_await refuse(client, shutting_down());
        } else if (running.number() > worker_.shared.config.server.limits.in_flight) {
            client.close_after();
            co_await refuse(client, overloaded());
        } else {
            co_await dispatch_or_report(client, report);
        }
    }
    write_report(report, client, route_index_);
    const auto persistence = co_await client.settle();
    unread_ = !client.gone() && (framing.has_error() || !client.body().finished());
    co_return persistence;
}

asio::awaitable<void> Session::refuse(ClientSide& client, core::Problem problem) {
    co_await client.refuse(problem, built_in_policy_page(client.request()));
}

asio::awaitable<void> Session::dispatch_or_report(ClientSide& client, Report& report) {
    std::exception_ptr escaped;
    try {
        co_await dispatch(client, report);
    } catch (...) {
        escaped = std::current_exception();
    }
    if (!escaped) co_return;
    // Cut off by the end of a drain: just these are the ones that someone will ask about.
    report.outcome = Outcome::outcome_unknown;
    write_report(report, client, route_index_);
    std::rethrow_exception(escaped);
}

asio::awaitable<void> Session::dispatch(ClientSide& client, Report& report) {
    const auto& head = client.request();
    report.client = connection_.stream().peer_address();
    if (const auto expect = head.fields.combined("Expect"); expect && !core::iequals(*expect, "100-continue")) {
        co_return co_await refuse(
            client, problem_of(ProblemKind::bad_request, "The only expectation that is met is 100-continue.", 417));
    }
    if (head.method == "CONNECT") {
        client.close_after();
        co_return co_await refuse(client, problem_of(ProblemKind::bad_request, "CONNECT is not offered.", 501));
    }
    if (core::loops(head.fields, worker_.shared.pseudonym)) {
        co_return co_await refuse(client,
                                  problem_of(ProblemKind::bad_request,
                                             "The request runs in a circle: this proxy has forwarded it before.", 508));
    }
    if (ends_here(head)) {
        report.outcome = Outcome::passthrough;
        co_return co_await answer_as_recipient(client);
    }
    if (asks_for_policy_page(head)) {
        report.outcome = Outcome::passthrough;
        co_return co_await send_policy_page(client, worker_.shared.config);
    }
    const auto route = worker_.shared.routes.find(head);
    if (route.has_value()) co_return co_await route_to(client, report, *route);
    if (route.error() == core::RouteTable::Miss::ambiguous) {
        co_return co_await refuse(
            client,
            problem_of(ProblemKind::bad_request,
                       "The path can be read in two ways: it holds an encoded separator, a backslash or a NUL."));
    }
    co_await refuse(client, problem_of(ProblemKind::no_route));
}

asio::awaitable<void> Session::route_to(ClientSide& client, Report& report, std::size_t index) {
    route_index_ = index;
    const auto& route = worker_.shared.config.routes[index];
    report.route = route.name;
    worker_.shared.metrics.request_began(index);
    Request request{worker_, client, report, index, route};
    if (enforced(route, client.request().method)) {
        Exchange exchange(request);
        co_await exchange.run();
    } else {
        co_await relay(request);
    }
    worker_.shared.metrics.request_ended(index);
}

void Session::write_report(Report& report, const ClientSide& client, std::size_t route) {
    report.method = client.request().method;
    report.path = std::string(core::split_target(client.request().target).path);
    report.status = client.status_sent();
    report.bytes_in = client.bytes_in();
    report.bytes_out = client.bytes_out();
    report.total = std::chrono::steady_clock::now() - began_;
    if (report.client.empty()) report.client = connection_.stream().peer_address();
    worker_.shared.metrics.request_done(route, report.outcome, report.total);
    worker_.shared.access_log.write(report);
}

}  // namespace oncegate::proxy

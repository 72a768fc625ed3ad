#include "proxy/session.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "config/preflight.hpp"
#include "core/forwarding.hpp"
#include "core/head_rules.hpp"
#include "net/proxy_header.hpp"
#include "net/staged_close.hpp"
#include "net/tls_fault.hpp"
#include "proxy/authorization.hpp"
#include "proxy/cors.hpp"
#include "proxy/exchange.hpp"
#include "proxy/final_recipient.hpp"
#include "proxy/relay.hpp"
#include "proxy/trace.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::problem_of;
using core::ProblemKind;

namespace {

/// How much of an unread request is read off after a refusal before the connection is closed, so that the client reads
/// the answer instead of a reset (R128).
constexpr std::size_t lingering_bytes_max = 1U << 20;
constexpr std::chrono::milliseconds lingering_time{2'000};
constexpr std::chrono::milliseconds first_head_grace{500};
constexpr std::size_t refusals_max = 64;

/// Requests of one connection in a row before others get a turn: pipelined ones that are answered here never wait.
constexpr unsigned requests_in_a_row = 16;

/// Counts something of the shared state for as long as it lives.
class Counted {
 public:
    explicit Counted(std::atomic<std::size_t>& count) : count_(count), number_(count.fetch_add(1) + 1) {}
    ~Counted() { end(); }
    void end() {
        if (std::exchange(counts_, false)) count_.fetch_sub(1);
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    std::size_t number() const { return number_; }

 private:
    std::atomic<std::size_t>& count_;
    std::size_t number_;
    bool counts_ = true;
};

/// Counts a request of a route for as long as it is under way.
class UnderWay {
 public:
    explicit UnderWay(Metrics::Route& route) : route_(route) { Metrics::request_began(route_); }
    ~UnderWay() { Metrics::request_ended(route_); }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

 private:
    Metrics::Route& route_;
};

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

Session::Session(Worker& worker, std::unique_ptr<net::Stream> stream, std::size_t listener)
    : worker_(worker),
      listener_(listener),
      generation_(worker.generation),
      connection_(std::move(stream)),
      counts_(&worker.shared.metrics.unmatched()) {}

bool Session::idle() {
    const bool new_here = std::chrono::steady_clock::now() - opened_ <= first_head_grace;
    if (entering_ != nullptr) return !new_here;
    if (!idle_ || !connection_.buffered().empty() || !connection_.stream().is_quiet()) return false;
    const bool served_before = began_ != std::chrono::steady_clock::time_point();
    return served_before || !new_here;
}

void Session::close_idle() {
    if (!idle()) return;
    auto& stream = entering_ != nullptr ? *entering_ : connection_.stream();
    stream.cancel();
}

asio::awaitable<void> Session::run() {
    Counted admitted(worker_.shared.connections);
    if (admitted.number() > server().limits.connections) {
        admitted.end();  // who is turned away takes nobody's place
        co_return co_await turn_away();
    }
    worker_.shared.metrics.client_connections(+1);
    const auto entered = co_await enter();
    if (entered == Entered::yes) co_await serve_requests();
    worker_.shared.metrics.client_connections(-1);
    if (entered == Entered::no) co_return;  // the stream may have ended with its handshake
    // A TLS stream's goodbye needs room in the socket, which a plain close would not wait for.
    if (unread_ || connection_.stream().encrypted()) {
        co_await net::staged_close(connection_, lingering_time, lingering_bytes_max);
    } else {
        connection_.stream().close();
    }
}

/// A slow handshake holds one connection for as long as a slow head may (contract: `timeouts.head`).
asio::awaitable<Session::Entered> Session::enter() {
    const auto& listener = server().listeners[listener_];
    const auto limit = server().timeouts.head;
    entering_ = &connection_.stream();
    if (listener.proxy_protocol) {
        connection_.stream().deadline(limit);
        const auto fault = co_await net::read_proxy_header(connection_.stream());
        if (fault) {
            entering_ = nullptr;
            note_no_entrance(Metrics::Entrance::proxy_header, fault);
            connection_.stream().close();
            co_return Entered::no;
        }
    }
    if (const auto tls = generation_->shared().listener_tls(listener_)) {
        auto stream = co_await tls->accept(connection_.release_stream(), limit);
        entering_ = nullptr;
        if (stream.has_error()) {
            note_no_entrance(Metrics::Entrance::tls, stream.error());
            co_return Entered::no;
        }
        connection_.adopt_stream(std::move(*stream));
    }
    entering_ = nullptr;
    co_return Entered::yes;
}

void Session::note_no_entrance(Metrics::Entrance what, const net::error_code& why) {
    worker_.shared.metrics.entrance_failed(what);
    // Balancers look whether the port is open in this way, and go.
    if (why == asio::error::eof || why == asio::error::connection_reset || why == net::tls_truncated()) return;
    const std::string topic = std::string("listener ").append(server().listeners[listener_].bind);
    const bool tls = what == Metrics::Entrance::tls;
    worker_.shared.log.limited(topic,
                               std::string(tls ? "no TLS handshake: " : "no PROXY header: ").append(why.message()));
}

asio::awaitable<void> Session::serve_requests() {
    auto wait = server().timeouts.head;
    for (unsigned requests = 1;; ++requests) {
        if (requests % requests_in_a_row == 0) co_await asio::post(worker_.executor, asio::use_awaitable);
        connection_.stream().deadline(wait);
        idle_ = connection_.buffered().empty();
        auto head = co_await net::read_request_head(connection_, server().limits.request_head, server().timeouts.head);
        idle_ = false;
        renew_generation();
        if (head.has_error()) {
            co_await refuse_head(head.error());
            co_return;
        }
        if (co_await serve(std::move(*head)) == net::Persistence::close) co_return;
        if (worker_.shared.draining) {
            unread_ = true;  // what was sent behind the last request is read off, not answered with a reset
            co_return;
        }
        wait = server().timeouts.keep_alive;
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
    ClientSide client(connection_, none, core::Framing(), server(), worker_.shared.draining);
    client.close_after();
    Report report;
    co_await client.refuse(render(problem, nullptr, client));
    counts_ = &worker_.shared.metrics.unmatched();
    write_report(report, client);
    unread_ = true;
}

asio::awaitable<void> Session::turn_away() {
    const Counted refused(worker_.shared.refusals);
    // Telling somebody costs a place for a while, and a handshake costs more: beyond a few they are cut off.
    if (refused.number() > refusals_max) {
        connection_.stream().reset();
        co_return;
    }
    const auto entered = co_await enter();
    if (entered == Entered::no) co_return;
    co_await refuse_unread(overloaded());
    co_await net::staged_close(connection_, lingering_time, lingering_bytes_max);
}

asio::awaitable<net::Persistence> Session::serve(core::RequestHead head) {
    began_ = std::chrono::steady_clock::now();
    const auto framing = core::request_framing(head);
    counts_ = &worker_.shared.metrics.unmatched();
    Report report;
    report.trace_id = trace_id_of(head.fields.find("traceparent").value_or(""));
    ClientSide client(connection_, head, framing.has_value() ? *framing : core::Framing(), server(),
                      worker_.shared.draining);
    const Counted running(worker_.shared.requests);
    std::exception_ptr escaped;
    try {
        if (framing.has_error()) {
            client.close_after();
            co_await refuse(client,
                            problem_of(ProblemKind::bad_request, framing.error().detail, framing.error().status));
        } else if (worker_.shared.draining) {
            co_await refuse(client, shutting_down());
        } else if (running.number() > server().limits.in_flight) {
            client.close_after();
            co_await refuse(client, overloaded());
        } else {
            co_await dispatch(client, report);
        }
    } catch (...) {
        escaped = std::current_exception();
        // Cut off by the end of a drain: just these are the ones that someone will ask about.
        if (report.attempt > 0) report.outcome = Outcome::outcome_unknown;
    }
    write_report(report, client);
    if (escaped) std::rethrow_exception(escaped);
    const auto persistence = co_await client.settle();
    unread_ = !client.gone() && (framing.has_error() || !client.body().finished());
    co_return persistence;
}

asio::awaitable<void> Session::refuse(ClientSide& client, core::Problem problem) {
    // Looked up for the sake of the answer alone: its form, and the origins that may read it (R100).
    const auto index = generation_->shared().routes().find(client.request());
    const config::Route* route = index.has_value() ? &generation_->config().routes[*index] : nullptr;
    if (route != nullptr) client.answer_with(cors_answer(*route, client.request()));
    co_await client.refuse(render(problem, route, client));
}

std::optional<core::Problem> Session::objection_to(ClientSide& client) const {
    const auto& head = client.request();
    if (const auto expect = head.fields.combined("Expect"); expect && !core::iequals(*expect, "100-continue")) {
        return problem_of(ProblemKind::bad_request, "The only expectation that is met is 100-continue.", 417);
    }
    if (head.method == "CONNECT") {
        client.close_after();
        return problem_of(ProblemKind::bad_request, "CONNECT is not offered.", 501);
    }
    if (core::loops(head.fields, worker_.shared.pseudonym)) {
        return problem_of(ProblemKind::bad_request, "The request runs in a circle: this proxy has forwarded it before.",
                          508);
    }
    return std::nullopt;
}

core::Problem Session::unrouted(ClientSide& client, core::RouteTable::Miss why) {
    if (why == core::RouteTable::Miss::none) return problem_of(ProblemKind::no_route);
    client.close_after();
    return problem_of(ProblemKind::bad_request,
                      "The path can be read in two ways: it holds an encoded separator, a backslash or a NUL.");
}

asio::awaitable<void> Session::dispatch(ClientSide& client, Report& report) {
    const auto& head = client.request();
    report.client = client.address();
    if (auto objection = objection_to(client)) co_return co_await refuse(client, std::move(*objection));
    if (ends_here(head)) {
        report.outcome = Outcome::passthrough;
        co_return co_await answer_as_recipient(client);
    }
    if (asks_for_policy_page(head)) {
        report.outcome = Outcome::passthrough;
        co_return co_await send_policy_page(client, generation_->config());
    }
    const auto& routes = generation_->shared().routes();
    const auto preflight = config::preflight_route(routes, generation_->config(), head);
    const auto index = preflight ? *preflight : routes.find(head);
    if (index.has_error()) co_return co_await refuse(client, unrouted(client, index.error()));

    const auto& route = generation_->config().routes[*index];
    counts_ = &generation_->shared().route_counts(*index);
    report.route = route.name;
    const UnderWay under_way(*counts_);
    if (preflight) {
        report.outcome = Outcome::passthrough;
        co_return co_await answer_preflight(client, route);
    }
    client.answer_with(cors_answer(route, head));
    Request request{worker_, *generation_, client, report, *index, route};
    const bool allowed = co_await authorize(request);
    if (!allowed) co_return;
    if (enforced(route, head.method)) {
        Exchange exchange(request);
        co_await exchange.run();
    } else {
        report.outcome = Outcome::passthrough;
        co_await relay(request);
    }
}

void Session::write_report(Report& report, const ClientSide& client) {
    report.method = client.request().method;
    report.path = core::split_target(client.request().target).path;
    report.status = client.status_sent();
    report.bytes_in = client.bytes_in();
    report.bytes_out = client.bytes_out();
    report.total = std::chrono::steady_clock::now() - began_;
    if (report.client.empty()) report.client = client.address();
    worker_.shared.metrics.request_done(*counts_, report.outcome, report.total);
    worker_.shared.access_log.write(report);
}

}  // namespace oncegate::proxy

#include "support/proxy/proxy_under_test.hpp"

#include <boost/asio/post.hpp>
#include <stdexcept>

#include "store/batcher.hpp"

namespace oncegate::test {

namespace asio = boost::asio;

namespace {

core::PathPattern pattern(std::string_view text) {
    std::string why;
    auto parsed = core::PathPattern::parse(text, why);
    if (!parsed) throw std::invalid_argument(why);
    return *parsed;
}

config::Config two_routes(std::uint16_t upstream) {
    config::Config config;
    config.server.listeners.emplace_back();
    config.log.file = "/dev/null";
    config.log.level = config::Log::Level::error;
    config::Upstream target;
    target.name = "target";
    config::UpstreamServer server;
    server.host = server.authority = "127.0.0.1";
    server.port = upstream;
    target.servers.push_back(server);
    config.upstreams.push_back(target);

    config::Route pay_route;
    pay_route.name = "pay";
    pay_route.match.methods = {"POST"};
    pay_route.match.path = pattern("/pay");
    pay_route.enforced_methods = {"POST"};
    pay_route.policy.emplace();
    pay_route.policy->scope = {{core::ScopePart::Kind::route, {}, false}};
    pay_route.policy->key.syntax = core::KeySyntax::any;
    config.routes.push_back(pay_route);

    config::Route rest;
    rest.name = "rest";
    config.routes.push_back(rest);
    return config;
}

config::Config adjusted(std::uint16_t upstream, const ProxyUnderTest::Adjust& adjust) {
    auto config = two_routes(upstream);
    if (adjust) adjust(config);
    return config;
}

}  // namespace

ProxyUnderTest::ProxyUnderTest(std::uint16_t upstream, const Adjust& adjust) {
    metrics_ = std::make_unique<proxy::Metrics>("test");
    auto config = adjusted(upstream, adjust);
    access_log_ = std::make_unique<proxy::AccessLog>(config.log);
    log_ = std::make_unique<proxy::ProgramLog>(config.log);
    generation_ = *proxy::Generation::make(std::move(config), *metrics_, *log_, nullptr);
    shared_.reset(new proxy::Shared{in_flight_, *metrics_, *access_log_, *log_, log_names_, "oncegate-test"});

    const auto executor = io_.get_executor();
    std::vector<std::unique_ptr<store::Backend>> backends;
    backends.push_back(store_.connect(executor));
    auto store = store::make_batched_store(executor, std::move(backends), store::BatcherLimits(), *metrics_);
    worker_ = std::make_unique<proxy::Worker>(executor, *shared_, generation_, std::move(store), proxy::Place{});
    services_ = std::make_unique<async::TaskSet>(executor, [](std::exception_ptr) {});
    listener_ = std::make_unique<net::Listener>(executor, net::BindAddress{"127.0.0.1", 0});
    port_ = listener_->port();
    services_->spawn(listener_->run(
        [this](std::unique_ptr<net::Stream> stream) { worker_->tasks.spawn(serve(std::move(stream))); }));
    services_->spawn(worker_->leases.run());
    thread_ = std::thread([this] { io_.run(); });
}

ProxyUnderTest::~ProxyUnderTest() {
    store_.let_go();
    asio::post(io_, [this] {
        listener_->close();
        services_->cancel_all();
        worker_->tasks.cancel_all();
        worker_->generation->retire(nullptr);
    });
    thread_.join();  // nothing is left to wait for once every task has ended
}

asio::awaitable<void> ProxyUnderTest::serve(std::unique_ptr<net::Stream> stream) {
    proxy::Session session(*worker_, std::move(stream), 0);
    co_await session.run();
}

test::RawSocket::Message ProxyUnderTest::ask(std::string_view request) const {
    auto client = connect();
    client.send(request);
    return client.read_message();
}

std::string pay(std::string_view key, std::string_view body) {
    std::string request = "POST /pay HTTP/1.1\r\nHost: api.test\r\nContent-Type: application/json\r\nIdempotency-Key: ";
    request.append(key).append("\r\nContent-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
    return request.append(body);
}

int status_of(std::string_view head) {
    if (!head.starts_with("HTTP/1.1 ") || head.size() < 12) throw std::invalid_argument("no response head");
    return std::stoi(std::string(head.substr(9, 3)));
}

bool has_line(std::string_view head, std::string_view line) {
    const std::string whole = "\r\n" + std::string(line) + "\r\n";
    return head.find(whole) != std::string_view::npos;
}

}  // namespace oncegate::test

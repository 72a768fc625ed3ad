// A keyed request from its key to its answer, by state of the record: the store's clock is moved by hand, the upstream
// does what the test says.

#include <catch2/catch.hpp>
#include <thread>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using core::UnknownOutcome;
using test::Gate;
using test::has_line;
using test::pay;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

ProxyUnderTest::Adjust policy(const std::function<void(core::Policy&)>& change) {
    return [change](config::Config& config) { change(*config.routes[0].policy); };
}

ProxyUnderTest::Adjust when_unknown(UnknownOutcome rule) {
    return policy([rule](core::Policy& policy) { policy.unknown_outcome = rule; });
}

/// Duplicates wait for the first request, for longer than any test takes.
ProxyUnderTest::Adjust patient() {
    return policy([](core::Policy& policy) {
        policy.in_flight.action = core::InFlightRule::Action::wait;
        policy.in_flight.wait = seconds(20);
    });
}

/// Reads one request, answers it, and keeps the connection until the proxy closes it.
void answer(RawSocket& proxy, std::string_view response) {
    proxy.read_message();
    proxy.send(response);
    proxy.wait_end();
}

constexpr std::string_view created = "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 4\r\n\r\npaid";

/// Says that a request has arrived, and answers it when it may.
ScriptedPeer::Script held_answer(Gate& arrived, Gate& go) {
    return [&](RawSocket& proxy) {
        proxy.read_message();
        arrived.open();
        go.wait();
        proxy.send(created);
        proxy.wait_end();
    };
}

void break_off(RawSocket& proxy) {
    proxy.read_message();
    proxy.reset();
}

}  // namespace

TEST_CASE("a replay equals the first answer line by line but for the marker", "[R74][R78][R79][R81]") {
    ScriptedPeer exact([](RawSocket& proxy) {
        proxy.read_message();
        proxy.send(std::string("HTTP/1.1 201 Made\r\nset-COOKIE: a=1\r\nX-Odd:  v \r\nSet-Cookie: b=2\r\nX-Empty:\r\n"
                               "Connection: X-Hop, close\r\nX-Hop: 1\r\nLink: <a>\r\nX-Latin: caf\xE9\r\nLink: <b>\r\n"
                               "Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\na") +
                   '\0' + "b\r\n0\r\nX-T: 1\r\n\r\n");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(exact.port());
    const auto first = proxy.ask(pay("k"));
    const auto second = proxy.ask(pay("k"));
    CHECK(first.body == std::string("a\0b", 3));
    CHECK(second.body == first.body);

    const auto lines_up_to_date = first.head.find("\r\nDate: ");
    REQUIRE(lines_up_to_date != std::string::npos);
    CHECK(first.head.substr(0, lines_up_to_date) ==
          "HTTP/1.1 201 Made\r\nset-COOKIE: a=1\r\nX-Odd: v\r\nSet-Cookie: b=2\r\nX-Empty: \r\nLink: <a>\r\n"
          "X-Latin: caf\xE9\r\nLink: <b>");
    auto unmarked = second.head;
    const std::string marker = "Idempotent-Replayed: true\r\n";
    REQUIRE(unmarked.find(marker) != std::string::npos);
    unmarked.erase(unmarked.find(marker), marker.size());
    CHECK(unmarked == first.head);
    CHECK(exact.connections() == 1);
}

TEST_CASE("while the first runs a second is refused, and another request is told so", "[R53][R58]") {
    Gate go;
    Gate arrived;
    ScriptedPeer upstream(held_answer(arrived, go));
    ProxyUnderTest proxy(upstream.port());
    auto first = proxy.connect();
    first.send(pay("k"));
    arrived.wait();
    const auto second = proxy.ask(pay("k"));
    CHECK(status_of(second.head) == 409);
    CHECK(has_line(second.head, "Retry-After: 1"));
    CHECK(second.body.find("#in-flight") != std::string::npos);
    const auto other = proxy.ask(pay("k", "{\"other\":1}"));
    CHECK(status_of(other.head) == 422);
    CHECK(other.body.find("#key-reused") != std::string::npos);
    go.open();
    CHECK(first.read_message().body == "paid");
    CHECK(upstream.connections() == 1);
}

TEST_CASE("a waiter gets the replay as soon as the first is answered", "[R59][R145]") {
    Gate go;
    Gate arrived;
    ScriptedPeer upstream(held_answer(arrived, go));
    ProxyUnderTest proxy(upstream.port(), patient());
    auto first = proxy.connect();
    first.send(pay("k"));
    arrived.wait();
    auto waiter = proxy.connect();
    waiter.send(pay("k"));
    go.open();
    CHECK(first.read_message().body == "paid");
    const auto replay = waiter.read_message();
    CHECK(replay.body == "paid");
    CHECK(has_line(replay.head, "Idempotent-Replayed: true"));
    CHECK(upstream.connections() == 1);
}

TEST_CASE("a waiter whose first request freed the key takes its turn", "[R59][R92]") {
    Gate go;
    Gate arrived;
    ScriptedPeer upstream({[&](RawSocket& proxy) {
                               proxy.read_message();
                               arrived.open();
                               go.wait();
                               proxy.send("HTTP/1.1 429 Slow Down\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
                               proxy.wait_end();
                           },
                           [](RawSocket& proxy) { answer(proxy, created); }});
    ProxyUnderTest proxy(upstream.port(), patient());
    auto first = proxy.connect();
    first.send(pay("k"));
    arrived.wait();
    auto waiter = proxy.connect();
    waiter.send(pay("k"));
    go.open();
    CHECK(status_of(first.read_message().head) == 429);
    const auto turn = waiter.read_message();
    CHECK(status_of(turn.head) == 201);
    CHECK_FALSE(has_line(turn.head, "Idempotent-Replayed: true"));
    CHECK(upstream.connections() == 2);
}

TEST_CASE("under hold an unknown outcome stays unknown until the key expires", "[R62][R107]") {
    ScriptedPeer upstream({break_off, [](RawSocket& proxy) { answer(proxy, created); }});
    ProxyUnderTest proxy(upstream.port());
    CHECK(status_of(proxy.ask(pay("k")).head) == 502);
    proxy.store().advance(hours(23));
    const auto held = proxy.ask(pay("k"));
    CHECK(status_of(held.head) == 409);
    CHECK(held.body.find("#outcome-unknown") != std::string::npos);
    CHECK(upstream.connections() == 1);
    proxy.store().advance(hours(2));
    CHECK(status_of(proxy.ask(pay("k")).head) == 201);
}

TEST_CASE("under retry the next request is the next attempt and says so", "[R63]") {
    std::string second_request;
    ScriptedPeer upstream({break_off, [&](RawSocket& proxy) {
                               second_request = proxy.read_message().head;
                               proxy.send(created);
                               proxy.wait_end();
                           }});
    ProxyUnderTest proxy(upstream.port(), when_unknown(UnknownOutcome::retry));
    CHECK(status_of(proxy.ask(pay("k")).head) == 502);
    CHECK(status_of(proxy.ask(pay("k")).head) == 201);
    CHECK(has_line(second_request, "Idempotency-Attempt: 2"));
    CHECK(has_line(proxy.ask(pay("k")).head, "Idempotent-Replayed: true"));
    CHECK(upstream.connections() == 2);
    CHECK(proxy.metrics().find("oncegate_takeovers_total{route=\"pay\"} 1") != std::string::npos);
}

TEST_CASE("a takeover compares by the rules of the record's day and never spins", "[R51][R63]") {
    ScriptedPeer upstream({break_off, [](RawSocket& proxy) { answer(proxy, created); }});
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) {
        config.routes[0].policy->unknown_outcome = UnknownOutcome::retry;
        // A second route with the same scope and key, whose policy compares nothing.
        config.routes[1].name = "pay";
        config.routes[1].match = config.routes[0].match;
        config.routes[1].policy = config.routes[0].policy;
        config.routes[1].policy->fingerprint.off = true;
        config.routes[1].enforced_methods = {"PUT"};
        config.routes[1].match.methods = {"PUT"};
    });
    CHECK(status_of(proxy.ask(pay("k")).head) == 502);
    auto put = pay("k", "{\"other\":1}");
    put.replace(0, 4, "PUT");
    const auto taken = proxy.ask(put);
    CHECK(status_of(taken.head) == 201);
    CHECK(proxy.store().tried("claim") < 10);
}

TEST_CASE("conditional fields of a retry do not disturb the replay", "[R137]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        answer(proxy, "HTTP/1.1 201 Created\r\nETag: \"v1\"\r\nConnection: close\r\nContent-Length: 4\r\n\r\npaid");
    });
    ProxyUnderTest proxy(upstream.port());
    CHECK(status_of(proxy.ask(pay("k")).head) == 201);
    auto retry = pay("k");
    retry.insert(retry.find("\r\n") + 2, "If-None-Match: \"v1\"\r\nIf-Match: \"other\"\r\n");
    const auto replay = proxy.ask(retry);
    CHECK(status_of(replay.head) == 201);
    CHECK(has_line(replay.head, "Idempotent-Replayed: true"));
    CHECK(upstream.connections() == 1);
}

TEST_CASE("the proxy's own errors can be told from the upstream's", "[R98]") {
    const std::string theirs = R"({"type":"https://api.test/errors#bad"})";
    ScriptedPeer upstream([&](RawSocket& proxy) {
        answer(proxy,
               "HTTP/1.1 400 Bad\r\nContent-Type: application/problem+json\r\nConnection: close\r\nContent-Length: " +
                   std::to_string(theirs.size()) + "\r\n\r\n" + theirs);
    });
    ProxyUnderTest proxy(upstream.port());
    CHECK(proxy.ask(pay("k")).body == theirs);
    const auto ours = proxy.ask(pay("k", "{\"other\":1}"));
    CHECK(ours.body.starts_with(R"({"type":"http://api.test/.well-known/idempotency#key-reused")"));
}

TEST_CASE("a freeing status of a later attempt leaves the key unknown", "[R62][R91]") {
    std::string third_request;
    ScriptedPeer upstream(
        {break_off,
         [](RawSocket& proxy) { answer(proxy, "HTTP/1.1 503 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"); },
         [&](RawSocket& proxy) {
             third_request = proxy.read_message().head;
             proxy.send(created);
             proxy.wait_end();
         }});
    ProxyUnderTest proxy(upstream.port(), when_unknown(UnknownOutcome::retry));
    CHECK(status_of(proxy.ask(pay("k")).head) == 502);
    CHECK(status_of(proxy.ask(pay("k")).head) == 503);
    CHECK(status_of(proxy.ask(pay("k", "{\"another\":1}")).head) == 422);  // not free: the first payload still holds it
    CHECK(status_of(proxy.ask(pay("k")).head) == 201);
    CHECK(has_line(third_request, "Idempotency-Attempt: 3"));
}

TEST_CASE("under fail a broken attempt is answered the same way for ever", "[R63]") {
    ScriptedPeer upstream(break_off);
    ProxyUnderTest proxy(upstream.port(), when_unknown(UnknownOutcome::fail));
    const auto first = proxy.ask(pay("k"));
    CHECK(status_of(first.head) == 502);
    const auto second = proxy.ask(pay("k"));
    CHECK(status_of(second.head) == 502);
    CHECK(has_line(second.head, "Idempotent-Replayed: true"));
    CHECK(second.body == first.body);
    CHECK(upstream.connections() == 1);
}

TEST_CASE("an upstream that cannot be reached frees the key", "[R61]") {
    test::RefusingPort nobody;
    ProxyUnderTest proxy(nobody.port());
    const auto refused = proxy.ask(pay("k"));
    CHECK(status_of(refused.head) == 502);
    CHECK(refused.body.find("#upstream-unreachable") != std::string::npos);
    CHECK(proxy.store().records() == 0);
}

TEST_CASE("a key is replayed within its lifetime and free after it", "[R104][R105][R106]") {
    ScriptedPeer upstream([](RawSocket& proxy) { answer(proxy, created); });
    ProxyUnderTest proxy(upstream.port());
    proxy.ask(pay("k"));
    proxy.store().advance(hours(23));
    CHECK(has_line(proxy.ask(pay("k")).head, "Idempotent-Replayed: true"));
    proxy.store().advance(hours(2));  // replays do not extend it
    CHECK_FALSE(has_line(proxy.ask(pay("k")).head, "Idempotent-Replayed: true"));
    CHECK(upstream.connections() == 2);
}

TEST_CASE("a key used after its lifetime is refused where the policy remembers it", "[R106][R102]") {
    ScriptedPeer upstream([](RawSocket& proxy) { answer(proxy, created); });
    ProxyUnderTest proxy(upstream.port(), policy([](core::Policy& policy) {
                             policy.after_ttl = core::AfterTtl::reject;
                             policy.tombstone = hours(24);
                         }));
    proxy.ask(pay("k"));
    proxy.store().advance(hours(25));
    const auto late = proxy.ask(pay("k"));
    CHECK(status_of(late.head) == 412);
    CHECK(late.body.find("#key-expired") != std::string::npos);
    CHECK(upstream.connections() == 1);
}

TEST_CASE("a mismatch changes nothing: the first request is still replayed", "[R41][R52]") {
    ScriptedPeer upstream([](RawSocket& proxy) { answer(proxy, created); });
    ProxyUnderTest proxy(upstream.port());
    proxy.ask(pay("k"));
    const auto other = proxy.ask(pay("k", "{\"other\":1}"));
    CHECK(status_of(other.head) == 422);
    CHECK(other.body.find("whose body differs") != std::string::npos);
    CHECK(has_line(proxy.ask(pay("k")).head, "Idempotent-Replayed: true"));
    CHECK(upstream.connections() == 1);
}

TEST_CASE("a client that is gone before the answer finds it with its retry", "[R64]") {
    Gate go;
    Gate arrived;
    ScriptedPeer upstream(held_answer(arrived, go));
    ProxyUnderTest proxy(upstream.port(), patient());
    auto gone = proxy.connect();
    gone.send(pay("k"));
    arrived.wait();
    gone.reset();
    auto retry = proxy.connect();
    retry.send(pay("k"));
    go.open();
    CHECK(has_line(retry.read_message().head, "Idempotent-Replayed: true"));
    CHECK(upstream.connections() == 1);
}

TEST_CASE("the upstream hears nothing of a keyed request before all of it is there", "[R69]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_message();
        proxy.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        proxy.close();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("POST /pay HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Length: 8\r\n\r\nhalf");
    // Another request goes all the way meanwhile, so the proxy has seen the half by then.
    CHECK(status_of(proxy.ask("GET /other HTTP/1.1\r\nHost: a\r\n\r\n").head) == 201);
    CHECK(upstream.connections() == 1);
    CHECK(proxy.store().tried("claim") == 0);
    client.send("half");
    CHECK(status_of(client.read_head()) == 201);
    CHECK(upstream.connections() == 2);
}

TEST_CASE("a request whose body ends early is not forwarded and leaves no record", "[R65]") {
    ScriptedPeer upstream([](RawSocket& proxy) { answer(proxy, created); });
    ProxyUnderTest proxy(upstream.port());
    {
        auto client = proxy.connect();
        auto request = pay("k", "{\"amount\":1}");
        request.resize(request.size() - 3);
        client.send(request);
        client.half_close();
        client.wait_end();
    }
    CHECK(proxy.store().records() == 0);
    CHECK(upstream.connections() == 0);
}

TEST_CASE("a large answer is cut off downstream where it was cut off upstream", "[R87][R147]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_message();
        proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + std::string(600'000, 'x'));
        proxy.close();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send(pay("k"));
    CHECK(client.wait_end() == RawSocket::End::reset);
    const auto second = proxy.ask(pay("k"));
    CHECK(status_of(second.head) == 409);
    CHECK(second.body.find("#outcome-unknown") != std::string::npos);
}

TEST_CASE("a large answer is replayed from its chunks, byte for byte", "[R74]") {
    std::string body;
    for (int i = 0; body.size() < 3'000'000; ++i) body.append(std::to_string(i)).push_back('\0');
    ScriptedPeer upstream([&](RawSocket& proxy) {
        answer(proxy, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                          "\r\n\r\n" + body);
    });
    ProxyUnderTest proxy(upstream.port());
    CHECK(proxy.ask(pay("k")).body == body);
    const auto replay = proxy.ask(pay("k"));
    CHECK(has_line(replay.head, "Idempotent-Replayed: true"));
    CHECK(replay.body == body);
    CHECK(proxy.store().chunks() > 1);
}

TEST_CASE("the owner of a long request keeps its lease", "[R66]") {
    Gate go;
    Gate arrived;
    ScriptedPeer upstream(held_answer(arrived, go));
    ProxyUnderTest proxy(upstream.port(), policy([](core::Policy& policy) { policy.lease = milliseconds(30); }));
    auto first = proxy.connect();
    first.send(pay("k"));
    arrived.wait();
    const auto limit = std::chrono::steady_clock::now() + seconds(20);
    while (proxy.store().tried("renew") < 3 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    CHECK(proxy.store().tried("renew") >= 3);
    go.open();
    CHECK(first.read_message().body == "paid");
}

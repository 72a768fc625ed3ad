// Requests that ask for another protocol, and the answers to them (RFC 9110 §7.8, R135).

#include "core/upgrade.hpp"

#include <catch2/catch.hpp>

#include "core/forwarding.hpp"

using namespace oncegate::core;

namespace {

RequestHead request(Fields fields) {
    RequestHead head;
    head.method = "GET";
    head.target = "/ws";
    head.fields = std::move(fields);
    return head;
}

RequestHead websocket(std::string_view protocols = "websocket", std::string_view connection = "keep-alive, Upgrade") {
    return request({{"Host", "a"},
                    {"Connection", connection},
                    {"Upgrade", protocols},
                    {"HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA"},
                    {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}});
}

Fields sent(const RequestHead& head, Upgrade upgrade) {
    return for_upstream(head, Peer{"192.0.2.7"}, "p", {std::nullopt, upgrade}).fields;
}

ResponseHead switching(std::string_view protocols, int status = 101) {
    ResponseHead head;
    head.status = status;
    head.fields = {{"Connection", "Upgrade"}, {"Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}};
    if (!protocols.empty()) head.fields.add("Upgrade", protocols);
    return head;
}

}  // namespace

TEST_CASE("an upgrade goes upstream only where the route keeps it", "[R135]") {
    const auto dropped = sent(websocket(), Upgrade::drop);
    CHECK_FALSE(dropped.contains("Upgrade"));
    CHECK_FALSE(dropped.contains("Connection"));
    const auto kept = sent(websocket(), Upgrade::keep);
    CHECK(kept.combined("Upgrade") == "websocket");
    CHECK(kept.combined("Connection") == "upgrade");
    CHECK(kept.find("Sec-WebSocket-Key") == "dGhlIHNhbXBsZSBub25jZQ==");
    CHECK_FALSE(kept.contains("HTTP2-Settings"));
}

TEST_CASE("what speaks HTTP in a tunnel is never passed on", "[R135]") {
    struct Row {
        std::string_view asked;
        std::string_view kept;  // empty: the whole upgrade is dropped
    };
    const auto row = GENERATE(values<Row>({
        {"websocket", "websocket"},
        {"WebSocket", "WebSocket"},
        {"h2c", ""},
        {"H2C", ""},
        {"h2c, websocket", "websocket"},
        {"websocket,h2c", "websocket"},
        {"IRC/6.9, RTA/x11", "IRC/6.9, RTA/x11"},
        {"HTTP/2.0", ""},
        {"TLS/1.0, HTTP/1.1", ""},
        {"h2", ""},
        {"", ""},
        {",,", ""},
        {"web socket", ""},
        {"websocket/", ""},
        {"websocket, \"h2c\"", ""},
        {"web\tsocket, x", ""},
    }));
    INFO(row.asked);
    const auto fields = sent(websocket(row.asked), Upgrade::keep);
    CHECK(fields.combined("Upgrade").value_or("") == row.kept);
    CHECK(fields.contains("Connection") == !row.kept.empty());
    CHECK(wants_upgrade(websocket(row.asked)) == !row.kept.empty());
}

TEST_CASE("several Upgrade lines are one list", "[R135]") {
    auto head = websocket("h2c");
    head.fields.add("upgrade", "a");
    head.fields.add("Upgrade", "b/1");
    CHECK(tunnel_protocols(head.fields) == "a, b/1");
}

TEST_CASE("an upgrade needs the option and HTTP/1.1", "[R135]") {
    CHECK(wants_upgrade(websocket()));
    CHECK_FALSE(wants_upgrade(websocket("websocket", "keep-alive")));
    CHECK_FALSE(wants_upgrade(request({{"Host", "a"}, {"Connection", "upgrade"}})));
    auto old = websocket();
    old.version = HttpVersion::http10;
    CHECK_FALSE(wants_upgrade(old));
    CHECK_FALSE(sent(old, Upgrade::keep).contains("Upgrade"));
    CHECK_FALSE(sent(websocket("websocket", "close"), Upgrade::keep).contains("Upgrade"));
}

TEST_CASE("a switch of protocols tells the client to which", "[R135]") {
    const auto fields = for_client(switching("websocket"), {}, Upgrade::keep).fields;
    CHECK(fields.combined("Connection") == "upgrade");
    CHECK(fields.combined("Upgrade") == "websocket");
    CHECK(fields.contains("Sec-WebSocket-Accept"));
    CHECK_FALSE(fields.contains("Date"));
    CHECK(for_client(switching("websocket", 426), {}, Upgrade::keep).fields.find("Upgrade") == "websocket");
    CHECK_FALSE(for_client(switching("websocket", 200), {}, Upgrade::keep).fields.contains("Upgrade"));
    CHECK_FALSE(for_client(switching("websocket"), {}).fields.contains("Upgrade"));
}

TEST_CASE("only a protocol that was asked for is switched to", "[R135]") {
    const auto asked = request(sent(websocket("chat/2, websocket"), Upgrade::keep));
    CHECK(switches_as_asked(asked, switching("websocket")));
    CHECK(switches_as_asked(asked, switching("WebSocket")));
    CHECK(switches_as_asked(asked, switching("chat/2")));
    CHECK_FALSE(switches_as_asked(asked, switching("chat/3")));
    CHECK_FALSE(switches_as_asked(asked, switching("h2c")));
    CHECK_FALSE(switches_as_asked(asked, switching("websocket, h2c")));
    CHECK_FALSE(switches_as_asked(asked, switching("")));
    CHECK_FALSE(switches_as_asked(asked, switching("web socket")));
    CHECK_FALSE(switches_as_asked(asked, switching("websocket", 200)));
    CHECK_FALSE(switches_as_asked(request({{"Host", "a"}}), switching("websocket")));
}

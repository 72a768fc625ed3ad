#include "config/explain.hpp"

#include "support.hpp"

using namespace config_test;
using oncegate::config::explain;
using oncegate::config::explained_request;

namespace {

std::string explained(const Config& config, const std::string& method, const std::string& url,
                      const std::vector<std::string>& headers = {}) {
    std::string why;
    const auto head = explained_request(method, url, headers, why);
    UNSCOPED_INFO(why);
    REQUIRE(head);
    return explain(config, *head);
}

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::string refusal(const std::string& method, const std::string& url, const std::vector<std::string>& headers) {
    std::string why;
    return explained_request(method, url, headers, why) ? "accepted" : why;
}

}  // namespace

TEST_CASE("explain shows the route and the policy with origins and what the request brings") {
    const auto config = loaded(with_policy("{ policy: money, key: { syntax: any }, scope: [route, header:X-Tenant?] }",
                                           "{ money: { preset: stripe-v1, ttl: 72h } }", "{ path: /v1/payments }"));
    const auto text = explained(config, "POST", "https://api.example.com/v1/payments?a=1",
                                {"Idempotency-Key: k-1", "Content-Type: application/json"});
    CAPTURE(text);
    CHECK(has_line(text, "request: POST /v1/payments?a=1"));
    CHECK(has_line(text, "route: one (number 1 of 1)"));
    CHECK(has_line(text, "  upstream  payments [http://127.0.0.1:9000]"));
    CHECK(text.find("# route one:8\n") != std::string::npos);
    CHECK(text.find("# policy money:3\n") != std::string::npos);
    CHECK(text.find("# preset stripe-v1\n") != std::string::npos);
    CHECK(text.find("# default\n") != std::string::npos);
    CHECK(has_line(text, "key: k-1"));
    CHECK(has_line(text, "  route            one"));
    CHECK(has_line(text, "  header:X-Tenant  absent"));
    CHECK(has_line(text, "  method                POST"));
    CHECK(has_line(text, "  path                  /v1/payments"));
    CHECK(has_line(text, "  query                 \"?a=1\""));
    CHECK(has_line(text, "  header:Content-Type?  application/json"));
}

TEST_CASE("explain tells what the request would be refused for") {
    const auto config = loaded(with_policy("{ scope: [route, header:Authorization] }"));
    CHECK(explained(config, "POST", "/").find("\nkey: refused (400 key-missing): ") != std::string::npos);
    CHECK(explained(config, "POST", "/", {"Idempotency-Key: bare"}).find("\nkey: refused (400 key-invalid): ") !=
          std::string::npos);
    CHECK(has_line(explained(config, "POST", "/", {"Idempotency-Key: \"a\""}),
                   "scope: refused (400 principal-missing): the request lacks header:Authorization"));
    const auto optional = loaded(with_policy("{ scope: [route], key: { required: false } }"));
    CHECK(has_line(explained(optional, "POST", "/"), "key: none; forwarded without protection"));
}

TEST_CASE("explain says what a request without a key gets before and after the date from which it is required",
          "[R4][R5]") {
    const auto config = loaded(with_policy("{ scope: [route], key: { required: 2027-01-31 } }"));
    const auto text = explained(config, "POST", "/");
    CAPTURE(text);
    CHECK(text.find("\nkey: none; forwarded without protection before 2027-01-31 (UTC), and from then on refused (400 "
                    "key-missing): ") != std::string::npos);
    CHECK(has_line(explained(config, "POST", "/", {"Idempotency-Key: \"a\""}), "key: a"));
}

TEST_CASE("explain reads keys from the query and tells the parts of a compound one", "[R8]") {
    const auto config =
        loaded(with_policy("{ scope: [route], key: { from: { all: [query:account, header:X-Id] }, syntax: bare } }"));
    CHECK(has_line(explained(config, "POST", "/?account=a%201", {"X-Id: b"}), "key: [\"a 1\", b]"));
    const auto half = explained(config, "POST", "/?account=a", {});
    CHECK(half.find("\nkey: refused (400 key-missing): ") != std::string::npos);
    CHECK(half.find("It has the query parameter account but lacks X-Id.") != std::string::npos);
}

TEST_CASE("explain says that it does not have the body in which the key may be", "[R8]") {
    const auto config =
        loaded(with_policy("{ scope: [route], key: { from: json:/id, syntax: bare, required: false } }"));
    CHECK(
        has_line(explained(config, "POST", "/"),
                 "key: not in the head; the body is looked into too; without one: none; forwarded without protection"));
}

TEST_CASE("explain says when the policy does not hold for the request", "[R1][R2]") {
    const auto config = loaded(with_policy("{ scope: [route] }"));
    CHECK(has_line(explained(config, "GET", "/"),
                   "not enforced for GET: this policy holds for POST, PATCH; the request is proxied without "
                   "protection, whatever key "
                   "it carries"));
    const auto off = loaded(with_policy("{ scope: [route], mode: off }"));
    CHECK(has_line(explained(off, "POST", "/"), "mode is off: the request is proxied without protection"));
}

TEST_CASE("explain says what of the content takes part in a fingerprint", "[R46][R47][R50]") {
    const auto fingerprint = [](const std::string& written) {
        const auto config = loaded(with_policy("{ scope: [route], fingerprint: " + written + " }"));
        return explained(config, "POST", "/", {"Content-Type: multipart/form-data; boundary=x"});
    };
    CHECK(has_line(fingerprint("{ include: [body] }"), "  body  the content's bytes"));
    CHECK(has_line(fingerprint("{ include: [body], body: json }"),
                   "  body  the content's JSON value, or its bytes when it is not JSON"));
    CHECK(has_line(fingerprint("{ include: [body], body: json, ignore: [/a, /b/c] }"),
                   "  body  the content's JSON value without [/a, /b/c], or its bytes when it is not JSON"));
    const auto form = fingerprint("{ include: [header:Content-Type, body], body: form }");
    CHECK(has_line(form, "  header:Content-Type  multipart/form-data"));
    CHECK(has_line(form,
                   "  body                 the content's form fields in their order, or its bytes when it is no form"));
    const auto members = fingerprint("{ include: [json:/a, json:/b], body: json, ignore: [/b/c] }");
    CHECK(has_line(members, "fingerprint (recipe '1 json json:/a json:/b ignore:/b/c'):"));
    CHECK(
        has_line(members, "  json:/a  the value at /a of the content, or its absence; all bytes when it is not JSON"));
    CHECK(has_line(
        members,
        "  json:/b  the value at /b of the content without [/b/c], or its absence; all bytes when it is not JSON"));
}

TEST_CASE("explain says when no route or no single route takes the request") {
    const auto config = loaded(with_policy("{ scope: [route] }", "{}", "{ host: api.example.com, path: /v1/** }"));
    CHECK(has_line(explained(config, "POST", "http://other.example.com/v1/a"), "route: none (404 no-route)"));
    CHECK(has_line(explained(config, "POST", "http://api.example.com/v1/a"), "route: one (number 1 of 1)"));
    CHECK(has_line(explained(config, "POST", "/v1/a", {"Host: api.example.com"}), "route: one (number 1 of 1)"));
    CHECK(explained(config, "POST", "http://api.example.com/v1%2Fa").find("\nroute: refused (400 bad-request)") !=
          std::string::npos);
}

TEST_CASE("explain shows how the route passes requests on and where to") {
    const auto config = loaded(
        "server: { listeners: [{ bind: 127.0.0.1:8080, proxy_protocol: true }, { bind: 127.0.0.1:8081 }] }\n"
        "upstreams:\n"
        "  payments:\n"
        "    servers: [https://a.example, unix:/run/app.sock]\n"
        "    balance: least_requests\n"
        "    health: { path: /healthz, interval: 1s }\n"
        "    ejection: { failures: 0 }\n"
        "    tls: { server_name: b.example, verify: false }\n"
        "routes:\n"
        "  - name: one\n"
        "    match: { path: /** }\n"
        "    upstream: payments\n"
        "    host: api.internal\n"
        "    headers: { request: { set: { X-From: 'a, b' }, remove: [Cookie] }, response: { remove: [Server] } }\n"
        "    upgrade: true\n"
        "    retries: 2\n");
    const auto text = explained(config, "GET", "/");
    CAPTURE(text);
    CHECK(has_line(text, "listeners: 127.0.0.1:8080 (PROXY protocol), 127.0.0.1:8081"));
    CHECK(has_line(text, "  upstream  payments [https://a.example, unix:/run/app.sock]"));
    CHECK(has_line(text, "  host              api.internal"));
    CHECK(has_line(text, "  headers.request   { set: { X-From: \"a, b\" }, remove: [Cookie] }"));
    CHECK(has_line(text, "  headers.response  { remove: [Server] }"));
    CHECK(has_line(text, "  upgrade           true"));
    CHECK(has_line(text, "  retries           2"));
    CHECK(has_line(text, "  balance   least_requests"));
    CHECK(has_line(text, "  health    { path: /healthz, interval: 1s, unhealthy_after: 3, healthy_after: 2 }"));
    CHECK(has_line(text, "  ejection  never"));
    CHECK(has_line(text, "  tls       not verified, as b.example"));
}

TEST_CASE("explain leaves open what only a connection can tell") {
    const auto config = loaded(with_policy("{ scope: [client_ip, route] }"));
    CHECK(has_line(explained(config, "POST", "/", {"Idempotency-Key: \"a\""}), "  client_ip  the client's address"));
    CHECK(has_line(explained(config, "POST", "/"), "  ejection  { failures: 3, time: 10s }"));
    CHECK(has_line(explained(config, "POST", "/"), "  headers.request   none"));
}

TEST_CASE("a fingerprint that is off has no inputs") {
    const auto config = loaded(with_policy("{ scope: [route], fingerprint: off }"));
    CHECK(has_line(explained(config, "POST", "/", {"Idempotency-Key: \"a\""}),
                   "fingerprint: off; the key alone decides"));
}

TEST_CASE("a request that the proxy would not read is not explained") {
    CHECK(refusal("POST", "ftp://example.com/", {}) == "the URL must begin with http://, https:// or /");
    CHECK(refusal("POST", "/", {"X: a\r\nY: b"}) == "a header may not hold a line break");
    CHECK(refusal("PO ST", "/", {}) != "accepted");
    CHECK(refusal("POST", "v1", {}) != "accepted");
    CHECK(refusal("POST", "/", {"no colon"}) != "accepted");
    CHECK(refusal("POST", "http://example.com", {}) == "accepted");
    CHECK(refusal("POST", "http://example.com?a=1#b", {}) == "accepted");
}

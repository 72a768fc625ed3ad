#include "proxy/final_recipient.hpp"

#include <algorithm>

namespace oncegate::proxy {

namespace {

bool may_hold_secrets(std::string_view name) {
    return core::iequals(name, "Authorization") || core::iequals(name, "Proxy-Authorization") ||
           core::iequals(name, "Cookie") || core::iequals(name, "Idempotency-Key");
}

bool is_zero(std::string_view digits) {
    return !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) { return c == '0'; });
}

std::string reflected(const core::RequestHead& head) {
    std::string out = head.method;
    out.append(" ").append(head.target);
    out.append(head.version == core::HttpVersion::http10 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
    for (const auto& [name, value] : head.fields) {
        if (!may_hold_secrets(name)) out.append(name).append(": ").append(value).append("\r\n");
    }
    return out.append("\r\n");
}

}  // namespace

bool ends_here(const core::RequestHead& head) {
    if (head.method != "OPTIONS" && head.method != "TRACE") return false;
    return is_zero(head.fields.find("Max-Forwards").value_or(""));
}

boost::asio::awaitable<void> answer_as_recipient(ClientSide& client) {
    core::ResponseHead head;
    head.status = 200;
    head.reason = "OK";
    std::string body;
    if (client.request().method == "TRACE") {
        head.fields.add("Content-Type", "message/http");
        body = reflected(client.request());
    }
    co_await client.send(std::move(head), body);
}

}  // namespace oncegate::proxy

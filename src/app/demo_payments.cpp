#include "app/demo_payments.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <utility>

#include "core/forwarding.hpp"
#include "core/head_rules.hpp"
#include "core/problem.hpp"

namespace oncegate::app {

namespace json = boost::json;

namespace {

constexpr std::size_t remembered = 10'000;
constexpr std::size_t listed = 20;
constexpr std::int64_t longest_delay_ms = 60'000;
constexpr std::string_view payments_path = "/v1/payments";

DemoReply reply(int status, std::string_view content_type, std::string body) {
    DemoReply out;
    out.head.status = status;
    out.head.reason = core::reason_phrase(status);
    out.head.fields.add("Content-Type", content_type);
    out.body = std::move(body);
    return out;
}

DemoReply reply(int status, const json::value& body) {
    return reply(status, "application/json", json::serialize(body) + "\n");
}

DemoReply refusal(int status, std::string_view message) {
    const json::object error{{"type", "demo_error"}, {"message", message}};
    return reply(status, json::object{{"error", error}});
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The value of `name` in a query or an urlencoded body, as it stands: what the demo reads needs no escapes.
std::optional<std::string_view> parameter(std::string_view pairs, std::string_view name) {
    if (pairs.starts_with('?')) pairs.remove_prefix(1);
    while (!pairs.empty()) {
        const auto pair = pairs.substr(0, pairs.find('&'));
        pairs.remove_prefix(std::min(pairs.size(), pair.size() + 1));
        const auto equals = pair.find('=');
        if (equals != std::string_view::npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
    }
    return std::nullopt;
}

struct Order {
    std::int64_t amount = 0;
    std::string currency;
};

std::optional<Order> order_from_json(std::string_view body) {
    json::error_code malformed;
    const auto parsed = json::parse({body.data(), body.size()}, malformed);
    if (malformed || !parsed.is_object()) return std::nullopt;
    const auto* amount = parsed.get_object().if_contains("amount");
    const auto* currency = parsed.get_object().if_contains("currency");
    if (amount == nullptr || !amount->is_int64()) return std::nullopt;
    if (currency == nullptr || !currency->is_string()) return std::nullopt;
    return Order{amount->get_int64(), std::string(currency->get_string())};
}

std::optional<Order> order_from_form(std::string_view body) {
    const auto amount = parameter(body, "amount");
    const auto currency = parameter(body, "currency");
    if (!amount || !currency) return std::nullopt;
    const auto number = whole_number(*amount);
    if (!number) return std::nullopt;
    return Order{*number, std::string(*currency)};
}

std::optional<Order> order_from(const core::RequestHead& head, std::string_view body) {
    const auto type = core::to_lower(head.fields.find("Content-Type").value_or(""));
    return type.starts_with("application/json") ? order_from_json(body) : order_from_form(body);
}

}  // namespace

DemoReply DemoPayments::answer(const core::RequestHead& head, std::string_view body, std::int64_t unix_seconds) {
    const auto [path, query] = core::split_target(head.target);
    DemoReply out;
    if (head.method == "GET" || head.method == "HEAD")
        out = get(path);
    else if (head.method == "POST")
        out = post(head, path, query, body);
    else
        out = refusal(404, "no such operation");
    out.head.fields.add("Date", core::http_date(unix_seconds));
    return out;
}

DemoReply DemoPayments::get(std::string_view path) const {
    if (path == "/healthz") return reply(200, json::object{{"status", "ok"}});
    if (path == "/count") return counts();
    if (path == payments_path) return list_payments();
    if (path.starts_with(payments_path) && path.substr(payments_path.size()).starts_with('/'))
        return show_payment(path.substr(payments_path.size() + 1));
    return refusal(404, "no such resource");
}

DemoReply DemoPayments::post(const core::RequestHead& head, std::string_view path, std::string_view query,
                             std::string_view body) {
    if (path == payments_path) return create_payment(head, body);
    if (path == "/v1/slow") {
        const auto ms = whole_number(parameter(query, "ms").value_or("1000")).value_or(1000);
        auto out = reply(200, json::object{{"execution", execute(head)}, {"waited_ms", ms}});
        out.delay = std::chrono::milliseconds(std::clamp<std::int64_t>(ms, 0, longest_delay_ms));
        return out;
    }
    if (path == "/v1/fail") {
        const auto status = whole_number(parameter(query, "status").value_or("500")).value_or(0);
        if (status < 400 || status > 599) return refusal(400, "status must be from 400 to 599");
        return refusal(static_cast<int>(status), "failed as asked, in execution " + std::to_string(execute(head)));
    }
    if (path == "/v1/echo") {
        execute(head);
        return reply(200, "application/octet-stream", std::string(body));
    }
    return refusal(404, "no such operation");
}

DemoReply DemoPayments::create_payment(const core::RequestHead& head, std::string_view body) {
    auto order = order_from(head, body);
    if (!order || order->amount <= 0) return refusal(400, "a payment needs an amount above 0 and a currency");

    const auto execution = execute(head);
    Payment payment{"pay_" + std::to_string(++created_), order->amount, std::move(order->currency), execution};
    auto out = reply(201, json::object{{"id", payment.id},
                                       {"amount", payment.amount},
                                       {"currency", payment.currency},
                                       {"execution", payment.execution}});
    out.head.fields.add("Location", std::string(payments_path) + "/" + payment.id);
    // Two lines of one name: a replay must keep them apart.
    out.head.fields.add("Set-Cookie", "last_payment=" + payment.id + "; Path=/; HttpOnly");
    out.head.fields.add("Set-Cookie", "execution=" + std::to_string(execution) + "; Path=/");
    payments_.push_back(std::move(payment));
    if (payments_.size() > remembered) payments_.pop_front();
    return out;
}

DemoReply DemoPayments::list_payments() const {
    json::array latest;
    for (auto payment = payments_.rbegin(); payment != payments_.rend() && latest.size() < listed; ++payment)
        latest.push_back(
            json::object{{"id", payment->id}, {"amount", payment->amount}, {"currency", payment->currency}});
    return reply(200, json::object{{"count", created_}, {"latest", std::move(latest)}});
}

DemoReply DemoPayments::show_payment(std::string_view id) const {
    const auto found = std::ranges::find(payments_, id, &Payment::id);
    if (found == payments_.end()) return refusal(404, "no such payment");
    return reply(200, json::object{{"id", found->id},
                                   {"amount", found->amount},
                                   {"currency", found->currency},
                                   {"execution", found->execution}});
}

DemoReply DemoPayments::counts() const {
    json::object by_key;
    for (const auto& [key, count] : executions_by_key_) by_key[key] = count;
    return reply(200, json::object{{"executions", executions_}, {"by_key", std::move(by_key)}});
}

std::uint64_t DemoPayments::execute(const core::RequestHead& head) {
    if (const auto key = head.fields.find("Idempotency-Key")) {
        const auto [entry, is_new] = executions_by_key_.try_emplace(std::string(*key), 0);
        ++entry->second;
        if (is_new) keys_in_order_.emplace_back(*key);
        if (keys_in_order_.size() > remembered) {
            executions_by_key_.erase(keys_in_order_.front());
            keys_in_order_.pop_front();
        }
    }
    return ++executions_;
}

}  // namespace oncegate::app

#include "proxy/policy_page.hpp"

#include <algorithm>

#include "core/field_list.hpp"
#include "core/head_rules.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

namespace {

constexpr std::string_view page_path = "/.well-known/idempotency";

/// The page has styles of its own and nothing else; nothing that were smuggled into it could run or load.
constexpr std::string_view content_rules =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// How much a list of media ranges wants one type: weights in thousandths, and how closely it was named.
struct Wish {
    int weight = 0;
    int closeness = 0;  ///< 0: not at all, 1: */*, 2: type/*, 3: by name

    /// Of several ranges that match, the closest counts.
    void consider(int new_closeness, int new_weight) {
        if (new_closeness < closeness) return;
        weight = new_closeness == closeness ? std::max(weight, new_weight) : new_weight;
        closeness = new_closeness;
    }
    bool beats(const Wish& other) const {
        if (weight != other.weight) return weight > other.weight;
        return weight > 0 && closeness > other.closeness;
    }
};

/// `0`, `0.5`, `1.000`; what is malformed counts as 1, so that a client with a slip gets what it names.
int thousandths(std::string_view text) {
    if (text.empty() || (text.front() != '0' && text.front() != '1')) return 1000;
    int value = text.front() == '1' ? 1000 : 0;
    if (text.size() > 1 && text[1] != '.') return 1000;
    int digit = 100;
    for (std::size_t i = 2; i < text.size() && digit > 0; ++i, digit /= 10) {
        if (!core::is_digit(text[i])) return 1000;
        value += (text[i] - '0') * digit;
    }
    return std::min(value, 1000);
}

int weight_of(std::string_view parameters) {
    while (!parameters.empty()) {
        const auto end = std::min(parameters.find(';'), parameters.size());
        const auto one = core::trim_ows(parameters.substr(0, end));
        if (one.size() > 2 && core::lower(one[0]) == 'q' && one[1] == '=') return thousandths(one.substr(2));
        parameters.remove_prefix(std::min(end + 1, parameters.size()));
    }
    return 1000;
}

}  // namespace

bool prefers_json(std::string_view accept) {
    Wish json;
    Wish html;
    core::for_each_element(accept, [&](std::string_view element) {
        const auto end = std::min(element.find(';'), element.size());
        const auto range = core::to_lower(core::trim_ows(element.substr(0, end)));
        const int weight = weight_of(element.substr(end));
        const bool suffixed = range.starts_with("application/") && range.ends_with("+json");
        if (range == "application/json" || suffixed) json.consider(3, weight);
        if (range == "text/html" || range == "application/xhtml+xml") html.consider(3, weight);
        if (range == "application/*") json.consider(2, weight);
        if (range == "text/*") html.consider(2, weight);
        if (range != "*/*") return;
        json.consider(1, weight);
        html.consider(1, weight);
    });
    return json.beats(html);
}

bool asks_for_policy_page(const core::RequestHead& head) {
    return (head.method == "GET" || head.method == "HEAD") && core::split_target(head.target).path == page_path;
}

boost::asio::awaitable<void> send_policy_page(ClientSide& client, const config::Config& config) {
    const bool as_json = prefers_json(client.request().fields.combined("Accept").value_or(std::string()));
    core::ResponseHead head;
    head.status = 200;
    head.reason = "OK";
    head.fields.add("Content-Type", as_json ? "application/json" : "text/html; charset=utf-8");
    head.fields.add("Cache-Control", "max-age=60");
    head.fields.add("Vary", "Accept");
    head.fields.add("X-Content-Type-Options", "nosniff");
    if (!as_json) head.fields.add("Content-Security-Policy", content_rules);
    const auto body = as_json ? policy_page_json(config, built_in_policy_page(client)) : policy_page_html(config);
    co_await client.send(std::move(head), body);
}

}  // namespace oncegate::proxy

#include "store/postgres/pg_target.hpp"

#include <libpq-fe.h>

#include <boost/asio/ip/address.hpp>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace oncegate::store {
namespace {

struct FreeOptions {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> parts;
    while (true) {
        const auto comma = list.find(',');
        parts.emplace_back(list.substr(0, comma));
        if (comma == std::string_view::npos) return parts;
        list.remove_prefix(comma + 1);
    }
}

/// What entry `index` of `count` gets from a list that may be empty or hold one value for all.
std::string entry(const std::vector<std::string>& list, std::size_t index, std::size_t count, const char* name) {
    if (list.size() == 1) return list.front();
    if (list.size() != count)
        throw std::invalid_argument(std::string("the store's URL lists another number of ") + name + " than of hosts");
    return list[index];
}

bool is_resolvable_name(const std::string& host) {
    if (host.empty() || host.front() == '/' || host.front() == '@') return false;
    boost::system::error_code error;
    boost::asio::ip::make_address(host, error);
    return error.failed();
}

std::string taken(PgKeywords& keywords, std::string_view name) {
    for (auto pair = keywords.begin(); pair != keywords.end(); ++pair) {
        if (pair->first != name) continue;
        auto value = pair->second;
        keywords.erase(pair);
        return value;
    }
    return {};
}

}  // namespace

PgKeywords pg_keywords(const std::string& url) {
    char* complaint = nullptr;
    const std::unique_ptr<PQconninfoOption, FreeOptions> options(PQconninfoParse(url.c_str(), &complaint));
    if (!options) {
        const std::string text = complaint == nullptr ? "out of memory" : complaint;
        PQfreemem(complaint);
        throw std::invalid_argument("the store's URL: " + text);
    }
    PgKeywords keywords;
    for (const auto* option = options.get(); option->keyword != nullptr; ++option)
        if (option->val != nullptr) keywords.emplace_back(option->keyword, option->val);
    keywords.emplace_back("fallback_application_name", "oncegate");
    keywords.emplace_back("client_encoding", "UTF8");
    return keywords;
}

std::vector<PgServer> pg_servers(const std::string& url) {
    auto common = pg_keywords(url);
    const auto hosts = split(taken(common, "host"));
    const auto addresses = split(taken(common, "hostaddr"));
    const auto ports = split(taken(common, "port"));
    const auto count = std::max(hosts.size(), addresses.size());
    std::vector<PgServer> servers;
    for (std::size_t index = 0; index < count; ++index) {
        PgServer server;
        server.keywords = common;
        const auto host = entry(hosts, index, count, "hosts");
        const auto address = entry(addresses, index, count, "host addresses");
        server.port = entry(ports, index, count, "ports");
        if (!host.empty()) server.keywords.emplace_back("host", host);
        if (!address.empty()) server.keywords.emplace_back("hostaddr", address);
        if (!server.port.empty()) server.keywords.emplace_back("port", server.port);
        if (address.empty() && is_resolvable_name(host)) server.resolve = host;
        servers.push_back(std::move(server));
    }
    return servers;
}

}  // namespace oncegate::store

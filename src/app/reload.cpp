#include "app/reload.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <tuple>

namespace oncegate::app {

namespace {

bool same_listeners(const config::Config& a, const config::Config& b) {
    const auto& one = a.server.listeners;
    const auto& other = b.server.listeners;
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const config::Listener& x, const config::Listener& y) { return x.bind == y.bind; });
}

bool same(const config::Store& a, const config::Store& b) {
    const auto of = [](const config::Store& store) {
        return std::tie(store.url, store.schema, store.connections, store.timeout, store.required, store.migrate);
    };
    return of(a) == of(b);
}

bool same(const config::Log& a, const config::Log& b) {
    const auto of = [](const config::Log& log) {
        return std::tie(log.level, log.format, log.keys, log.hash_key, log.file);
    };
    return of(a) == of(b);
}

}  // namespace

std::string needs_restart(const config::Config& running, const config::Config& next) {
    std::string names;
    const auto check = [&names](bool same_as_before, std::string_view name) {
        if (same_as_before) return;
        if (!names.empty()) names.append(", ");
        names.append(name);
    };
    check(same_listeners(running, next), "server.listeners (a bind)");
    check(running.server.threads == next.server.threads, "server.threads");
    check(running.admin.bind == next.admin.bind, "admin.bind");
    check(same(running.store, next.store), "store");
    check(same(running.log, next.log), "log");
    return names;
}

FileWatch::FileWatch(const config::Config& config) {
    const auto add = [this](const std::string& path) {
        if (!path.empty()) files_.emplace(path, stamp_of(path));
    };
    for (const auto& listener : config.server.listeners) {
        if (!listener.tls) continue;
        for (const auto& [certificate, key] : listener.tls->certificates) {
            add(certificate);
            add(key);
        }
        add(listener.tls->client_ca);
    }
    for (const auto& upstream : config.upstreams) {
        for (const auto* path : {&upstream.tls.ca, &upstream.tls.certificate, &upstream.tls.private_key}) add(*path);
    }
    for (const auto& route : config.routes) {
        if (!route.jwt) continue;
        for (const auto& path : route.jwt->keys) add(path);
    }
}

FileWatch::Stamp FileWatch::stamp_of(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return {};
    constexpr std::int64_t second_ns = 1'000'000'000;
    return {status.st_mtim.tv_sec * second_ns + status.st_mtim.tv_nsec, status.st_ino, status.st_size};
}

bool FileWatch::changed() {
    bool any = false;
    for (auto& [path, stamp] : files_) {
        const auto now = stamp_of(path);
        any = any || now != stamp;
        stamp = now;
    }
    return any;
}

}  // namespace oncegate::app

// `store`: which database, and how it is spoken to. Connection strings are read in full by the backend that uses them.

#include "config/load_parts.hpp"
#include "config/readers.hpp"
#include "core/ascii.hpp"

namespace oncegate::config {

namespace {

bool is_store_url(std::string_view url) {
    constexpr std::string_view sqlite = "sqlite:";
    if (url.starts_with(sqlite)) {
        const auto path = url.substr(sqlite.size());
        const bool host = path.starts_with("//") && !path.starts_with("///");
        return !path.empty() && !host && !path.starts_with(":memory:");  // which would forget every key at a restart
    }
    return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

std::optional<std::string> store_url(const Node& node, Problems& problems) {
    auto written = name(node, problems);
    if (!written || is_store_url(*written)) return written;
    problems.add(node, "must be sqlite:PATH or postgresql://USER@HOST/DATABASE");
    return std::nullopt;
}

/// A lower-case SQL identifier: it needs no quoting and is the same with it.
std::optional<std::string> schema_name(const Node& node, Problems& problems) {
    auto written = name(node, problems);
    if (!written) return std::nullopt;
    const bool valid = written->size() <= 63 && !core::is_digit(written->front()) &&
                       std::all_of(written->begin(), written->end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || core::is_digit(c) || c == '_'; });
    if (valid) return written;
    problems.add(node, "must be a lower-case SQL name of letters, digits and '_', at most 63 long");
    return std::nullopt;
}

void load_url(Section& section, Store& store, Problems& problems) {
    const Node* url = section.take("url");
    const Node* url_file = section.take_or_blank("url_file");
    if (url != nullptr) store.url = store_url(*url, problems).value_or(store.url);
    if (url_file == nullptr) return;
    if (url != nullptr) problems.add(*url_file, "store.url is written too; only one of the two may be");
    const auto secret = read_secret(*url_file, problems);
    if (!secret) return;
    store.url = *secret;
    // The content is a secret: the message names the file only.
    if (!is_store_url(*secret))
        problems.add(*url_file, "must hold sqlite:PATH or postgresql://USER:PASSWORD@HOST/DATABASE");
}

}  // namespace

void load_store(const Node& node, Store& store, Problems& problems) {
    static const Choice<bool> migrations{{{"auto", true}, {"never", false}}};
    Section section(node, problems);
    load_url(section, store, problems);
    section.read("schema", store.schema, schema_name);
    section.read("connections", store.connections, Integer{0, 1000});
    section.read("timeout", store.timeout, Duration{milliseconds(10), std::chrono::hours(1)});
    section.read("required", store.required, flag);
    section.read("migrate", store.migrate, migrations);
    if (const Node* keys = section.take_or_blank("encryption_key_file")) {
        if (name(*keys, problems)) problems.add_unsupported(*keys);
    }
    section.finish();
}

}  // namespace oncegate::config

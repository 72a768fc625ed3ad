// Every file of tests/data/config: a configuration, a line of dashes, and the errors it has, in order; none when it is
// right. Adding a case is adding a file. The environment holds PORT=8080 and an empty EMPTY.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "config/load.hpp"

namespace {

struct GoldenFile {
    std::string yaml;
    std::string expected;
};

GoldenFile read_golden(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::string dashes = "\n" + std::string(40, '-') + "\n";
    const auto at = whole.find(dashes);
    REQUIRE(at != std::string::npos);
    return {whole.substr(0, at + 1), whole.substr(at + dashes.size())};
}

std::optional<std::string> test_environment(const std::string& name) {
    static const std::map<std::string, std::string> variables{{"PORT", "8080"}, {"EMPTY", ""}};
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
}

std::set<std::filesystem::path> golden_files() {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(ONCEGATE_TEST_DATA "/config")) {
        if (entry.path().extension() == ".test") files.insert(entry.path());
    }
    return files;
}

}  // namespace

TEST_CASE("each golden configuration has exactly the errors written below it") {
    const auto files = golden_files();
    REQUIRE(files.size() >= 20);
    for (const auto& path : files) {
        DYNAMIC_SECTION(path.stem().string()) {
            const auto golden = read_golden(path);
            const auto loaded = oncegate::config::load_text(golden.yaml, "config.yaml", test_environment);
            std::string errors;
            for (const auto& error : loaded.errors) errors += error.text() + "\n";
            CHECK(errors == golden.expected);
            CHECK(loaded.config.has_value() == golden.expected.empty());
        }
    }
}

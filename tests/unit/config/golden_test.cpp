// Every file of tests/data/config: a configuration, a line of dashes, and the errors it has, in order; none when it is
// right. Adding a case is adding a file. The environment holds PORT=8080, an empty EMPTY, and FILES, the directory of
// files that configurations may name; in the errors it is written ${FILES} again.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "config/load.hpp"

namespace {

const std::string named_files = ONCEGATE_TEST_DATA "/config/files";

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
    static const std::map<std::string, std::string> variables{{"PORT", "8080"}, {"EMPTY", ""}, {"FILES", named_files}};
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
}

std::string without_directory(std::string text) {
    for (auto at = text.find(named_files); at != std::string::npos; at = text.find(named_files)) {
        text.replace(at, named_files.size(), "${FILES}");
    }
    return text;
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
    const auto cases = golden_files();
    REQUIRE(cases.size() >= 20);
    for (const auto& path : cases) {
        DYNAMIC_SECTION(path.stem().string()) {
            const auto golden = read_golden(path);
            const auto loaded = oncegate::config::load_text(golden.yaml, "config.yaml", test_environment);
            std::string errors;
            for (const auto& error : loaded.errors) errors += without_directory(error.text()) + "\n";
            CHECK(errors == golden.expected);
            CHECK(loaded.config.has_value() == golden.expected.empty());
        }
    }
}

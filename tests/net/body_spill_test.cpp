#include "net/body_spill.hpp"

#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>

using namespace oncegate;
using net::BodySpill;

namespace {

/// A folder of its own as $TMPDIR.
class TemporaryFolder {
 public:
    TemporaryFolder() : path_("/tmp/oncegate-test-XXXXXX") {
        if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp");
        const char* before = std::getenv("TMPDIR");
        if (before != nullptr) before_ = before;
        ::setenv("TMPDIR", path_.c_str(), 1);
    }
    ~TemporaryFolder() {
        if (before_.empty()) {
            ::unsetenv("TMPDIR");
        } else {
            ::setenv("TMPDIR", before_.c_str(), 1);
        }
        ::rmdir(path_.c_str());
    }
    std::size_t files() const {
        std::size_t count = 0;
        DIR* folder = ::opendir(path_.c_str());
        while (const dirent* entry = ::readdir(folder)) count += entry->d_name[0] != '.' ? 1U : 0U;
        ::closedir(folder);
        return count;
    }

 private:
    std::string path_;
    std::string before_;
};

std::string whole(const BodySpill& body) {
    std::string all;
    std::string piece;
    do {
        REQUIRE_FALSE(body.read(all.size(), piece));
        all += piece;
    } while (!piece.empty());
    return all;
}

}  // namespace

TEST_CASE("a body within the limit stays in memory, one byte more goes to a file") {
    BodySpill body(10);
    CHECK_FALSE(body.append("hello"));
    CHECK_FALSE(body.append("world"));
    CHECK(body.in_memory());
    CHECK(body.memory() == "helloworld");
    CHECK(body.size() == 10);
    CHECK(whole(body) == "helloworld");

    CHECK_FALSE(body.append("!"));
    CHECK_FALSE(body.in_memory());
    CHECK(body.size() == 11);
    CHECK(body.memory().empty());
    CHECK(whole(body) == "helloworld!");
}

TEST_CASE("a large binary body comes back byte for byte") {
    std::string content(3U << 20, '\0');
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 / 3);
    const std::size_t memory = GENERATE(std::size_t{0}, std::size_t{1} << 20, std::size_t{64} << 20);
    BodySpill body(memory);
    for (std::size_t at = 0; at < content.size(); at += 10007)
        REQUIRE_FALSE(body.append(std::string_view(content).substr(at, 10007)));
    CHECK(body.in_memory() == (memory > content.size()));
    CHECK((whole(body) == content));
    std::string piece;
    CHECK_FALSE(body.read(content.size() - 5, piece));
    CHECK(piece == content.substr(content.size() - 5));
    CHECK_FALSE(body.read(content.size() + 5, piece));
    CHECK(piece.empty());
}

TEST_CASE("a spilled body has no name in the file system") {
    const TemporaryFolder folder;
    BodySpill body(0);
    REQUIRE_FALSE(body.append("secret"));
    CHECK_FALSE(body.in_memory());
    CHECK(folder.files() == 0);
    CHECK(whole(body) == "secret");
}

TEST_CASE("a moved body takes its file along") {
    BodySpill body(0);
    REQUIRE_FALSE(body.append("hello"));
    const BodySpill moved(std::move(body));
    CHECK(whole(moved) == "hello");
    CHECK(moved.size() == 5);
}

TEST_CASE("a disk that refuses is an error and leaves what was there") {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    BodySpill body(0);
    REQUIRE_FALSE(body.append(std::string(1000, 'x')));
    rlimit small = before;
    small.rlim_cur = 4096;
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto error = body.append(std::string(8192, 'y'));
    ::setrlimit(RLIMIT_FSIZE, &before);
    CHECK(error);
    CHECK(body.size() == 1000);
    CHECK_FALSE(body.append("z"));
    CHECK(whole(body) == std::string(1000, 'x') + "z");
}

TEST_CASE("a missing temporary folder is an error, not a loss") {
    const char* before = std::getenv("TMPDIR");
    const std::string kept = before != nullptr ? before : "";
    ::setenv("TMPDIR", "/nonexistent/folder", 1);
    BodySpill body(4);
    CHECK_FALSE(body.append("abcd"));
    CHECK(body.append("e"));
    if (kept.empty()) {
        ::unsetenv("TMPDIR");
    } else {
        ::setenv("TMPDIR", kept.c_str(), 1);
    }
    CHECK(body.size() == 4);
    CHECK(body.memory() == "abcd");
}

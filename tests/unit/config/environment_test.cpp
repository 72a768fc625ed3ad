#include <catch2/catch.hpp>

#include "config/environment.hpp"
#include "config/flow_shield.hpp"

using namespace oncegate::config;

namespace {

std::optional<std::string> variables(const std::string& name) {
    if (name == "HOST") return "db.internal";
    if (name == "EMPTY") return "";
    if (name == "NESTED") return "${HOST}";
    return std::nullopt;
}

std::optional<std::string> replaced(const char* text) {
    std::string why;
    return substitute(text, variables, why);
}

std::string fault(const char* text) {
    std::string why;
    return substitute(text, variables, why) ? "accepted" : why;
}

}  // namespace

TEST_CASE("variables are replaced once anywhere in a value") {
    CHECK(replaced("postgresql://u@${HOST}/db") == "postgresql://u@db.internal/db");
    CHECK(replaced("${HOST}${HOST}") == "db.internaldb.internal");
    CHECK(replaced("${NESTED}") == "${HOST}");
    CHECK(replaced("${EMPTY}") == "");
    CHECK(replaced("") == "");
}

TEST_CASE("a default stands for a variable that is not set or empty") {
    CHECK(replaced("${NONE:-5432}") == "5432");
    CHECK(replaced("${NONE:-}") == "");
    CHECK(replaced("${EMPTY:-x}") == "x");
    CHECK(replaced("${HOST:-x}") == "db.internal");
    CHECK(replaced("${NONE:-a:-b}") == "a:-b");
}

TEST_CASE("dollar signs that begin no reference stay as they are") {
    CHECK(replaced("^[a-z]+$") == "^[a-z]+$");
    CHECK(replaced("$HOST $5 $$") == "$HOST $5 $$");
    CHECK(replaced("$${HOST}") == "${HOST}");
    CHECK(replaced("{HOST}") == "{HOST}");
}

TEST_CASE("a variable that is not set and a malformed reference are faults that say so") {
    CHECK(fault("${NONE}") == "the environment variable NONE is not set; set it, or write ${NONE:-default}");
    CHECK(fault("${HOST") == "'${' without a '}' after it; write $${ for the two characters");
    CHECK(fault("${}") == "'${}' is not ${NAME} or ${NAME:-default}");
    CHECK(fault("${A-B}") == "'${A-B}' is not ${NAME} or ${NAME:-default}");
    CHECK(fault("${1A}") == "'${1A}' is not ${NAME} or ${NAME:-default}");
}

TEST_CASE("the process environment is what the process was started with") {
    CHECK(process_environment()("PATH"));
    CHECK_FALSE(process_environment()("ONCEGATE_TEST_NO_SUCH_VARIABLE"));
}

TEST_CASE("shielding keeps every column and comes back as the same text and leaves indicators alone") {
    for (const std::string yaml : {"a: [route, header:A?, b?]", "a: [http://${HOST}:9000]",
                                   "{ get: /by-key/{key}, done: 200 }", "a: http://h/?x=1", "a: \"what?\""}) {
        auto shielded = shield(yaml);
        CHECK(shielded.size() == yaml.size());
        CHECK(shielded != yaml);
        unshield(shielded);
        CHECK(shielded == yaml);
    }
    for (const std::string yaml : {"? key\n: value", "[? a]", "{? a: b}", "{a: {b: c}}", "a: {b: c}", "[a, ? b]",
                                   "${open", "${a b}", "${a, b}", "/{a: b}"}) {
        CAPTURE(yaml);
        CHECK(shield(yaml) == yaml);
    }
}

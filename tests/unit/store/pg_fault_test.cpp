// What SQLSTATEs mean for operations (PostgreSQL manual, appendix A).
#include "store/postgres/pg_fault.hpp"

#include <catch2/catch.hpp>

namespace oncegate::store {
namespace {

struct Case {
    const char* sqlstate;
    PgRemedy remedy;
    StoreFault::Kind kind;
};

TEST_CASE("every class of error has its remedy and its fault") {
    const Case cases[] = {
        {"40001", PgRemedy::retry, StoreFault::Kind::unreachable},
        {"40P01", PgRemedy::retry, StoreFault::Kind::unreachable},
        {"26000", PgRemedy::retry, StoreFault::Kind::unreachable},
        {"42P05", PgRemedy::retry, StoreFault::Kind::unreachable},
        {"57P01", PgRemedy::reconnect, StoreFault::Kind::unreachable},
        {"57P03", PgRemedy::reconnect, StoreFault::Kind::unreachable},
        {"25006", PgRemedy::reconnect, StoreFault::Kind::unreachable},
        {"08006", PgRemedy::reconnect, StoreFault::Kind::unreachable},
        {"22021", PgRemedy::run_singly, StoreFault::Kind::refused},
        {"23514", PgRemedy::run_singly, StoreFault::Kind::refused},
        {"54000", PgRemedy::run_singly, StoreFault::Kind::refused},
        {"57014", PgRemedy::give_up, StoreFault::Kind::timeout},
        {"55P03", PgRemedy::give_up, StoreFault::Kind::timeout},
        {"42P01", PgRemedy::give_up, StoreFault::Kind::unreachable},
        {"42501", PgRemedy::give_up, StoreFault::Kind::unreachable},
        {"53100", PgRemedy::give_up, StoreFault::Kind::unreachable},
        {"XX000", PgRemedy::give_up, StoreFault::Kind::unreachable},
        {"", PgRemedy::give_up, StoreFault::Kind::unreachable},
    };
    for (const auto& [sqlstate, remedy, kind] : cases) {
        CAPTURE(sqlstate);
        CHECK(remedy_of(sqlstate) == remedy);
        const auto fault = fault_of(PgError{sqlstate, "message"});
        CHECK(fault.kind == kind);
        CHECK(fault.certainty == StoreFault::Certainty::not_applied);
        CHECK(fault.detail.find("message") == 0);
    }
}

TEST_CASE("a missing table says which command makes it") {
    CHECK(fault_of(PgError{"42P01", "no table"}).detail.find("oncegate migrate") != std::string::npos);
    CHECK(fault_of(PgError{"42501", "no right"}).detail.find("oncegate migrate") == std::string::npos);
}

}  // namespace
}  // namespace oncegate::store

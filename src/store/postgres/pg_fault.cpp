#include "store/postgres/pg_fault.hpp"

#include <algorithm>
#include <array>

namespace oncegate::store {
namespace {

template <std::size_t size>
bool is_one_of(std::string_view sqlstate, const std::array<std::string_view, size>& states) {
    return std::find(states.begin(), states.end(), sqlstate) != states.end();
}

// Classes and codes: PostgreSQL manual, appendix A.
constexpr std::array<std::string_view, 2> conflicts = {"40001", "40P01"};
constexpr std::array<std::string_view, 2> prepared_elsewhere = {"26000", "42P05"};
constexpr std::array<std::string_view, 6> server_leaves = {"57P01", "57P02", "57P03", "57P04", "57P05", "25006"};
constexpr std::array<std::string_view, 3> out_of_time = {"57014", "55P03", "25P03"};

/// Data that cannot be stored: 21 and 22 data, 23 constraints, 54 limits.
bool concerns_one_operation(std::string_view sqlstate) {
    const auto category = sqlstate.substr(0, 2);
    return category == "21" || category == "22" || category == "23" || category == "54" || category == "44";
}

}  // namespace

PgRemedy remedy_of(std::string_view sqlstate) {
    if (is_one_of(sqlstate, conflicts) || is_one_of(sqlstate, prepared_elsewhere)) return PgRemedy::retry;
    if (is_one_of(sqlstate, server_leaves) || sqlstate.starts_with("08")) return PgRemedy::reconnect;
    if (concerns_one_operation(sqlstate)) return PgRemedy::run_singly;
    return PgRemedy::give_up;
}

StoreFault fault_of(const PgError& error) {
    StoreFault fault;
    fault.certainty = StoreFault::Certainty::not_applied;
    fault.detail = error.message;
    if (!error.sqlstate.empty()) fault.detail += " (SQLSTATE " + error.sqlstate + ")";
    if (error.sqlstate == "42P01" || error.sqlstate == "3F000") fault.detail += "; has `oncegate migrate` been run?";
    if (is_one_of(error.sqlstate, out_of_time)) {
        fault.kind = StoreFault::Kind::timeout;
    } else if (concerns_one_operation(error.sqlstate)) {
        fault.kind = StoreFault::Kind::refused;
    } else {
        fault.kind = StoreFault::Kind::unreachable;
    }
    return fault;
}

}  // namespace oncegate::store

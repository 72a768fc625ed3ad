# Turns the migrations beside this file into a source of oncegate_store, so that the program carries its schema.
# A file is NNN_name.DIALECT.sql; NNN counts from 001 without gaps within a dialect.

file(GLOB migration_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.sql)
list(SORT migration_files)

foreach(dialect postgres sqlite)
  set(entries_${dialect} "")
  set(expected_${dialect} 1)
endforeach()

foreach(file ${migration_files})
  get_filename_component(base ${file} NAME)
  if(NOT base MATCHES "^0*([1-9][0-9]*)_([a-z0-9_]+)\\.(postgres|sqlite)\\.sql$")
    message(FATAL_ERROR "${base}: a migration is called NNN_name.postgres.sql or NNN_name.sqlite.sql")
  endif()
  set(version ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  set(dialect ${CMAKE_MATCH_3})
  if(NOT version EQUAL expected_${dialect})
    message(FATAL_ERROR "${base}: the next ${dialect} migration is number ${expected_${dialect}}")
  endif()
  math(EXPR expected_${dialect} "${version} + 1")
  file(READ ${file} sql)
  string(APPEND entries_${dialect} "    {${version}, \"${name}\", R\"sql(${sql})sql\"},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endforeach()

file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/store_migrations.cpp @ONLY CONTENT [[
#include "store/migrations.hpp"

namespace oncegate::store {
namespace {

constexpr Migration postgres[] = {
@entries_postgres@};

constexpr Migration sqlite[] = {
@entries_sqlite@};

}  // namespace

std::span<const Migration> postgres_migrations() { return postgres; }
std::span<const Migration> sqlite_migrations() { return sqlite; }

}  // namespace oncegate::store
]])
target_sources(oncegate_store PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/store_migrations.cpp)

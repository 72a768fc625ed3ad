# The built program as a black box: one ctest a file, each runnable by hand with ONCEGATE_BIN set. They share nothing: ports are
# free ones, state lies in temporary directories, each file starts the PostgreSQL it needs.
function(oncegate_system_test name seconds)
  add_test(NAME "${build_prefix}system: ${name}" COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name}_test.py)
  set_tests_properties("${build_prefix}system: ${name}" PROPERTIES
      TIMEOUT ${seconds} LABELS system ENVIRONMENT "ONCEGATE_BIN=$<TARGET_FILE:oncegate>")
endfunction()

foreach(name real_clients exactly_once kill takeover byte_exact bad_input limits keys outcomes gone_clients in_flight
        policy_options store_trouble lifetime lifecycle commands observability streaming connections forwarding)
  oncegate_system_test(${name} 300)
endforeach()

# The bench is a program to look at, not a test of speed; a run of a second a case shows that it still works.
find_program(WRK wrk)
find_program(NGINX nginx PATHS /usr/sbin)
if(WRK AND NGINX)
  add_test(NAME "${build_prefix}bench: smoke run" COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/../bench/run.py
      --binary $<TARGET_FILE:oncegate> --seconds 1 --rounds 1 --connections 8)
  set_tests_properties("${build_prefix}bench: smoke run" PROPERTIES TIMEOUT 120 LABELS system)
endif()

# The built program as a black box: one ctest a file, each runnable by hand with ONCEGATE_BIN set. They share nothing: ports are
# free ones, state lies in temporary directories, each file starts the PostgreSQL it needs.
function(oncegate_system_test name seconds)
  add_test(NAME "${build_prefix}system: ${name}" COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name}_test.py)
  set_tests_properties("${build_prefix}system: ${name}" PROPERTIES
      TIMEOUT ${seconds} LABELS system ENVIRONMENT "ONCEGATE_BIN=$<TARGET_FILE:oncegate>")
endfunction()

foreach(name real_clients exactly_once kill takeover byte_exact bad_input limits keys outcomes gone_clients in_flight
        policy_options store_trouble lifetime lifecycle commands observability streaming connections forwarding reload signals
        relay upgrade upstream_servers edits tls_clients matrix webhooks shadow ask refresh suspects attempts key_places personal_data
        fingerprint_content undisturbed clock methods principal access cors errors policy_page
        large_records)
  oncegate_system_test(${name} 300)
endforeach()

# Raw HTTP/1.1 cases in both directions, by subject; `python3 -B wire/run.py --help` tells how to play them by hand.
foreach(group request_framing chunked_requests request_lines request_fields hosts_and_targets hop_by_hop expectations trailers
        interim_responses response_heads response_framing connections segments damaged damaged_answers)
  string(REPLACE "_" " " words ${group})
  add_test(NAME "${build_prefix}system: wire ${words}" COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/wire/run.py ${group})
  set_tests_properties("${build_prefix}system: wire ${words}" PROPERTIES
      TIMEOUT 300 LABELS system ENVIRONMENT "ONCEGATE_BIN=$<TARGET_FILE:oncegate>")
endforeach()

# The bench is a program to look at, not a test of speed; a run of a second a case shows that it still works.
find_program(WRK wrk)
find_program(NGINX nginx PATHS /usr/sbin)
if(WRK AND NGINX)
  add_test(NAME "${build_prefix}bench: smoke run" COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/../bench/run.py
      --binary $<TARGET_FILE:oncegate> --seconds 1 --rounds 1 --connections 8)
  set_tests_properties("${build_prefix}bench: smoke run" PROPERTIES TIMEOUT 120 LABELS system)
endif()

# The rules that people forget, one test program each. They read the sources, not the build: once is enough, so the sanitizer
# builds leave them out.
if(ONCEGATE_SANITIZE)
  return()
endif()

foreach(rule layering lengths banned_calls coroutine_traps leftovers tree format requirements)
  add_test(NAME "tidy: ${rule}"
      COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/tidy/test_${rule}.py)
  set_tests_properties("tidy: ${rule}" PROPERTIES LABELS tidy TIMEOUT 60)
endforeach()
# A skip (no clang-format 14) shows as one, not as a pass.
set_tests_properties("tidy: format" PROPERTIES SKIP_REGULAR_EXPRESSION "OK \\(skipped=")

# Every header of the pure layers compiles alone, included twice. The others take seconds each and are left to their .cpp.
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/src/core/*.hpp ${PROJECT_SOURCE_DIR}/src/config/*.hpp)
set(probes)
foreach(header ${headers})
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/headers_alone/${header}.cpp)
  file(CONFIGURE OUTPUT ${probe} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
  list(APPEND probes ${probe})
endforeach()
add_library(headers_alone OBJECT ${probes})
target_link_libraries(headers_alone PRIVATE oncegate_config)

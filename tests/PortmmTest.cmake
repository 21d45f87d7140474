# SPDX-License-Identifier: Apache-2.0
# How a test is registered, here and in examples/.
include_guard(GLOBAL)

# The drivers' own caches are shared by all tests, to save time, and kept apart from the user's: PoCL has a variable for
# it, XDG_CACHE_HOME is for the others.
set(PORTMM_TEST_DIR ${CMAKE_BINARY_DIR}/test-files CACHE INTERNAL "What tests write")
set(PORTMM_TEST_DRIVER_CACHE ${PORTMM_TEST_DIR}/drivers CACHE PATH "Where drivers keep what they compile for tests")
file(MAKE_DIRECTORY ${PORTMM_TEST_DRIVER_CACHE}/pocl ${PORTMM_TEST_DRIVER_CACHE}/xdg)
set(PORTMM_TEST_ENVIRONMENT
  PORTMM_MODULE_PATH=${CMAKE_BINARY_DIR}/lib/portmm
  PORTMM_WARMUP=off
  POCL_CACHE_DIR=${PORTMM_TEST_DRIVER_CACHE}/pocl
  XDG_CACHE_HOME=${PORTMM_TEST_DRIVER_CACHE}/xdg
  CACHE INTERNAL "What every test finds in its environment")

# portmm_register_test(name [TIMEOUT seconds] [ENVIRONMENT NAME=value...] COMMAND program argument...)
# Exit code 77 is a skip. Each test has a cache of its own. What ENVIRONMENT names goes before the common values.
function(portmm_register_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "TIMEOUT" "ENVIRONMENT;COMMAND")
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 60)
  endif()
  if(PORTMM_SANITIZE)
    math(EXPR test_TIMEOUT "5 * ${test_TIMEOUT}")
  endif()
  add_test(NAME ${name} COMMAND ${test_COMMAND})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "${PORTMM_TEST_ENVIRONMENT};PORTMM_CACHE_DIR=${PORTMM_TEST_DIR}/cache/${name};${test_ENVIRONMENT}"
    SKIP_RETURN_CODE 77
    TIMEOUT ${test_TIMEOUT})
endfunction()

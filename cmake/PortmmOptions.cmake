# SPDX-License-Identifier: Apache-2.0
# Options of the build, and what they mean for every target.

option(PORTMM_BUILD_TESTS "Build the tests (needs Check)" OFF)
option(PORTMM_BUILD_EXAMPLES "Build the examples" ON)
option(PORTMM_BUILD_TOOLS "Build portmm-bench and the peer programs (needs Jansson)" ON)
option(PORTMM_BUILD_FUZZERS "Build the fuzz targets for libFuzzer (needs Clang)" OFF)
option(PORTMM_BUILD_BLAS "Build libportmm_blas, the drop-in BLAS (needs libblas.so)" ON)
option(PORTMM_WERROR "Treat compiler warnings as errors" OFF)
set(PORTMM_SANITIZE "" CACHE STRING "Sanitizers for everything, as in -fsanitize=: address,undefined or thread")
foreach(backend CPU OPENCL CUDA)
  set(PORTMM_BACKEND_${backend} AUTO CACHE STRING "Build the ${backend} backend: AUTO (if its needs are met), ON or OFF")
  set_property(CACHE PORTMM_BACKEND_${backend} PROPERTY STRINGS AUTO ON OFF)
endforeach()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
                    $<$<BOOL:${PORTMM_WERROR}>:-Werror>)
if(PORTMM_SANITIZE)
  add_compile_options(-fsanitize=${PORTMM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PORTMM_SANITIZE})
endif()

# portmm_want_backend(OPENCL found-variable reason): whether to build a backend, by its option and by what was found.
function(portmm_want_backend name found_variable reason)
  set(want FALSE)
  if(PORTMM_BACKEND_${name} STREQUAL OFF)
    message(STATUS "portmm: backend ${name}: off")
  elseif(${${found_variable}})
    message(STATUS "portmm: backend ${name}: built")
    set(want TRUE)
  elseif(PORTMM_BACKEND_${name} STREQUAL ON)
    message(FATAL_ERROR "portmm: backend ${name} was asked for but cannot be built: ${reason}")
  else()
    message(STATUS "portmm: backend ${name}: skipped: ${reason}")
  endif()
  set(PORTMM_BUILD_${name} ${want} PARENT_SCOPE)
endfunction()

# portmm_add_module(portmm-cpu source...): a module that is loaded at run time; it sees the public headers only.
function(portmm_add_module name)
  add_library(${name} MODULE ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/core/include)
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/portmm)
  if(NOT PORTMM_SANITIZE) # their run-time is only in the program
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  if(name MATCHES "^portmm-([a-z]+)") # else one of the tests
    install(TARGETS ${name} LIBRARY DESTINATION ${PORTMM_MODULE_DIR} COMPONENT backend-${CMAKE_MATCH_1})
  endif()
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Target `docs`: the API pages from the public headers, in docs/api/html of the build. Any warning of Doxygen is an error.
find_program(PORTMM_DOXYGEN NAMES doxygen DOC "Makes the API pages")
find_package(Python3 3.9 COMPONENTS Interpreter)
set(PORTMM_DOCS_DIR ${CMAKE_BINARY_DIR}/docs/api)
if(PORTMM_DOXYGEN AND Python3_Interpreter_FOUND)
  configure_file(${PROJECT_SOURCE_DIR}/docs/api/Doxyfile.in ${CMAKE_BINARY_DIR}/docs/Doxyfile @ONLY)
  file(MAKE_DIRECTORY ${PORTMM_DOCS_DIR})
  add_custom_target(docs COMMAND ${PORTMM_DOXYGEN} ${CMAKE_BINARY_DIR}/docs/Doxyfile
    COMMENT "API pages: ${PORTMM_DOCS_DIR}/html/index.html" VERBATIM)
else()
  message(STATUS "portmm: no target docs: it needs Doxygen and Python")
endif()

# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=... -DFILE=... -P PortmmRevision.cmake: writes a header with the commit of the sources, when it changed.
find_program(GIT git)
set(revision "")
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 OUTPUT_VARIABLE revision
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(revision STREQUAL "")
  set(revision "unknown")
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "#define BENCH_REVISION \"${revision}\"\n")

# SPDX-License-Identifier: Apache-2.0
# portmm_embed_text(target directory/name.cl...): each file becomes embedded/<name>_cl.h with `static const char <name>_cl[]`.
function(portmm_embed_text target)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    string(MAKE_C_IDENTIFIER ${name} symbol)
    set(header ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.h)
    file(READ ${file} bytes HEX)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    file(CONFIGURE OUTPUT ${header} CONTENT "static const char ${symbol}[] = {${bytes}0};\n")
  endforeach()
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: libraries, headers, CMake package, pkg-config files, man pages, documents. Modules and
# programs are installed where they are built. Each component is a Debian package: see PortmmDebian.cmake.
include(CMakePackageConfigHelpers)

install(TARGETS portmm EXPORT portmmTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
if(PORTMM_BUILD_BLAS)
  install(TARGETS portmm_blas EXPORT portmmTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT blas NAMELINK_COMPONENT development)
endif()
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(DIRECTORY core/include/portmm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/portmm)
install(EXPORT portmmTargets NAMESPACE portmm:: DESTINATION ${package_dir})

configure_package_config_file(cmake/portmmConfig.cmake.in portmmConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(portmmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/portmmConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/portmmConfigVersion.cmake
  DESTINATION ${package_dir})

# The ways from where the file lies, so that the whole tree can be moved.
set(pkgconfig_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH PC_TO_PREFIX ${pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH PC_PREFIX_TO_LIB ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH PC_PREFIX_TO_INCLUDE ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
string(REGEX REPLACE "/$" "" PC_TO_PREFIX "${PC_TO_PREFIX}")
configure_file(cmake/portmm.pc.in portmm.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/portmm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(PORTMM_BUILD_BLAS)
  configure_file(cmake/portmm-blas.pc.in portmm-blas.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/portmm-blas.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# Guides and examples, beside README, whose links to them hold.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg"
  PATTERN results EXCLUDE PATTERN man EXCLUDE PATTERN api EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN CMakeLists.txt EXCLUDE)
install(FILES examples/backend/CMakeLists.txt DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples/backend)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tools)
if(PORTMM_BUILD_TOOLS)
  install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
  # bash and fish look for a file with the name of the command
  foreach(tool portmm-bench portmm-cache portmm-info)
    install(FILES tools/completions/portmm.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
      RENAME ${tool})
    install(FILES tools/completions/portmm.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
      RENAME ${tool}.fish)
  endforeach()
  install(FILES tools/completions/_portmm DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
include(PortmmDebian)

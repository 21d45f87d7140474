# SPDX-License-Identifier: Apache-2.0
# `cpack` makes Debian packages: the library, each backend, the drop-in BLAS, development files, tools.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME portmm)
set(CPACK_PACKAGE_VENDOR "libportmm")
set(CPACK_PACKAGE_CONTACT "libportmm developers <libportmm@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)

# portmm_add_package(component package section "depends" "recommends" "description")
# What a file links is found by dpkg-shlibdeps; `depends` is what is opened at run time, and our own.
set(CPACK_COMPONENTS_ALL "")
macro(portmm_add_package component package section depends recommends description)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${recommends}")
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} RENAME copyright
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()
set(this "(= ${PROJECT_VERSION})")

portmm_add_package(library libportmm0 libs "" "libportmm-backend-cpu ${this}, libportmm-backend-opencl ${this}"
  "The library, and the helper process that fills its cache. It needs a backend.")
portmm_add_package(development libportmm-dev libdevel "libportmm0 ${this}" ""
  "Headers, files for CMake and pkg-config, guides and examples.")
if(TARGET portmm-cpu)
  portmm_add_package(backend-cpu libportmm-backend-cpu libs "libportmm0 ${this}, libopenblas0" ""
    "Backend for the processor, on OpenBLAS.")
endif()
if(TARGET portmm-opencl)
  portmm_add_package(backend-opencl libportmm-backend-opencl libs
    "libportmm0 ${this}, ocl-icd-libopencl1 | libopencl1" "pocl-opencl-icd | opencl-icd"
    "Backend for OpenCL devices, with kernels of its own and CLBlast.")
endif()
if(TARGET portmm-cuda)
  portmm_add_package(backend-cuda libportmm-backend-cuda libs "libportmm0 ${this}" "libcuda1"
    "Backend for NVIDIA's devices, with kernels of its own and cuBLAS where that is installed.")
endif()
if(PORTMM_BUILD_BLAS)
  portmm_add_package(blas libportmm-blas0 libs "libportmm0 ${this}" ""
    "GEMM of BLAS and CBLAS for unchanged programs, in front of another BLAS.")
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libportmm-blas0 ${this}, libblas-dev | libblas.so")
endif()
if(PORTMM_BUILD_TOOLS)
  portmm_add_package(tools portmm-tools science "libportmm0 ${this}" "python3"
    "Programs that show what a machine has, look after the cache, and measure where the time of a first product goes.")
endif()
include(CPack)

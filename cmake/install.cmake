# What `cmake --install` puts where, and the build tree's own mpicc, mpicxx, mpifort, mpiexec and mpirun. An installation may be
# moved as a whole: the wrappers, the .pc files and the CMake package find their prefix from their own place.
include(CMakePackageConfigHelpers)
include(${CMAKE_CURRENT_LIST_DIR}/libmpi.cmake)

# --- The compiler wrappers, once for the build tree and once for the prefix: they differ in the library folder. ---

# A compiler in a system folder goes by its name, so that the wrapper also works where it lies elsewhere.
function(margay_compiler_name path result)
  get_filename_component(folder ${path} DIRECTORY)
  get_filename_component(name ${path} NAME)
  if(folder MATCHES "^(/usr)?(/local)?/bin$")
    set(${result} ${name} PARENT_SCOPE)
  else()
    set(${result} ${path} PARENT_SCOPE)
  endif()
endfunction()

function(margay_wrapper wrapper language compiler)
  set(MARGAY_WRAPPER ${wrapper})
  set(MARGAY_LANGUAGE ${language})
  margay_compiler_name(${compiler} MARGAY_COMPILER)
  if(language STREQUAL "C")
    set(MARGAY_OPTION cc)
    set(MARGAY_VARIABLE CC)
  elseif(language STREQUAL "Fortran")
    set(MARGAY_OPTION fc)
    set(MARGAY_VARIABLE FC)
  else()
    set(MARGAY_OPTION cxx)
    set(MARGAY_VARIABLE CXX)
  endif()
  if(MARGAY_SANITIZE)
    set(MARGAY_SANITIZE_FLAG -fsanitize=${MARGAY_SANITIZE})
    # The library is C++: its checks need a part of the runtime that clang leaves out of a C program.
    set(MARGAY_SANITIZE_LINK "${MARGAY_SANITIZE_FLAG} -fsanitize-link-c++-runtime -lstdc++")
  endif()
  set(MARGAY_WRAPPER_LIBDIR lib)
  set(MARGAY_WRAPPER_INCLUDEDIR include)
  configure_file(${PROJECT_SOURCE_DIR}/scripts/wrappers/compiler.in ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${wrapper}
    @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  set(MARGAY_WRAPPER_LIBDIR ${CMAKE_INSTALL_LIBDIR})
  set(MARGAY_WRAPPER_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
  configure_file(${PROJECT_SOURCE_DIR}/scripts/wrappers/compiler.in ${PROJECT_BINARY_DIR}/install/${wrapper} @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/install/${wrapper} DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

margay_wrapper(mpicc C ${CMAKE_C_COMPILER})
margay_wrapper(mpicxx C++ ${CMAKE_CXX_COMPILER})
margay_wrapper(mpifort Fortran gfortran)

# --- Links: other names of the same file. ---

function(margay_link target name build_folder install_folder)
  file(CREATE_LINK ${target} ${build_folder}/${name} SYMBOLIC)
  install(FILES ${build_folder}/${name} DESTINATION ${install_folder})
endfunction()

foreach(name IN ITEMS mpiexec mpirun)
  margay_link(margay ${name} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_INSTALL_BINDIR})
endforeach()
margay_link(mpicxx mpic++ ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_INSTALL_BINDIR})
foreach(name IN ITEMS mpif90 mpif77)
  margay_link(mpifort ${name} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_INSTALL_BINDIR})
endforeach()
# Debian's name of the library. A link, not a copy: the loader takes both names for one object.
foreach(name IN ITEMS libmpich.so.12 libmpich.so)
  margay_link(libmpi.so.12 ${name} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${CMAKE_INSTALL_LIBDIR})
endforeach()

# --- Programs and libraries. ---

install(TARGETS margay RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS margay_measure RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/margay)
install(TARGETS mpi margay_portals_shared margay_structures margay_host_interface margay_rmi margay_nexus margay_zipcode EXPORT margay
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS margay_nexus_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
install(FILES ${warning_objects} DESTINATION ${CMAKE_INSTALL_LIBDIR})
# All that an installation takes from the build: cmake --build B --target installed && cmake --install B
add_custom_target(installed DEPENDS margay margay_measure mpi margay_portals_shared margay_structures margay_rmi margay_nexus margay_nexus_mpi margay_zipcode)
if(TARGET mpi_racy)
  install(TARGETS mpi_racy LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/margay/labs NAMELINK_SKIP)
  file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/margay/labs)
  margay_link(libmpi.so.12 libmpich.so.12 ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/margay/labs ${CMAKE_INSTALL_LIBDIR}/margay/labs)
  add_dependencies(installed mpi_racy)
endif()

if(TARGET mpi_simulate)
  install(TARGETS mpi_simulate LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/margay/simulate NAMELINK_SKIP)
  add_dependencies(installed mpi_simulate)
endif()

# --- Headers: mpi.h and its parts; RMI's, Nexus's and Zipcode's; margay/portals.hpp, structures.hpp and host.hpp and, by following its includes, the headers that it needs. ---

function(margay_included_headers first result)
  set(found)
  set(open ${first})
  while(open)
    list(POP_FRONT open header)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" next "${line}")
      if(NOT next IN_LIST found AND EXISTS ${PROJECT_SOURCE_DIR}/${next})
        list(APPEND found ${next})
        list(APPEND open ${next})
      endif()
    endforeach()
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

install(FILES mpi_adi/abi/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES mpi_adi/abi/mpi_rma_1996.h include/margay/polling.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/margay)
install(DIRECTORY mpi_adi/abi/margay_mpi DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES include/margay/portals.hpp include/margay/structures.hpp include/margay/host.hpp include/margay/rmi.hpp
  include/margay/nexus.hpp include/margay/nexus_module.h include/margay/zipcode.h include/margay/zipcode_invoices.h include/margay/zipcode_nx.h
  include/margay/zipcode_lmps.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/margay)
install(DIRECTORY include/margay/rmi include/margay/nexus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/margay FILES_MATCHING PATTERN "*.hpp")
foreach(public IN ITEMS portals structures)
  margay_included_headers(include/margay/${public}.hpp headers)
  foreach(header IN LISTS headers)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/margay/${folder})
  endforeach()
endforeach()

# --- find_package(margay): targets margay::mpi, margay::host, margay::rmi, margay::nexus, margay::zipcode and margay::portals. ---

set(margay_package ${CMAKE_INSTALL_LIBDIR}/cmake/margay)
install(EXPORT margay NAMESPACE margay:: FILE margay-targets.cmake DESTINATION ${margay_package})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/install/margay-config.cmake
  CONTENT "include(\${CMAKE_CURRENT_LIST_DIR}/margay-targets.cmake)\n" @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/margay-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/margay-config.cmake ${PROJECT_BINARY_DIR}/install/margay-config-version.cmake
  DESTINATION ${margay_package})

# --- pkg-config: margay, margay-host, margay-rmi, margay-nexus, margay-zipcode and margay-portals. ---

cmake_path(SET pc_folder NORMALIZE /${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH up ${pc_folder} /)
string(REGEX REPLACE "/$" "" up ${up})
function(margay_pkg_config name description cflags library)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/install/${name}.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@up@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: @name@
Description: @description@
Version: @PROJECT_VERSION@
Cflags: @cflags@
Libs: -L${libdir} -Wl,--enable-new-dtags -Wl,-rpath,${libdir} -l@library@
]])
  install(FILES ${PROJECT_BINARY_DIR}/install/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
margay_pkg_config(margay "MPI on emulated Puma portals" "-I\${includedir}" mpi)
margay_pkg_config(margay-host "communication libraries on margay" "-I\${includedir} -I\${includedir}/margay"
  "mpi -lmargay_structures")
margay_pkg_config(margay-rmi "remote method invocation on margay" "-I\${includedir}" margay_rmi)
margay_pkg_config(margay-nexus "requests over links with selectable methods on margay" "-I\${includedir}" margay_nexus)
margay_pkg_config(margay-zipcode "letters, mailers and virtual topologies on margay" "-I\${includedir}" margay_zipcode)
margay_pkg_config(margay-portals "emulated Puma portals" "-I\${includedir} -I\${includedir}/margay" margay_portals)

# --- What collectives cost on this machine (docs/calibration.md): measured where it is installed to be run. ---

option(MARGAY_CALIBRATE "cmake --install measures this machine, five seconds, unless DESTDIR is set" ON)
if(MARGAY_CALIBRATE AND NOT CMAKE_CROSSCOMPILING AND NOT MARGAY_SANITIZE)
  install(CODE "set(margay_command \"${CMAKE_INSTALL_BINDIR}/margay\")")
  install(CODE [[
    if("$ENV{DESTDIR}" STREQUAL "")
      execute_process(COMMAND ${CMAKE_INSTALL_PREFIX}/${margay_command} calibrate --installed TIMEOUT 120 RESULT_VARIABLE failed
        OUTPUT_QUIET ERROR_VARIABLE why)
      if(failed)
        message(STATUS "not calibrated (collectives go by usual costs; `margay calibrate` measures later): ${why}")
      else()
        message(STATUS "Calibrated: what collectives cost on this machine (margay info --collectives)")
      endif()
    endif()
  ]])
endif()

# --- Labs, documents, examples. The build folder has a link where an installation has the labs (command/lab/lab). ---

install(DIRECTORY labs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/margay/labs USE_SOURCE_PERMISSIONS PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/margay/examples PATTERN "CMakeLists.txt" EXCLUDE
  PATTERN "portals.cmake" EXCLUDE)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})  # where README.md, beside it, says that they are
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/margay)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/labs ${PROJECT_BINARY_DIR}/share/margay/labs SYMBOLIC)
# Wireshark's dissector (docs/trace_export.md).
install(FILES command/trace/export/margay.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/margay/wireshark)

install(FILES LICENSE README.md HACKING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# What documents link to stands where they say that it does (scripts/check_docs --links).
install(DIRECTORY bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
foreach(document IN ITEMS bench/README.md bench/bounds.md bench/performance.md bench/peers/README.md)
  get_filename_component(folder ${document} DIRECTORY)
  install(FILES ${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
function(margay_link_folder name folder target)
  foreach(path IN ITEMS folder target)
    cmake_path(ABSOLUTE_PATH ${path} BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE full_${path})
  endforeach()
  file(RELATIVE_PATH relative ${full_folder} ${full_target})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/install/links)
  margay_link(${relative} ${name} ${PROJECT_BINARY_DIR}/install/links ${folder})
endfunction()
margay_link_folder(labs ${CMAKE_INSTALL_DOCDIR} ${CMAKE_INSTALL_DATADIR}/margay/labs)
margay_link_folder(include ${CMAKE_INSTALL_DOCDIR} ${CMAKE_INSTALL_INCLUDEDIR})
margay_link_folder(docs ${CMAKE_INSTALL_DATADIR}/margay ${CMAKE_INSTALL_DOCDIR}/docs)

if(MARGAY_TESTS AND doctest_FOUND)
  include(${PROJECT_SOURCE_DIR}/tests/mpi_adi/abi_tests.cmake)
endif()

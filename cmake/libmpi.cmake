# The shared libraries that programs link: libmpi.so.12 (all layers, the MPICH ABI's names only) and
# libmargay_portals.so (portals and the simulated machine, their C++ names). A program that links both has two separate
# simulated machines in it: use one of them. A third, of a lab, loses messages (`racy.cmake`).
include_guard(GLOBAL)

# The shape of an installation inside the build tree, so that bin/mpicc works from there too: build/<preset>/{bin,lib,include}.
set(margay_stage ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${margay_stage}/margay ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/mpi_adi/abi/mpi.h ${margay_stage}/mpi.h SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/mpi_adi/abi/margay_mpi ${margay_stage}/margay_mpi SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/mpi_adi/abi/mpi_rma_1996.h ${margay_stage}/margay/mpi_rma_1996.h SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/polling.h ${margay_stage}/margay/polling.h SYMBOLIC)
foreach(layer IN ITEMS portals sim)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${layer} ${margay_stage}/margay/${layer} SYMBOLIC)
endforeach()
foreach(header IN ITEMS portals structures host)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/${header}.hpp ${margay_stage}/margay/${header}.hpp SYMBOLIC)
endforeach()

# Default visibility in the two layers that have a C++ interface; libmpi's map hides them again there.
set_target_properties(margay_portals margay_sim PROPERTIES CXX_VISIBILITY_PRESET default)

# The layers are archives: their every object goes in. One generated source gives the library a name to be known by.
# COMPILED_ONLY: linked from compiled code, in a second, though others are optimized when they are linked.
function(margay_shared_library target)
  cmake_parse_arguments(ARG "COMPILED_ONLY" "" "LAYERS" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/${target}_ident.c)
  file(CONFIGURE OUTPUT ${source} CONTENT
    "__attribute__((used)) static const char margay_ident[] = \"@(#)margay ${PROJECT_VERSION}\";\n")
  add_library(${target} SHARED ${source})
  string(REPLACE ";" "," layers "${ARG_LAYERS}")
  # The top layer brings the others, each once: a whole archive named twice would be defined twice.
  list(GET ARG_LAYERS -1 top)
  target_link_libraries(${target} PRIVATE ${top})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${layers}")
  if(MARGAY_LINK_OPTIMIZED AND ARG_COMPILED_ONLY)
    target_link_options(${target} PRIVATE -fno-lto)
  elseif(MARGAY_LINK_OPTIMIZED)
    target_link_options(${target} PRIVATE -flto=auto -O2 ${MARGAY_SMALL_MEMORY} -Wno-stringop-overflow
      -Wno-stringop-overread)  # as in margay_layer
  endif()
  # A thread of the library may outlive a dlclose.
  target_link_options(${target} PRIVATE -Wl,-z,nodelete -Wl,--enable-new-dtags)
  if(NOT MARGAY_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

margay_shared_library(mpi LAYERS margay_portals margay_sim margay_mpi_adi margay_collectives margay_mpi margay_host)
add_library(margay::mpi ALIAS mpi)
function(margay_mpi_library target)
  set_target_properties(${target} PROPERTIES VERSION 12 SOVERSION 12 LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/libmpi.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/libmpi.map)
endfunction()
margay_mpi_library(mpi)
target_include_directories(mpi INTERFACE $<BUILD_INTERFACE:${margay_stage}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# What of mpi.h no source binds is there by name and refuses (scripts/coverage, docs/mpi_coverage.md).
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(refusing_folder ${PROJECT_BINARY_DIR}/refusing)
set(languages c fortran)
file(MAKE_DIRECTORY ${refusing_folder})
file(GLOB prototypes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/mpi_adi/abi/margay_mpi/fn_*.h)
file(GLOB_RECURSE bindings CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/mpi/*.cpp)
list(TRANSFORM prototypes REPLACE ".*/fn_(.*)\\.h" "${refusing_folder}/refuse_\\1.cpp" OUTPUT_VARIABLE refusing)
list(TRANSFORM languages PREPEND "${refusing_folder}/warn_" OUTPUT_VARIABLE warnings)
list(TRANSFORM warnings APPEND ".c")
add_custom_command(OUTPUT ${refusing_folder}/stamp BYPRODUCTS ${refusing} ${warnings}
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/coverage --generate ${refusing_folder}
  COMMAND ${CMAKE_COMMAND} -E touch ${refusing_folder}/stamp
  DEPENDS ${prototypes} ${bindings} ${PROJECT_SOURCE_DIR}/scripts/coverage VERBATIM)
add_library(margay_refusing OBJECT ${refusing} ${refusing_folder}/stamp)
target_link_libraries(margay_refusing PRIVATE margay_flags)
target_sources(mpi PRIVATE $<TARGET_OBJECTS:margay_refusing>)
set_source_files_properties(${refusing} PROPERTIES GENERATED TRUE COMPILE_OPTIONS "-fno-lto;-O1;-g0")

# What the linker prints of calls of those: objects that the compiler wrappers link. Not in the library, because MPICH's
# libmpichfort calls every function of C: a Fortran program gets those of Fortran's names.
foreach(language IN LISTS languages)
  set(object ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/margay_warn_${language}.o)
  add_custom_command(OUTPUT ${object} DEPENDS ${refusing_folder}/stamp VERBATIM
    COMMAND ${CMAKE_C_COMPILER} -c -o ${object} ${refusing_folder}/warn_${language}.c)
  list(APPEND warning_objects ${object})
endforeach()
add_custom_target(margay_warnings DEPENDS ${warning_objects})
add_dependencies(mpi margay_warnings)

# margay::host, for communication libraries (include/margay/host.hpp): libmpi.so.12, and a copy of the portals layer, which
# has no state, because libmpi hides its C++ names.
add_library(margay_structures STATIC $<TARGET_OBJECTS:margay_portals>)
set_target_properties(margay_structures PROPERTIES EXPORT_NAME structures LINKER_LANGUAGE CXX)
add_library(margay_host_interface INTERFACE)
set_target_properties(margay_host_interface PROPERTIES EXPORT_NAME host)
target_link_libraries(margay_host_interface INTERFACE mpi margay_structures)
target_compile_features(margay_host_interface INTERFACE cxx_std_20)
target_include_directories(margay_host_interface INTERFACE
  $<BUILD_INTERFACE:${margay_stage}> $<BUILD_INTERFACE:${margay_stage}/margay>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/margay>)
add_library(margay::host ALIAS margay_host_interface)

margay_shared_library(margay_portals_shared LAYERS margay_portals margay_sim)
add_library(margay::portals ALIAS margay_portals_shared)
set_target_properties(margay_portals_shared PROPERTIES OUTPUT_NAME margay_portals EXPORT_NAME portals
  VERSION ${PROJECT_VERSION} SOVERSION 0)
target_link_options(margay_portals_shared PRIVATE -Wl,-Bsymbolic-functions)
target_compile_features(margay_portals_shared INTERFACE cxx_std_20)
# Both: "margay/portals.hpp" for the user, "portals/base/header.hpp" for what it includes.
target_include_directories(margay_portals_shared INTERFACE
  $<BUILD_INTERFACE:${margay_stage}> $<BUILD_INTERFACE:${margay_stage}/margay>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/margay>)

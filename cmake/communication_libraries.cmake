# The communication libraries RMI, Nexus and Zipcode, each built on margay::host alone, as a library of a user's project would
# be.
include_guard(GLOBAL)

# margay_communication_library(NAME HEADERS name... [PARTS target...] [LIBRARIES library...] [ALONE file...] SOURCES source...):
# margay::NAME is libmargay_NAME.so, with its headers or folders in include/margay. margay_NAME_core is its object files, compiled
# once for the library and for the tests that are linked with it; PARTS are further object libraries.
function(margay_communication_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "HEADERS;PARTS;LIBRARIES;ALONE;SOURCES")
  foreach(header IN LISTS ARG_HEADERS)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/${header} ${margay_stage}/margay/${header} SYMBOLIC)
  endforeach()
  add_library(margay_${name}_core OBJECT ${ARG_SOURCES})
  margay_unity(margay_${name}_core ALONE ${ARG_ALONE})
  target_link_libraries(margay_${name}_core PRIVATE margay_host_interface margay_flags)
  set_target_properties(margay_${name}_core PROPERTIES CXX_VISIBILITY_PRESET default)

  set(objects)
  foreach(part margay_${name}_core ${ARG_PARTS})
    list(APPEND objects $<TARGET_OBJECTS:${part}>)
  endforeach()
  add_library(margay_${name} SHARED ${objects})
  add_library(margay::${name} ALIAS margay_${name})
  target_link_libraries(margay_${name} PRIVATE margay_host_interface margay_flags ${ARG_LIBRARIES})
  target_include_directories(margay_${name} PUBLIC $<BUILD_INTERFACE:${margay_stage}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(margay_${name} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0
    # Finds libmpi.so.12 beside itself: the run path of a program does not serve its libraries.
    INSTALL_RPATH "$ORIGIN")
  # Its copy of the portals layer is not for programs.
  target_link_options(margay_${name} PRIVATE -Wl,--exclude-libs,libmargay_structures.a -Wl,-z,nodelete -Wl,--enable-new-dtags)
endfunction()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libraries/rmi/*.cpp)
margay_communication_library(rmi HEADERS rmi.hpp rmi SOURCES ${sources} ALONE inbox)
target_compile_features(margay_rmi INTERFACE cxx_std_20)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libraries/nexus/*.cpp ${PROJECT_SOURCE_DIR}/libraries/parts/*.cpp)
margay_communication_library(nexus HEADERS nexus.hpp nexus_module.h nexus SOURCES ${sources} PARTS margay_nexus_modules
  LIBRARIES PkgConfig::libsodium PkgConfig::libzstd Threads::Threads ${CMAKE_DL_LIBS})
target_compile_features(margay_nexus INTERFACE cxx_std_20)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libraries/zipcode/*.cpp ${PROJECT_SOURCE_DIR}/libraries/zipcode/invoices/*_calls.cpp
  ${PROJECT_SOURCE_DIR}/libraries/zipcode/emulation/*.cpp ${PROJECT_SOURCE_DIR}/libraries/parts/*.cpp)
list(FILTER sources EXCLUDE REGEX "/methods\\.cpp$")  # in margay_zipcode_invoices
margay_communication_library(zipcode HEADERS zipcode.h zipcode_invoices.h zipcode_nx.h zipcode_lmps.h SOURCES ${sources}
  PARTS margay_zipcode_invoices)

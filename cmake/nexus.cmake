# margay::nexus: libmargay_nexus.so, and the headers of include/margay/nexus. It is built on margay::host alone, as a library of
# a user's project would be.
include_guard(GLOBAL)

file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/nexus.hpp ${margay_stage}/margay/nexus.hpp SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/nexus_module.h ${margay_stage}/margay/nexus_module.h SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/nexus ${margay_stage}/margay/nexus SYMBOLIC)

# The core, compiled once for the library and for tests that are linked with it.
file(GLOB nexus_core CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libraries/nexus/*.cpp ${PROJECT_SOURCE_DIR}/libraries/parts/*.cpp)
add_library(margay_nexus_core OBJECT ${nexus_core})
margay_unity(margay_nexus_core)
target_link_libraries(margay_nexus_core PRIVATE margay_host_interface margay_flags)
set_target_properties(margay_nexus_core PROPERTIES CXX_VISIBILITY_PRESET default)

add_library(margay_nexus SHARED $<TARGET_OBJECTS:margay_nexus_core> $<TARGET_OBJECTS:margay_nexus_modules>)
add_library(margay::nexus ALIAS margay_nexus)
target_link_libraries(margay_nexus PRIVATE margay_host_interface margay_flags PkgConfig::libsodium PkgConfig::libzstd Threads::Threads ${CMAKE_DL_LIBS})
target_include_directories(margay_nexus PUBLIC $<BUILD_INTERFACE:${margay_stage}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(margay_nexus INTERFACE cxx_std_20)
set_target_properties(margay_nexus PROPERTIES EXPORT_NAME nexus LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0
  # Finds libmpi.so.12 beside itself: the run path of a program does not serve its libraries.
  INSTALL_RPATH "$ORIGIN")
# Its copy of the portals layer is not for programs.
target_link_options(margay_nexus PRIVATE -Wl,--exclude-libs,libmargay_structures.a -Wl,-z,nodelete -Wl,--enable-new-dtags)

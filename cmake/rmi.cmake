# margay::rmi: libmargay_rmi.so, and the headers of include/margay/rmi. It is built on margay::host alone, as a library of
# a user's project would be.
include_guard(GLOBAL)

file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/rmi.hpp ${margay_stage}/margay/rmi.hpp SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/rmi ${margay_stage}/margay/rmi SYMBOLIC)

# The core, compiled once for the library and for a test that is linked with it.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libraries/rmi/*.cpp)
add_library(margay_rmi_core OBJECT ${sources})
margay_unity(margay_rmi_core ALONE inbox)
target_link_libraries(margay_rmi_core PRIVATE margay_host_interface margay_flags)
set_target_properties(margay_rmi_core PROPERTIES CXX_VISIBILITY_PRESET default)

add_library(margay_rmi SHARED $<TARGET_OBJECTS:margay_rmi_core>)
add_library(margay::rmi ALIAS margay_rmi)
target_link_libraries(margay_rmi PRIVATE margay_host_interface margay_flags)
target_include_directories(margay_rmi PUBLIC $<BUILD_INTERFACE:${margay_stage}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(margay_rmi INTERFACE cxx_std_20)
set_target_properties(margay_rmi PROPERTIES EXPORT_NAME rmi LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0
  # Finds libmpi.so.12 beside itself: the run path of a program does not serve its libraries.
  INSTALL_RPATH "$ORIGIN")
# Its copy of the portals layer is not for programs.
target_link_options(margay_rmi PRIVATE -Wl,--exclude-libs,libmargay_structures.a -Wl,-z,nodelete -Wl,--enable-new-dtags)

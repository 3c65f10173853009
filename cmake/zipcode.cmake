# margay::zipcode: libmargay_zipcode.so, and the headers include/margay/zipcode*.h. It is built on margay::host alone, as a library
# of a user's project would be.
include_guard(GLOBAL)

foreach(header IN ITEMS zipcode.h zipcode_invoices.h zipcode_nx.h zipcode_lmps.h)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/${header} ${margay_stage}/margay/${header} SYMBOLIC)
endforeach()

# The core, compiled once for the library and for a test that is linked with it.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libraries/zipcode/*.cpp ${PROJECT_SOURCE_DIR}/libraries/zipcode/invoices/*_calls.cpp
  ${PROJECT_SOURCE_DIR}/libraries/zipcode/emulation/*.cpp ${PROJECT_SOURCE_DIR}/libraries/parts/*.cpp)
list(FILTER sources EXCLUDE REGEX "/methods\\.cpp$")  # in margay_zipcode_invoices
add_library(margay_zipcode_core OBJECT ${sources})
margay_unity(margay_zipcode_core)
target_link_libraries(margay_zipcode_core PRIVATE margay_host_interface margay_flags)
set_target_properties(margay_zipcode_core PROPERTIES CXX_VISIBILITY_PRESET default)

add_library(margay_zipcode SHARED $<TARGET_OBJECTS:margay_zipcode_core> $<TARGET_OBJECTS:margay_zipcode_invoices>)
add_library(margay::zipcode ALIAS margay_zipcode)
target_link_libraries(margay_zipcode PRIVATE margay_host_interface margay_flags)
target_include_directories(margay_zipcode PUBLIC $<BUILD_INTERFACE:${margay_stage}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(margay_zipcode PROPERTIES EXPORT_NAME zipcode LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0
  # Finds libmpi.so.12 beside itself: the run path of a program does not serve its libraries.
  INSTALL_RPATH "$ORIGIN")
# Its copy of the portals layer is not for programs.
target_link_options(margay_zipcode PRIVATE -Wl,--exclude-libs,libmargay_structures.a -Wl,-z,nodelete -Wl,--enable-new-dtags)

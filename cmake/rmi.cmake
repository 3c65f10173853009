# margay::rmi: libmargay_rmi.so, and the headers of include/margay/rmi. It is built on margay::host alone, as a library of
# a user's project would be.
include_guard(GLOBAL)

file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/rmi.hpp ${margay_stage}/margay/rmi.hpp SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/margay/rmi ${margay_stage}/margay/rmi SYMBOLIC)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libraries/rmi/*.cpp)
add_library(margay_rmi SHARED ${sources})
add_library(margay::rmi ALIAS margay_rmi)
target_link_libraries(margay_rmi PUBLIC margay_host_interface PRIVATE margay_flags)
set_target_properties(margay_rmi PROPERTIES EXPORT_NAME rmi CXX_VISIBILITY_PRESET default VERSION ${PROJECT_VERSION} SOVERSION 0)
# The functors of program and library are in one list, and a method is compared by its class's name in both.
target_link_options(margay_rmi PRIVATE -Wl,-z,nodelete -Wl,--enable-new-dtags)

# libmargay_nexus_mpi.so: MPI over Nexus, which `margay run --over nexus` loads before a program. Built on margay::nexus and on
# MPI's profiling interface alone.
include_guard(GLOBAL)

file(GLOB nexus_mpi_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libraries/nexus_mpi/*.cpp)
add_library(margay_nexus_mpi SHARED ${nexus_mpi_sources})
target_link_libraries(margay_nexus_mpi PRIVATE margay_nexus mpi margay_flags)
set_target_properties(margay_nexus_mpi PROPERTIES CXX_VISIBILITY_PRESET default VERSION ${PROJECT_VERSION} SOVERSION 0
  INSTALL_RPATH "$ORIGIN")
target_link_options(margay_nexus_mpi PRIVATE -Wl,-z,nodelete -Wl,--enable-new-dtags)

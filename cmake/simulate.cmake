# The libmpi.so.12 of `margay simulate`: all layers of the ordinary one, and the virtual machine (virtual_machine/), which
# replaces functions of the C library. The command preloads it from lib/margay/simulate.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/libmpi.cmake)
if(MARGAY_SANITIZE MATCHES thread)
  return()  # ThreadSanitizer does not know the ranks' data, which change at the same addresses
endif()

margay_shared_library(mpi_simulate COMPILED_ONLY LAYERS margay_portals margay_sim margay_mpi_adi margay_collectives
  margay_mpi margay_host margay_model margay_vm_program margay_vm_world)
set_target_properties(mpi_simulate PROPERTIES OUTPUT_NAME mpi VERSION 12 SOVERSION 12
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/margay/simulate)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/libmpi.map exported REGEX "^    .*;")
string(REGEX MATCHALL "[A-Za-z_0-9*]+_[*A-Za-z0-9_]*" exported "${exported}")
margay_replaces_libc(mpi_simulate ${exported})
target_sources(mpi_simulate PRIVATE $<TARGET_OBJECTS:margay_refusing>)

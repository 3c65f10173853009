# The libmpi.so.12 of lab 11 (labs/11_posting): it posts receives in two steps and loses what comes between them. Its objects
# are the ordinary library's, but for the two files of the device that mpi_adi/racy replaces: three are compiled for it, and
# it is linked from compiled code. `margay run --mpi racy` takes it, from lib/margay/labs.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/libmpi.cmake)
if(NOT MARGAY_LABS OR MARGAY_SANITIZE)
  return()
endif()

margay_shared_library(mpi_racy COMPILED_ONLY LAYERS margay_portals margay_sim margay_collectives margay_mpi margay_host)
margay_mpi_library(mpi_racy)
set_target_properties(mpi_racy PROPERTIES OUTPUT_NAME mpi LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/margay/labs)
target_sources(mpi_racy PRIVATE
  ${PROJECT_SOURCE_DIR}/mpi_adi/protocol/post_receive.cpp
  ${PROJECT_SOURCE_DIR}/mpi_adi/racy/absent_owner.cpp
  ${PROJECT_SOURCE_DIR}/mpi_adi/racy/posting_gap.cpp
  "$<FILTER:$<TARGET_OBJECTS:margay_mpi_adi>,EXCLUDE,(/protocol/post_receive|/progress/absent_owner)[.]cpp>"
  $<TARGET_OBJECTS:margay_refusing>)
target_compile_definitions(mpi_racy PRIVATE MARGAY_RACY_POSTING)
margay_link_optimized(mpi_racy COMPILED_ONLY)

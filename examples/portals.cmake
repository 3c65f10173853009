# The programs on portals without MPI, built as a user's project would, and each a test: the zoo's decisions are compared
# with a file, whatever the wire.
foreach(name IN ITEMS portals_pingpong portals_zoo)
  add_executable(${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE margay::portals)
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
endforeach()

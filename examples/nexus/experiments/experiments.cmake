# The programs of the Nexus paper's experiments, built as in a user's project. examples/nexus/experiment.py runs them.
add_custom_target(nexus_experiments)
foreach(name IN ITEMS figure3 figure4 figure6 table1)
  add_executable(nexus_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
  target_link_libraries(nexus_${name} PRIVATE margay::nexus margay::mpi)
  target_compile_options(nexus_${name} PRIVATE -Wall -Wextra)
  if(MARGAY_SANITIZE)
    target_compile_options(nexus_${name} PRIVATE -fsanitize=${MARGAY_SANITIZE})
    target_link_options(nexus_${name} PRIVATE -fsanitize=${MARGAY_SANITIZE})
  endif()
  set_target_properties(nexus_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples/nexus)
  add_dependencies(nexus_experiments nexus_${name})
endforeach()

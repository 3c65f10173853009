# The programs of the Nexus paper's experiments. examples/nexus/experiment.py runs them.
add_custom_target(nexus_experiments)
foreach(name IN ITEMS figure3 figure4 figure6 table1)
  margay_user_program(nexus_${name} NAME ${name} FOLDER nexus OF nexus_experiments
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp LIBRARIES margay::nexus margay::mpi)
endforeach()

# The programs on RMI, and the explicit programs beside them. Target rmi_examples builds all. tests/libraries/rmi/stapl.py
# runs them.
find_package(Threads REQUIRED)
add_custom_target(rmi_examples)
# margay_rmi_example(NAME LIBRARIES...): from NAME.cpp; with SOURCES, from these.
function(margay_rmi_example name)
  cmake_parse_arguments(PARSE_ARGV 1 example "" "" SOURCES)
  if(NOT example_SOURCES)
    set(example_SOURCES ${name}.cpp)
  endif()
  list(TRANSFORM example_SOURCES PREPEND ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/)
  margay_user_program(rmi_example_${name} NAME ${name} FOLDER rmi OF rmi_examples
    SOURCES ${example_SOURCES} LIBRARIES ${example_UNPARSED_ARGUMENTS})
endfunction()
foreach(name IN ITEMS sample_sort p_sort inner_product depth_first master_slave)
  margay_rmi_example(${name} margay::rmi)
endforeach()
foreach(name IN ITEMS sample_sort_messages sort_mpi inner_product_mpi)
  margay_rmi_example(${name} margay::mpi)
endforeach()
foreach(name IN ITEMS sample_sort_threads sort_threads inner_product_threads)
  margay_rmi_example(${name} Threads::Threads)
endforeach()
# RMI in turns with the explicit program, which is written with MPI or with threads.
foreach(name IN ITEMS ping_pong fences)
  margay_rmi_example(${name}_beside_mpi margay::rmi margay::mpi SOURCES ${name}.cpp by_hand_mpi.cpp)
  margay_rmi_example(${name}_beside_threads margay::rmi SOURCES ${name}.cpp by_hand_threads.cpp)
endforeach()

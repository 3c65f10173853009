# The programs on Zipcode. Target zipcode_examples builds all.
add_custom_target(zipcode_examples)
file(GLOB zipcode_example_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
foreach(source IN LISTS zipcode_example_sources)
  get_filename_component(name ${source} NAME_WE)
  margay_user_program(zipcode_example_${name} NAME ${name} FOLDER zipcode OF zipcode_examples
    SOURCES ${source} LIBRARIES margay::zipcode m)
endforeach()

# The programs of context_cost.py.
function(margay_context_cost name library source)
  margay_user_program(zipcode_cost_${name} NAME ${name} FOLDER zipcode/cost OF zipcode_examples
    SOURCES ${source} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cost/cost.c LIBRARIES ${library})
  target_compile_options(zipcode_cost_${name} PRIVATE -O2)
endfunction()
margay_context_cost(letters margay::zipcode ${CMAKE_CURRENT_LIST_DIR}/cost/letters.c)
margay_context_cost(messages margay::mpi ${CMAKE_CURRENT_LIST_DIR}/cost/messages.c)
margay_context_cost(puts margay::portals ${CMAKE_CURRENT_LIST_DIR}/cost/puts.cpp)

# The programs on Zipcode, built as in a user's project. Target zipcode_examples builds all.
include_guard(GLOBAL)

add_custom_target(zipcode_examples)
file(GLOB zipcode_example_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
foreach(source IN LISTS zipcode_example_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(zipcode_example_${name} ${source})
  target_compile_options(zipcode_example_${name} PRIVATE -Wall -Wextra)
  target_link_libraries(zipcode_example_${name} PRIVATE margay::zipcode m)
  margay_zipcode_program(zipcode_example_${name})
  if(MARGAY_SANITIZE)
    target_compile_options(zipcode_example_${name} PRIVATE -fsanitize=${MARGAY_SANITIZE})
    target_link_options(zipcode_example_${name} PRIVATE -fsanitize=${MARGAY_SANITIZE})
  endif()
  set_target_properties(zipcode_example_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples/zipcode)
  add_dependencies(zipcode_examples zipcode_example_${name})
endforeach()

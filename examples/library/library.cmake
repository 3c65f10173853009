# The example library and its program, built as in a user's project.
add_executable(counter ${CMAKE_CURRENT_LIST_DIR}/main.cpp ${CMAKE_CURRENT_LIST_DIR}/counter.cpp)
target_link_libraries(counter PRIVATE margay::host)
target_compile_options(counter PRIVATE -Wall -Wextra)
if(MARGAY_SANITIZE)
  target_compile_options(counter PRIVATE -fsanitize=${MARGAY_SANITIZE})
  target_link_options(counter PRIVATE -fsanitize=${MARGAY_SANITIZE})
endif()
set_target_properties(counter PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)

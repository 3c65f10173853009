# The programs on Nexus, built as in a user's project. tests/libraries/nexus/nexus.py runs them.
include_guard(GLOBAL)

add_executable(nexus_example_hello ${PROJECT_SOURCE_DIR}/examples/nexus/hello.cpp)
target_compile_features(nexus_example_hello PRIVATE cxx_std_20)
target_compile_options(nexus_example_hello PRIVATE -Wall -Wextra)
target_link_libraries(nexus_example_hello PRIVATE margay::nexus)
if(MARGAY_SANITIZE)
  target_compile_options(nexus_example_hello PRIVATE -fsanitize=${MARGAY_SANITIZE})
  target_link_options(nexus_example_hello PRIVATE -fsanitize=${MARGAY_SANITIZE})
endif()
set_target_properties(nexus_example_hello PROPERTIES OUTPUT_NAME hello RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples/nexus)

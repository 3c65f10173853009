# Programs that are built as in a user's project: examples, and tests in the C of their time.

# A program that is compiled with the sanitizer of the libraries. One in C is linked by the C++ compiler, which alone links the
# sanitizer's C++ runtime, as a library in C++ needs it.
function(margay_sanitize target)
  if(MARGAY_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${MARGAY_SANITIZE})
    target_link_options(${target} PRIVATE -fsanitize=${MARGAY_SANITIZE})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()

# margay_user_program(TARGET [NAME name] [FOLDER folder] [OF targets] SOURCES ... LIBRARIES ...): the program examples/FOLDER/NAME
# of the build tree, TARGET without NAME; the custom targets OF build it too.
function(margay_user_program target)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "NAME;FOLDER" "OF;SOURCES;LIBRARIES")
  if(NOT program_NAME)
    set(program_NAME ${target})
  endif()
  add_executable(${target} ${program_SOURCES})
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  target_link_libraries(${target} PRIVATE ${program_LIBRARIES})
  margay_sanitize(${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${program_NAME}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples/${program_FOLDER})
  foreach(whole IN LISTS program_OF)
    add_dependencies(${whole} ${target})
  endforeach()
endfunction()

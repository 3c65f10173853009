# margay_layer(NAME SOURCES... DEPENDS ...): a layer of the house as one static library, margay_NAME.
# Sources are globbed: a layer is exactly what lies in its folder.
add_library(margay_flags INTERFACE)
target_compile_options(margay_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror=return-type
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>
  -fno-semantic-interposition -fno-math-errno)
target_include_directories(margay_flags INTERFACE ${PROJECT_SOURCE_DIR})
# The hardware CRC32C instruction and 16-byte compare-and-swap: every x86-64 since 2009 has both.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(margay_flags INTERFACE -msse4.2 -mcx16)
endif()
if(MARGAY_SANITIZE)
  target_compile_options(margay_flags INTERFACE -fsanitize=${MARGAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(margay_flags INTERFACE -fsanitize=${MARGAY_SANITIZE})
endif()

# MARGAY_DEBUG_ASSERT (portals/base/assert.hpp) is on where speed does not count.
if(MARGAY_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL Debug)
  target_compile_definitions(margay_flags INTERFACE MARGAY_DEBUG_ASSERTIONS)
endif()

# The standard headers that nearly every file includes, read once per target: they are half of a small test's compile
# time, when it is compiled by itself (MARGAY_UNITY).
function(margay_precompile target)
  if(NOT MARGAY_UNITY)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <cstdint> <cstring> <functional> <memory>
      <optional> <span> <string> <string_view> <thread> <vector> ${ARGN})
  endif()
endfunction()

# Structures of up to 256 bytes are cleared and copied by plain moves. The compiler's generic choice for x86, a string
# instruction, takes about 20 cycles: a quarter of the walk was the clearing of its verdict.
set(MARGAY_SMALL_MEMORY "")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(MARGAY_SMALL_MEMORY -mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign
    -mmemcpy-strategy=unrolled_loop:256:noalign,libcall:-1:noalign)
endif()

# The layers' objects hold their code twice, compiled and for the link-time optimizer. The shared libraries are linked
# from the second (cmake/libmpi.cmake): a message goes through five layers, and half of what they cost was calls. Tests
# and tools are linked from the first, in a tenth of the time.
function(margay_link_optimized target)
  cmake_parse_arguments(ARG "COMPILED_ONLY" "" "" ${ARGN})
  if(MARGAY_LINK_OPTIMIZED)
    if(NOT ARG_COMPILED_ONLY)
      target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects)
    endif()
    # Generous inlining: measured 11 % fewer instructions for a received message, 10 % less latency.
    target_compile_options(${target} PRIVATE -finline-functions
      "SHELL:--param max-inline-insns-auto=80" "SHELL:--param max-inline-insns-single=300"
      "SHELL:--param inline-unit-growth=100" ${MARGAY_SMALL_MEMORY}
      # False alarms of this compiler in std::string, once it is inlined so far; the dev preset has these warnings on.
      -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endfunction()
if(MARGAY_LINK_OPTIMIZED)
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-fno-lto>)
endif()

# In the caller: the files that define MPI_X as a weak PMPI_X, out of `sources` into `bindings`.
macro(margay_take_bindings)
  set(bindings)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} aliases REGEX "^MARGAY_(ALIAS|TWINS|COLLECTIVE|SEND|ACCESS)" LIMIT_COUNT 1)
    if(aliases)
      list(APPEND bindings ${source})
    endif()
  endforeach()
  list(REMOVE_ITEM sources ${bindings} "")
endmacro()

function(margay_layer name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;EXCLUDE;ALONE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(pattern IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${CMAKE_CURRENT_SOURCE_DIR}/${pattern}")
  endforeach()
  margay_take_bindings()
  add_library(margay_${name} STATIC ${sources})
  margay_unity(margay_${name} ALONE ${ARG_ALONE})
  target_link_libraries(margay_${name} PUBLIC margay_flags ${ARG_DEPENDS})
  margay_link_optimized(margay_${name})
  if(bindings)
    # The link-time optimizer makes weak names strong: these stay out of it.
    add_library(margay_${name}_bindings OBJECT ${bindings})
    margay_unity(margay_${name}_bindings ALONE ${ARG_ALONE})
    target_link_libraries(margay_${name}_bindings PRIVATE margay_flags ${ARG_DEPENDS})
    margay_link_optimized(margay_${name}_bindings COMPILED_ONLY)
    target_sources(margay_${name} PRIVATE $<TARGET_OBJECTS:margay_${name}_bindings>)
  endif()
endfunction()

# doctest's own program, compiled once for the tests of all layers.
function(margay_doctest_main)
  if(NOT TARGET margay_doctest_main)
    add_library(margay_doctest_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/doctest_main.cpp)
    target_link_libraries(margay_doctest_main PRIVATE margay_flags)
    target_compile_options(margay_doctest_main PRIVATE -O0 -g0)
  endif()
endfunction()

# margay_tests(NAME DEPENDS ... ALONE ...): every *_test.cpp below the current folder in one doctest program, NAME.
function(margay_tests name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;ALONE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  margay_unity(${name} ALONE ${ARG_ALONE})
  margay_doctest_main()
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:margay_doctest_main>)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} fmt::fmt)
  if(CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo)
    # After -O2: a test's own code runs once. Without any, tests under sanitizers run for two minutes more than it saves.
    target_compile_options(${name} PRIVATE -O1)
  endif()
  margay_precompile(${name} <doctest/doctest.h>)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  # Only ends what hangs: sanitizers, with the assertions that only they have, take several times as long.
  set(most 300)
  if(MARGAY_SANITIZE)
    set(most 1200)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${most})
endfunction()

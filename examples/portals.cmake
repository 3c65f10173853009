# The programs on portals without MPI, built as a user's project would, and each a test over every wire: the zoo's words
# are compared with a file. Included where the tests are, with tests/sim/program/ranks.cpp, a program of the same sort.
set(program_tests ${PROJECT_SOURCE_DIR}/tests/sim/program)
function(margay_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE margay::portals)
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  if(MARGAY_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${MARGAY_SANITIZE})
    target_link_options(${name} PRIVATE -fsanitize=${MARGAY_SANITIZE})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
endfunction()
margay_program(portals_pingpong ${CMAKE_CURRENT_LIST_DIR}/portals_pingpong.cpp)
margay_program(portals_zoo ${CMAKE_CURRENT_LIST_DIR}/portals_zoo.cpp)
margay_program(program_ranks ${program_tests}/ranks.cpp)

# margay_program_test(NAME CHECK "LAUNCHER OPTIONS" PROGRAM ARGUMENTS...): CHECK is check_output.sh's first argument.
function(margay_program_test name check options program)
  separate_arguments(options UNIX_COMMAND "${options}")
  add_test(NAME program.${name} COMMAND ${program_tests}/check_output.sh ${check} $<TARGET_FILE:margay> run --timeout 100
    --check-accounting ${options} $<TARGET_FILE:${program}> ${ARGN})
  set_tests_properties(program.${name} PROPERTIES TIMEOUT 120 PROCESSORS 2 LABELS program)
endfunction()
foreach(wires IN ITEMS "shm=-n 2" "four=-n 4" "tcp=-n 2 --nodes 2 --wire-tcp auto" "epoll=-n 2 --nodes 2 --wire-tcp epoll"
    "both=-n 4 --nodes 2")
  string(REGEX MATCH "^[a-z]+" which ${wires})
  string(REGEX REPLACE "^[a-z]+=" "" options ${wires})
  margay_program_test(zoo_${which} ${CMAKE_CURRENT_LIST_DIR}/portals_zoo.expected "${options}" portals_zoo)
  margay_program_test(ranks_${which} --folder "${options}" program_ranks)
endforeach()
margay_program_test(ranks_seven --folder "-n 7 --nodes 3" program_ranks)
# Times are not compared; the exit status says that every ball arrived whole, was acknowledged, and was counted.
foreach(wires IN ITEMS "shm=-n 2" "tcp=-n 2 --nodes 2")
  string(REGEX MATCH "^[a-z]+" which ${wires})
  string(REGEX REPLACE "^[a-z]+=" "" options ${wires})
  separate_arguments(options UNIX_COMMAND "${options}")
  add_test(NAME program.pingpong_${which} COMMAND margay run --timeout 100 --check-accounting ${options}
    $<TARGET_FILE:portals_pingpong> 1000000 10)
  set_tests_properties(program.pingpong_${which} PROPERTIES TIMEOUT 120 PROCESSORS 2 LABELS program)
endforeach()

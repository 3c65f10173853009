# The programs on portals without MPI. Each is a test over every wire; the zoo's output is
# compared with a file. Included by the tests, together with the similar programs of tests/sim/program.
set(program_tests ${PROJECT_SOURCE_DIR}/tests/sim/program)
function(margay_program name)
  margay_user_program(${name} SOURCES ${ARGN} LIBRARIES margay::portals)
endfunction()
margay_program(portals_pingpong ${CMAKE_CURRENT_LIST_DIR}/portals_pingpong.cpp)
margay_program(portals_zoo ${CMAKE_CURRENT_LIST_DIR}/portals_zoo.cpp ${CMAKE_CURRENT_LIST_DIR}/portals_zoo_descriptors.cpp)
margay_program(program_ranks ${program_tests}/ranks.cpp)
margay_program(program_bypass ${program_tests}/bypass.cpp)
margay_program(program_misuse ${program_tests}/misuse.cpp ${program_tests}/misuse_structures.cpp)
margay_program(program_reports ${program_tests}/reports.cpp)
margay_program(program_stands ${program_tests}/stands.cpp)

# margay_program_test(NAME CHECK "LAUNCHER OPTIONS" PROGRAM ARGUMENTS...): CHECK is check_output.sh's first argument.
function(margay_program_test name check options program)
  separate_arguments(options UNIX_COMMAND "${options}")
  add_test(NAME program.${name} COMMAND ${program_tests}/check_output.sh ${check} $<TARGET_FILE:margay> run --timeout 100
    --check-accounting ${options} $<TARGET_FILE:${program}> ${ARGN})
  set_tests_properties(program.${name} PROPERTIES TIMEOUT 120 PROCESSORS 3 LABELS program)
endfunction()
foreach(wires IN ITEMS "shm=-n 2" "four=-n 4" "tcp=-n 2 --nodes 2 --wire-tcp auto" "epoll=-n 2 --nodes 2 --wire-tcp epoll"
    "both=-n 4 --nodes 2")
  string(REGEX MATCH "^[a-z]+" which ${wires})
  string(REGEX REPLACE "^[a-z]+=" "" options ${wires})
  margay_program_test(zoo_${which} ${CMAKE_CURRENT_LIST_DIR}/portals_zoo.expected "${options}" portals_zoo)
  margay_program_test(ranks_${which} --folder "${options}" program_ranks)
endforeach()
margay_program_test(ranks_seven --folder "-n 7 --nodes 3" program_ranks)
foreach(wires IN ITEMS "shm=-n 2" "uring=-n 2 --nodes 2 --wire-tcp uring" "epoll=-n 2 --nodes 2 --wire-tcp epoll")
  string(REGEX MATCH "^[a-z]+" which ${wires})
  string(REGEX REPLACE "^[a-z]+=" "" options ${wires})
  separate_arguments(options UNIX_COMMAND "${options}")
  add_test(NAME program.bypass_${which} COMMAND margay run --timeout 100 --check-accounting ${options}
    $<TARGET_FILE:program_bypass>)
  set_tests_properties(program.bypass_${which} PROPERTIES TIMEOUT 120 PROCESSORS 3 LABELS program)
endforeach()
add_test(NAME program.misuse COMMAND program_misuse)
set_tests_properties(program.misuse PROPERTIES TIMEOUT 120 LABELS program)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME program.reports COMMAND ${Python3_EXECUTABLE} ${program_tests}/reports.py $<TARGET_FILE:margay>
  $<TARGET_FILE:program_reports>)
set_tests_properties(program.reports PROPERTIES TIMEOUT 240 PROCESSORS 2 LABELS program)
add_test(NAME program.walks_in_trace COMMAND ${Python3_EXECUTABLE} ${program_tests}/walks_in_trace.py $<TARGET_FILE:margay>
  $<TARGET_FILE:portals_zoo>)
set_tests_properties(program.walks_in_trace PROPERTIES TIMEOUT 240 PROCESSORS 2 LABELS program)
find_program(MARGAY_NODE node)
if(MARGAY_NODE AND NOT MARGAY_SANITIZE)
  add_test(NAME program.stands COMMAND ${Python3_EXECUTABLE} ${program_tests}/stands.py $<TARGET_FILE:margay>
    $<TARGET_FILE:program_stands> ${MARGAY_NODE} ${PROJECT_SOURCE_DIR}/viewer)
  # Status 77: margay was built without its page.
  set_tests_properties(program.stands PROPERTIES TIMEOUT 240 PROCESSORS 2 LABELS program SKIP_RETURN_CODE 77)
endif()
# Times are not compared; the exit status shows that every ball arrived whole, was acknowledged, and was counted.
foreach(wires IN ITEMS "shm=-n 2" "tcp=-n 2 --nodes 2")
  string(REGEX MATCH "^[a-z]+" which ${wires})
  string(REGEX REPLACE "^[a-z]+=" "" options ${wires})
  separate_arguments(options UNIX_COMMAND "${options}")
  add_test(NAME program.pingpong_${which} COMMAND margay run --timeout 100 --check-accounting ${options}
    $<TARGET_FILE:portals_pingpong> 1000000 10)
  set_tests_properties(program.pingpong_${which} PROPERTIES TIMEOUT 120 PROCESSORS 3 LABELS program)
endforeach()
if(NOT MARGAY_SANITIZE)
  add_test(NAME program.install COMMAND ${program_tests}/install_test.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  set_tests_properties(program.install PROPERTIES TIMEOUT 300 PROCESSORS 3 LABELS program)
endif()

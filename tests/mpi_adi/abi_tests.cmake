# The tests of the ABI that are not doctest programs. Included after libmpi is defined as a target.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(abi_scripts ${CMAKE_CURRENT_LIST_DIR})

# Both look for MPICH's header when they run, because scripts/test installs libmpich-dev after it has configured.
foreach(what IN ITEMS values prototypes)
  add_test(NAME abi_${what} COMMAND Python3::Interpreter ${abi_scripts}/abi_probe.py ${what}
    ${PROJECT_SOURCE_DIR}/mpi_adi/abi)
  set_tests_properties(abi_${what} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
endforeach()
add_test(NAME abi_exports COMMAND Python3::Interpreter ${abi_scripts}/abi_exports.py $<TARGET_FILE:mpi>
  ${PROJECT_SOURCE_DIR}/mpi_adi/abi)
add_test(NAME mpi_coverage COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/coverage --library $<TARGET_FILE:mpi>)
add_test(NAME abi_wrappers COMMAND ${abi_scripts}/abi_wrapper_test.sh ${PROJECT_BINARY_DIR})
# A sanitized library is not meant for installation.
if(NOT MARGAY_SANITIZE)
  add_test(NAME abi_install COMMAND ${abi_scripts}/abi_install_test.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  add_test(NAME abi_link COMMAND ${abi_scripts}/abi_link_test.sh ${PROJECT_BINARY_DIR})
  add_test(NAME abi_fortran COMMAND ${abi_scripts}/abi_fortran_test.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(abi_link abi_fortran PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
endif()
set_tests_properties(abi_exports abi_wrappers PROPERTIES TIMEOUT 60)

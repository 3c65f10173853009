# The example library and its program.
margay_user_program(counter SOURCES ${CMAKE_CURRENT_LIST_DIR}/main.cpp ${CMAKE_CURRENT_LIST_DIR}/counter.cpp LIBRARIES margay::host)

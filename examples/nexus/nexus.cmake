# The programs on Nexus. tests/libraries/nexus/nexus.py runs them.
margay_user_program(nexus_example_hello NAME hello FOLDER nexus SOURCES ${CMAKE_CURRENT_LIST_DIR}/hello.cpp LIBRARIES margay::nexus)

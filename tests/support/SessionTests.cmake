# cellblock_add_session_tests(<name> LABEL … SUITES Name … SOURCES … [TIMEOUT seconds]): one GoogleTest executable over whole sessions,
# registered with ctest as <label>.<Name>, one test for each suite <Name>Test. A case of a suite that is not listed fails the build's
# test <label>.suites_are_registered, so that none is forgotten.
function(cellblock_add_session_tests name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SUITES;SOURCES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES} "${PROJECT_SOURCE_DIR}/tests/support/session_fixture.cc")
  cellblock_target_defaults(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/host ${PROJECT_SOURCE_DIR}/host/include ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE cellblock_session GTest::gmock GTest::gtest GTest::gtest_main)
  add_dependencies(${name} cellblock-guest cellblock-init)
  target_compile_definitions(${name} PRIVATE "CELLBLOCK_TEST_PYTHON_ENV=\"${PROJECT_SOURCE_DIR}/build/python_env/full\""
    "CELLBLOCK_TEST_LIBEXEC=\"$<TARGET_FILE_DIR:cellblock-guest>\"" "CELLBLOCK_TEST_SOURCE=\"${PROJECT_SOURCE_DIR}\"")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  set(listed "")
  foreach(suite IN LISTS ARG_SUITES)
    # Suite names of parametrised cases have a prefix: Prefix/NameTest.Case/0.
    add_test(NAME ${ARG_LABEL}.${suite} COMMAND ${name} --gtest_filter=${suite}Test.*:*/${suite}Test.*)
    set_tests_properties(${ARG_LABEL}.${suite} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} FAIL_REGULAR_EXPRESSION "0 tests from 0 test suites ran")
    string(APPEND listed ":${suite}Test.*:*/${suite}Test.*")
  endforeach()
  add_test(NAME ${ARG_LABEL}.suites_are_registered COMMAND ${name} --gtest_filter=-${listed})
  set_tests_properties(${ARG_LABEL}.suites_are_registered PROPERTIES LABELS ${ARG_LABEL} PASS_REGULAR_EXPRESSION "0 tests from 0 test suites ran")
endfunction()

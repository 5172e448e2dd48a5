# One function per kind of target, so that every room gets the same warnings, hardening and include root.

option(CELLBLOCK_HARDEN "Hardening flags for shipped executables" OFF)
find_program(CCACHE_PROGRAM ccache)

# Flags every target of ours gets. Private: a consumer of the installed library never sees them.
function(cellblock_target_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  if(CCACHE_PROGRAM)
    # Paths below the source folder count as relative, so that another clone finds what this one has compiled.
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_NOHASHDIR=1;${CCACHE_PROGRAM}")
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-unused-parameter -Wno-missing-field-initializers)
  if(CELLBLOCK_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CELLBLOCK_HARDEN)
    target_compile_options(${target} PRIVATE -fstack-protector-strong -fstack-clash-protection -fcf-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack)
  endif()
  if(CELLBLOCK_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${CELLBLOCK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PUBLIC -Wno-mismatched-new-delete)  # GCC 12 takes the frames of Asio's coroutines for such
    endif()
    if(CELLBLOCK_SANITIZE STREQUAL "thread")
      target_compile_options(${target} PUBLIC -Wno-error=tsan)  # Asio's fences, which ThreadSanitizer does not see: its locks are beside them
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${CELLBLOCK_SANITIZE})
    target_compile_definitions(${target} PUBLIC CELLBLOCK_SANITIZED=1)
  endif()
  if(CELLBLOCK_TEST_LAYER_SWITCHES)
    target_compile_definitions(${target} PRIVATE CELLBLOCK_TEST_LAYER_SWITCHES=1)
  endif()
endfunction()

# cellblock_add_room(<room> SOURCES a.cc … DEPENDS targets …): a static library cellblock_<room>; includes start at host/.
function(cellblock_add_room room)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  set(name cellblock_${room})
  if(ARG_NAME)
    set(name ${ARG_NAME})
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  cellblock_target_defaults(${name})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/host> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/host/include>)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
endfunction()

# cellblock_add_test(<name> LABEL unit|confine|integration|escape|soak [PARSE] SOURCES … DEPENDS … [TIMEOUT seconds]): one GoogleTest
# executable. Unit tests register case by case; confine tests run each case in an own process, since locking down cannot be undone.
function(cellblock_add_test name)
  cmake_parse_arguments(ARG "PARSE" "LABEL;TIMEOUT" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  # One word, not a list: gtest_discover_tests flattens lists and would lose both the second label and the time-out. `ctest -L parse`
  # and `-L unit` match it alike.
  set(labels ${ARG_LABEL})
  if(ARG_PARSE)
    string(APPEND labels "-parse")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  cellblock_target_defaults(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/host ${PROJECT_SOURCE_DIR}/host/include ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS "${labels}" TIMEOUT ${ARG_TIMEOUT})
endfunction()

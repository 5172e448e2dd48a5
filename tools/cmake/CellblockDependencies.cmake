# Finds what the rooms build on. Each one's reason stands in docs/decisions/.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp>=2.5)
find_package(yaml-cpp REQUIRED)
if(NOT TARGET yaml-cpp::yaml-cpp)  # Debian 12's 0.7 exports the plain name
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
find_package(CLI11 REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
# By pkg-config: the CMake package would also look for what its HTTP server and its push client need, which are not used.
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core>=1.0)
find_library(MAGIC_LIBRARY magic REQUIRED)
# Another Python may stand first on PATH; the guest embeds the system's.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "The interpreter whose library the guest embeds")
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Embed)
find_package(pybind11 REQUIRED)

if(CELLBLOCK_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(CELLBLOCK_BUILD_PERF)
  find_package(benchmark REQUIRED)
endif()

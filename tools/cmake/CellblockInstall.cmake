# Installs the programs, the library with its package files, the guest's Python side and the shipped policies.
include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/cellblock")

install(TARGETS cellblock_host EXPORT cellblockTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(PROGRAMS $<TARGET_FILE:cellblock-guest> $<TARGET_FILE:cellblock-init> $<TARGET_FILE:cellblock-egress> DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/cellblock)
install(DIRECTORY "${CMAKE_BINARY_DIR}/guest" DESTINATION ${CMAKE_INSTALL_DATADIR}/cellblock)
install(DIRECTORY policies DESTINATION ${CMAKE_INSTALL_DATADIR}/cellblock FILES_MATCHING PATTERN "*.yaml")
install(FILES tools/hardening/apparmor-cellblock DESTINATION ${CMAKE_INSTALL_DATADIR}/cellblock/hardening)
# The unit names the program where it is installed, which `cmake --install --prefix` says last.
install(CODE "get_filename_component(bin \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\" ABSOLUTE)
  configure_file(\"${PROJECT_SOURCE_DIR}/tools/systemd/cellblock.service.in\" \"${CMAKE_BINARY_DIR}/cellblock.service\" @ONLY)")
install(FILES "${CMAKE_BINARY_DIR}/cellblock.service" DESTINATION lib/systemd/system)
install(EXPORT cellblockTargets NAMESPACE cellblock:: DESTINATION ${package_folder})
configure_package_config_file(tools/cmake/cellblockConfig.cmake.in "${CMAKE_BINARY_DIR}/cellblockConfig.cmake" INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/cellblockConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/cellblockConfig.cmake" "${CMAKE_BINARY_DIR}/cellblockConfigVersion.cmake" DESTINATION ${package_folder})

# Makes Debian packages, one for each component, and a rock for LuaRocks.
#
#   cpack --config build/release/CPackConfig.cmake -B FOLDER
#   luarocks --lua-version 5.4 make build/release/crescent-VERSION-1.rockspec

set(CRESCENT_DOCUMENTS README.md CHANGELOG.md core/README.md formats/README.md plugins/README.md
  shell/README.md)
# They are in the package of the guide, to which they link.
foreach(document IN LISTS CRESCENT_DOCUMENTS)
  crescent_install_document("${document}" program)
endforeach()
crescent_install_document(examples/README.md examples)
install(FILES LICENSE NOTICE DESTINATION share/doc/crescent)
configure_file("${PROJECT_SOURCE_DIR}/shell/crescent.rockspec.in"
  "${CMAKE_BINARY_DIR}/crescent-${PROJECT_VERSION}-1.rockspec" @ONLY)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME crescent)
set(CPACK_PACKAGE_CONTACT "Crescent maintainers <crescent@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library program lua dev examples)
if(TARGET plugin_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Library, plugins and file formats")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Program, its manual and guide")
set(CPACK_COMPONENT_LUA_DESCRIPTION "Module for Lua 5.4")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers and CMake package")
set(CPACK_COMPONENT_EXAMPLES_DESCRIPTION "Examples with their data")
set(CPACK_COMPONENT_MPI_DESCRIPTION "Training on several machines by Open MPI")
foreach(part PROGRAM LUA DEV MPI)
  set(CPACK_COMPONENT_${part}_DEPENDS library)
endforeach()
set(CPACK_COMPONENT_EXAMPLES_DEPENDS program)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME
  "libcrescent${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME crescent)
set(CPACK_DEBIAN_LUA_PACKAGE_NAME lua-crescent)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libcrescent-dev)
set(CPACK_DEBIAN_EXAMPLES_PACKAGE_NAME crescent-examples)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME crescent-mpi)
# oneDNN and OpenBLAS, which the plugin of the CPU device loads when it first needs them
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libdnnl2, libopenblas0-serial")
# the converter of Markdown, which `crescent manual` loads
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS libmd4c-html0)
set(CPACK_DEBIAN_LUA_PACKAGE_DEPENDS lua5.4)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS openmpi-bin)
# Debian's tools find out the packages of the shared libraries that are linked. Libraries of this
# project are found in the build folder.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)  # headers and sources link nothing
set(CPACK_DEBIAN_EXAMPLES_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_BINARY_DIR}/lib")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/core/cmake/CrescentPackageDate.cmake")
set(CPACK_CRESCENT_CHANGES "${PROJECT_SOURCE_DIR}/CHANGELOG.md")
# This script adds the files that Debian demands of each package.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/core/cmake/CrescentDebian.cmake")
set(CPACK_CRESCENT_NOTICE "${PROJECT_SOURCE_DIR}/NOTICE")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/core/cmake/debian/triggers")
include(CPack)

# crescent_add_plugin_library(name file...)
#
# The common part of all plugins: the target plugin_<name> builds the library name.so in the top
# folder of the build. The library exports only marked symbols, and linking fails if a symbol that
# it uses is undefined.
function(crescent_add_plugin_library name)
  set(target plugin_${name})
  add_library(${target} MODULE ${ARGN})
  target_link_options(${target} PRIVATE -Wl,-z,defs)
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} SUFFIX ".so"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
endfunction()

# Fails if the installed headers declare something else than those with which the library was built:
# plugins built with them would be accepted, and crash.
function(crescent_check_headers)
  set(headers "${Crescent_INCLUDE_DIR}/crescent")
  set(hash "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/crescent_headers_hash.h")
  if(NOT EXISTS "${Crescent_STAMP_PROGRAM}")
    message(WARNING "The headers of Crescent in ${headers} are not compared with the library, "
      "because there is no '${Crescent_STAMP_PROGRAM}'")
    return()
  endif()
  execute_process(COMMAND "${Crescent_STAMP_PROGRAM}" "${headers}" "${hash}"
    COMMAND_ERROR_IS_FATAL ANY)
  file(READ "${headers}/headers_hash.h" expected_hash)
  file(READ "${hash}" actual_hash)
  if(NOT actual_hash STREQUAL expected_hash)
    message(FATAL_ERROR "The headers of Crescent in ${headers} were changed since the library was "
      "built: a plugin built with them would crash. Install Crescent again.")
  endif()
endfunction()

# crescent_add_plugin(NAME name SOURCES file... [LIBRARIES library...] [EXAMPLES file...]
#   [COMPONENT component])
#
# Builds a plugin from the given sources, linked with crescent::core and the given libraries.
# Plugins of this tree are built and installed in lib/crescent/plugins. In other projects, after
# find_package(Crescent), name.so and the examples for help texts are put into the top folder of the
# build. With COMPONENT, a plugin of this tree gets a package of its own, because it needs libraries
# that only some users have.
function(crescent_add_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 plugin "" "NAME;COMPONENT" "SOURCES;LIBRARIES;EXAMPLES")
  if(NOT plugin_NAME OR NOT plugin_SOURCES OR plugin_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "crescent_add_plugin(NAME name SOURCES file... [LIBRARIES library...] "
      "[EXAMPLES file...] [COMPONENT component]): got ${ARGV}")
  endif()

  set(target plugin_${plugin_NAME})
  crescent_add_plugin_library(${plugin_NAME} ${plugin_SOURCES})
  target_link_libraries(${target} PRIVATE crescent::core ${plugin_LIBRARIES})
  # Unique symbols (STB_GNU_UNIQUE) would prevent the library from being unloaded, and would
  # silently merge objects of different plugins.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  foreach(file IN LISTS plugin_EXAMPLES)
    configure_file("${file}" "${CMAKE_BINARY_DIR}" COPYONLY)
  endforeach()

  if(CRESCENT_PLUGIN_OUTPUT_DIR)
    crescent_compile_together(${target})
    set_target_properties(${target} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY "${CRESCENT_PLUGIN_OUTPUT_DIR}"
      INSTALL_RPATH "$ORIGIN/../..")
    if(NOT plugin_COMPONENT)
      set(plugin_COMPONENT "${CMAKE_INSTALL_DEFAULT_COMPONENT_NAME}")
    endif()
    install(TARGETS ${target} LIBRARY DESTINATION ${CRESCENT_PLUGIN_DIR}
      COMPONENT ${plugin_COMPONENT})
    set_property(GLOBAL APPEND PROPERTY CRESCENT_PLUGIN_TARGETS ${target})
  elseif(Crescent_STAMP_PROGRAM)
    crescent_check_headers()
  endif()
endfunction()

# crescent_add_table_plugin(NAME name SOURCES file... [LIBRARIES library...])
#
# Builds a plugin whose classes are described by a C table (crescent_plugin.h). It is not linked
# with Crescent, so later versions of Crescent can load the same file.
function(crescent_add_table_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 plugin "" "NAME" "SOURCES;LIBRARIES")
  if(NOT plugin_NAME OR NOT plugin_SOURCES OR plugin_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "crescent_add_table_plugin(NAME name SOURCES file... "
      "[LIBRARIES library...]): got ${ARGV}")
  endif()
  set(target plugin_${plugin_NAME})
  crescent_add_plugin_library(${plugin_NAME} ${plugin_SOURCES})
  target_include_directories(${target} PRIVATE
    $<TARGET_PROPERTY:crescent::c,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${target} PRIVATE ${plugin_LIBRARIES})
endfunction()

# crescent_add_plugin_library(name file...)
#
# What all plugins have in common: the target plugin_<name> is the library name.so in the top of the
# build folder. It exports the symbols that are marked, and those that it uses must be found while
# linking.
function(crescent_add_plugin_library name)
  set(target plugin_${name})
  add_library(${target} MODULE ${ARGN})
  target_link_options(${target} PRIVATE -Wl,-z,defs)
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} SUFFIX ".so"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
endfunction()

# crescent_add_plugin(NAME name SOURCES file... [LIBRARIES library...] [EXAMPLES file...]
#   [COMPONENT component])
#
# Builds one plugin from the given sources. It links crescent::core and the given libraries, nothing
# else. The same function serves the plugins of this tree, which go to lib/crescent/plugins and are
# installed there, and projects of others after find_package(Crescent), where name.so is put into
# the top of the build folder, with the examples that help shows of what it has. A plugin of this
# tree whose libraries only some users have is in a component, and so in a package, of its own.
function(crescent_add_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 plugin "" "NAME;COMPONENT" "SOURCES;LIBRARIES;EXAMPLES")
  if(NOT plugin_NAME OR NOT plugin_SOURCES OR plugin_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "crescent_add_plugin(NAME name SOURCES file... [LIBRARIES library...] "
      "[EXAMPLES file...] [COMPONENT component]): got ${ARGV}")
  endif()

  set(target plugin_${plugin_NAME})
  crescent_add_plugin_library(${plugin_NAME} ${plugin_SOURCES})
  target_link_libraries(${target} PRIVATE crescent::core ${plugin_LIBRARIES})
  # No unique symbols: they would tie the library to the process for ever and merge objects of
  # different plugins behind our back.
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
  endif()
endfunction()

# crescent_add_table_plugin(NAME name SOURCES file... [LIBRARIES library...])
#
# Builds a plugin whose classes are in a table of C (crescent_plugin.h). It links nothing of
# Crescent, so that every later host loads the same file.
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

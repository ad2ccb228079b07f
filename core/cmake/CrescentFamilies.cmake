# Adds the plugins in a folder without a list of their names, and writes the index of their classes.

# Adds every folder in `root`. A folder with a CMakeLists.txt is added by that file; a folder with
# sources but no CMakeLists.txt becomes a plugin with the name of the folder. Other folders are
# skipped.
function(crescent_add_families root)
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true "${root}/*")
  foreach(folder IN LISTS folders)
    if(NOT IS_DIRECTORY "${folder}")
      continue()
    endif()
    file(GLOB own_sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    if(EXISTS "${folder}/CMakeLists.txt")
      add_subdirectory("${folder}")
    elseif(own_sources)
      cmake_path(GET folder FILENAME name)
      crescent_add_plugin(NAME ${name} SOURCES ${sources})
    endif()
  endforeach()
endfunction()

# Copies the examples for help texts (*.examples) and the notes on classes for the manual (*.notes)
# from `root` and the folders below to the folder of the plugins.
function(crescent_add_examples root)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${root}/*.examples" "${root}/*.notes")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    configure_file("${file}" "${CRESCENT_PLUGIN_OUTPUT_DIR}/${name}" COPYONLY)
  endforeach()
  install(FILES ${files} DESTINATION ${CRESCENT_PLUGIN_DIR})
endfunction()

# Writes lib/crescent/plugins/index.json, which maps the names of classes to libraries, so that a
# built-in plugin is loaded when one of its classes is first used. crescent-index loads all plugins
# after they are built, to find out their classes. The target plugin_index is defined in the folder
# plugins, so that `ninja plugins/all` writes the index.
function(crescent_write_plugin_index)
  get_property(plugins GLOBAL PROPERTY CRESCENT_PLUGIN_TARGETS)
  set(index "${CRESCENT_PLUGIN_OUTPUT_DIR}/index.json")
  add_custom_command(OUTPUT "${index}"
    COMMAND crescent-index "${CRESCENT_PLUGIN_OUTPUT_DIR}"
    DEPENDS crescent-index crescent ${plugins}
    COMMENT "Writing the index of plugins"
    VERBATIM)
  add_custom_target(written_plugin_index DEPENDS "${index}")
  add_dependencies(plugin_index written_plugin_index)
  install(FILES "${index}" DESTINATION ${CRESCENT_PLUGIN_DIR})
endfunction()

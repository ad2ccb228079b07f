# Folders of plugins, added without a list to maintain, and the index of what they contain.

# Adds every folder in `root`: one with a CMakeLists.txt by that file, one with only sources as a
# single plugin named after the folder. A folder of folders is left alone.
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

# Puts the examples for help, *.examples below `root`, and what the manual says of classes beside
# their options, *.notes, beside the plugins.
function(crescent_add_examples root)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${root}/*.examples" "${root}/*.notes")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    configure_file("${file}" "${CRESCENT_PLUGIN_OUTPUT_DIR}/${name}" COPYONLY)
  endforeach()
  install(FILES ${files} DESTINATION ${CRESCENT_PLUGIN_DIR})
endfunction()

# lib/crescent/plugins/index.json: type name -> library, so that a built-in plugin is loaded when
# one of its names is first used. Written by asking the plugins themselves, after all of them are
# built. The target plugin_index is in the folder plugins, so that `ninja plugins/all` writes it.
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

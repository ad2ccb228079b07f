# CPack runs this script first. The time stamps in packages are the date of the newest version in
# the list of changes, so that packages of the same files have the same bytes; SOURCE_DATE_EPOCH,
# if it is set, is another time in seconds.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  file(STRINGS "${CPACK_CRESCENT_CHANGES}" version REGEX "^## .* \\([0-9-]+\\)$" LIMIT_COUNT 1)
  string(REGEX REPLACE ".*\\((.*)\\)" "\\1" date "${version}")
  execute_process(COMMAND date --utc --date "${date}" +%s OUTPUT_VARIABLE seconds
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(ENV{SOURCE_DATE_EPOCH} ${seconds})
endif()

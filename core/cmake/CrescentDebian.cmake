# CPack runs this script when the files of all packages are in their folders. It adds the copyright
# and the changelog that Debian's policy demands of each package, and compresses manual pages.
cmake_minimum_required(VERSION 3.25)
find_program(GZIP gzip REQUIRED)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(READ "${CPACK_CRESCENT_NOTICE}" notice)
string(STRIP "${notice}" notice)
string(REGEX REPLACE "\n\n" "\n.\n" notice "${notice}")
string(REPLACE "\n" "\n " notice "${notice}")

foreach(part IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${part}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(share "${CPACK_TEMPORARY_DIRECTORY}/${part}${CPACK_PACKAGING_INSTALL_PREFIX}/share")
  set(documents "${share}/doc/${package}")
  file(WRITE "${documents}/copyright"
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Crescent

Files: *
Copyright: 2026 The Crescent authors
License: Apache-2.0
Comment:
 ${notice}

License: Apache-2.0
 On Debian systems, the text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")
  file(WRITE "${documents}/changelog"
"${package} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * The changes are in /usr/share/doc/crescent/CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB_RECURSE pages "${share}/man/*.[1-9]")
  execute_process(COMMAND "${GZIP}" -9n "${documents}/changelog" ${pages}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()

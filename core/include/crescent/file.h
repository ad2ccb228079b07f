// Opening the files that users name.
#pragma once
#include <string>

#include "crescent/export.h"

namespace crescent {

/// The descriptor of a regular file that is open for reading; the caller closes it. Anything else (a FIFO, a socket, a
/// device, a directory) fails with a message: it could be waited for without end.
CRESCENT_API int open_regular_file(const std::string& path);
/// All bytes of a regular file.
CRESCENT_API std::string read_file(const std::string& path);

}  // namespace crescent

// Crescent's folders in the user's home, as the XDG Base Directory Specification places them.
#pragma once
#include <string>

#include "crescent/base/export.h"

namespace crescent {

/// The kinds of user folders in the XDG Base Directory Specification.
enum class UserFolder { cache, config, data, state };

/// The absolute path of Crescent's folder, for example $XDG_CACHE_HOME/crescent, or
/// ~/.cache/crescent where that variable is no absolute path. The folder may not exist. The path is
/// empty if the user has no home folder, and in programs that run with the rights of another user
/// (setuid).
CRESCENT_API std::string user_folder(UserFolder folder);

}  // namespace crescent

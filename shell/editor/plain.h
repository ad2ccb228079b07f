// Reading of blocks without editing: from files, pipes and terminals that cannot move their cursor.
#pragma once
#include "editor.h"

namespace crescent::editor {

/// Reads lines of standard input until the block is complete. The end of the input cancels a block
/// that was begun at a terminal, and ends one that comes from a file.
Editor::Result read_plain(const Callbacks& callbacks, const Settings& settings, std::string& entry);

}  // namespace crescent::editor

// Reading of entries without editing: from files, pipes and terminals that cannot move their
// cursor.
#pragma once
#include "editor.h"

namespace crescent::editor {

/// Reads lines of standard input until the entry is complete. The end of the input cancels an entry
/// that was begun at a terminal, and ends an entry that comes from a file.
Editor::Result read_plain(const Callbacks& callbacks, const Settings& settings, std::string& entry);

}  // namespace crescent::editor

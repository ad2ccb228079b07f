// Editing a text by the program that the user prefers for it.
#pragma once
#include <string>

namespace crescent::editor {

/// Runs $VISUAL or $EDITOR on a file with the text, which becomes what the file holds then. False,
/// and the text stays, when there is no such program or it fails.
bool edit_externally(std::string& text);

}  // namespace crescent::editor

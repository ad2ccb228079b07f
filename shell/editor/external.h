// Edits a text in the editor program that the user prefers.
#pragma once
#include <string>

namespace crescent::editor {

/// Runs $VISUAL or $EDITOR on a file with the text, and reads the text back. Returns false, and
/// leaves the text unchanged, when there is no such program or it fails.
bool edit_externally(std::string& text);

}  // namespace crescent::editor

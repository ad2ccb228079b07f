#include "editor.h"

#include <cstdio>

#include "plain.h"
#include "session.h"

namespace crescent::editor {

Editor::Editor(Callbacks callbacks, Settings settings)
    : callbacks_(std::move(callbacks)),
      settings_(std::move(settings)),
      session_(std::make_unique<Session>(callbacks_, settings_)) {}

Editor::~Editor() = default;

bool Editor::can_edit() const { return session_->can_edit(); }

Editor::Result Editor::read(std::string& entry) {
  std::fflush(stdout);
  return can_edit() ? session_->edit(entry) : read_plain(callbacks_, settings_, entry);
}

void wake_editor() { Wakeups::wake(); }

}  // namespace crescent::editor

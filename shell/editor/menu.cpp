#include "menu.h"

#include <algorithm>

#include "screen/letters.h"

namespace crescent::editor {
namespace {

int width_of_name(const Candidate& candidate) {
  CellRow row;
  append(row, candidate.text, Style::plain, 1000);
  return width_of(row);
}

CellRow row_of_candidate(const Candidate& candidate, bool selected, int names, int columns) {
  CellRow row;
  append(row, candidate.text, selected ? Style::chosen : Style::plain, std::min(names, columns));
  if (candidate.help.empty()) return row;
  const auto gap = static_cast<size_t>(names + 2 - width_of(row));
  append(row, std::string(gap, ' '), Style::plain, columns);
  append(row, candidate.help.substr(0, candidate.help.find('\n')), Style::faint, columns);
  return row;
}

}  // namespace

const Candidate* Menu::selected() const {
  return selected_ < 0 ? nullptr : &completions_.candidates[static_cast<size_t>(selected_)];
}

void Menu::open(Completions completions, std::string typed_text) {
  completions_ = std::move(completions);
  typed_text_ = std::move(typed_text);
  selected_ = -1;
}

void Menu::step(int by) {
  const int count = static_cast<int>(completions_.candidates.size());
  selected_ = selected_ < 0 && by < 0 ? count - 1 : (selected_ + by + count) % count;
}

std::vector<CellRow> Menu::rows(size_t most, int columns) const {
  const std::vector<Candidate>& all = completions_.candidates;
  const size_t shown = std::min(all.size(), most), selected = static_cast<size_t>(selected_ + 1);
  const size_t first = selected > shown ? selected - shown : 0;
  int names = 0;
  for (size_t i = first; i < first + shown; ++i) names = std::max(names, width_of_name(all[i]));
  names = std::min(names, columns * 2 / 3);
  std::vector<CellRow> rows;
  for (size_t i = first; i < first + shown; ++i)
    rows.push_back(row_of_candidate(all[i], i + 1 == selected, names, columns - 1));
  if (shown < all.size() && !rows.empty()) {
    rows.emplace_back();
    const std::string count = std::to_string(first + shown) + " of " + std::to_string(all.size());
    append(rows.back(), count, Style::faint, columns - 1);
  }
  return rows;
}

std::string common_start(const std::vector<Candidate>& candidates) {
  std::string start = candidates.front().text;
  for (const Candidate& candidate : candidates) {
    const auto end =
        std::mismatch(start.begin(), start.end(), candidate.text.begin(), candidate.text.end())
            .first;
    start.erase(end, start.end());
  }
  return start.substr(0, whole_characters(start));
}

}  // namespace crescent::editor

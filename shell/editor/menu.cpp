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

CellRow row_of_candidate(const Candidate& candidate, bool is_selected, int names_width,
                         int columns) {
  CellRow row;
  append(row, candidate.text, is_selected ? Style::chosen : Style::plain,
         std::min(names_width, columns));
  if (candidate.help.empty()) return row;
  const auto gap = static_cast<size_t>(names_width + 2 - width_of(row));
  append(row, std::string(gap, ' '), Style::plain, columns);
  append(row, candidate.help.substr(0, candidate.help.find('\n')), Style::faint, columns);
  return row;
}

}  // namespace

const Candidate* Menu::selected_candidate() const {
  return selected_index_ < 0 ? nullptr
                             : &completions_.candidates[static_cast<size_t>(selected_index_)];
}

void Menu::open(Completions completions, std::string typed_text) {
  completions_ = std::move(completions);
  typed_text_ = std::move(typed_text);
  selected_index_ = -1;
}

void Menu::step(int direction) {
  const int count = static_cast<int>(completions_.candidates.size());
  selected_index_ = selected_index_ < 0 && direction < 0
                        ? count - 1
                        : (selected_index_ + direction + count) % count;
}

std::vector<CellRow> Menu::rows(size_t max_rows, int columns) const {
  const std::vector<Candidate>& candidates = completions_.candidates;
  const size_t shown_count = std::min(candidates.size(), max_rows),
               selected_number = static_cast<size_t>(selected_index_ + 1);
  const size_t first_index = selected_number > shown_count ? selected_number - shown_count : 0;
  int names_width = 0;
  for (size_t i = first_index; i < first_index + shown_count; ++i)
    names_width = std::max(names_width, width_of_name(candidates[i]));
  names_width = std::min(names_width, columns * 2 / 3);
  std::vector<CellRow> rows;
  for (size_t i = first_index; i < first_index + shown_count; ++i)
    rows.push_back(
        row_of_candidate(candidates[i], i + 1 == selected_number, names_width, columns - 1));
  if (shown_count < candidates.size() && !rows.empty()) {
    rows.emplace_back();
    const std::string count =
        std::to_string(first_index + shown_count) + " of " + std::to_string(candidates.size());
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

#include "layout.h"

#include <algorithm>

#include "letters.h"

namespace crescent::editor {
namespace {

/// A part of the text that fills one row of the terminal, with the prompt before it.
struct Section {
  size_t begin, end;
  std::string_view prompt;
};

class RowBreaker {
 public:
  RowBreaker(std::string_view text, const Prompts& prompts, int columns)
      : text_(text), prompts_(prompts), columns_(columns) {}

  /// Breaks the text into rows. A cursor behind the last cell of a full row gets an empty row.
  std::vector<Section> sections(size_t cursor) {
    begin_row(0, prompts_.first);
    for (size_t begin = 0, end; begin < text_.size(); begin = end) {
      end = next_letter(text_, begin);
      if (text_[begin] == '\n')
        end_line(begin, cursor), begin_row(begin + 1, prompts_.next);
      else
        add_letter(begin, end);
    }
    end_line(text_.size(), cursor);
    return std::move(sections_);
  }

 private:
  void begin_row(size_t begin, std::string_view prompt) {
    if (columns_ <= static_cast<int>(prompt.size())) prompt = "";
    sections_.push_back({begin, begin, prompt});
    column_ = static_cast<int>(prompt.size());
  }
  void add_letter(size_t begin, size_t end) {
    int width = width_of(text_.substr(begin, end - begin), column_);
    if (column_ + width > columns_) {
      begin_row(begin, "");
      width = width_of(text_.substr(begin, end - begin), column_);
    }
    column_ += width;
    sections_.back().end = end;
  }
  void end_line(size_t offset, size_t cursor) {
    if (cursor == offset && column_ >= columns_) begin_row(offset, "");
  }

  std::string_view text_;
  const Prompts& prompts_;
  int columns_, column_ = 0;
  std::vector<Section> sections_;
};

Style style_at(const View& view, size_t offset) {
  return offset < view.styles.size() ? view.styles[offset] : Style::plain;
}

CellRow row_of(const Section& section, const View& view, int columns) {
  CellRow row;
  append(row, section.prompt, Style::plain, columns);
  for (size_t begin = section.begin, end; begin < section.end; begin = end) {
    const Style style = style_at(view, begin);
    for (end = begin; end < section.end && style_at(view, end) == style;)
      end = next_letter(view.text, end);
    append(row, std::string_view(view.text).substr(begin, end - begin), style, columns);
  }
  return row;
}

int column_in(const Section& section, const std::string& text, size_t cursor) {
  int column = static_cast<int>(section.prompt.size());
  for (size_t begin = section.begin, end; begin < cursor; begin = end) {
    end = next_letter(text, begin);
    column += width_of(std::string_view(text).substr(begin, end - begin), column);
  }
  return column;
}

}  // namespace

Frame lay_out(const View& view, const Prompts& prompts, Size size, size_t& first_visible_row) {
  const std::vector<Section> sections =
      RowBreaker(view.text, prompts, size.columns).sections(view.cursor);
  const auto next_section =
      std::partition_point(sections.begin(), sections.end(),
                           [&](const Section& section) { return section.begin <= view.cursor; });
  const size_t cursor_row = static_cast<size_t>(next_section - sections.begin()) - 1;
  const size_t max_rows = static_cast<size_t>(std::max(1, size.rows));
  const size_t below_count = std::min(view.rows_below.size(), max_rows - 1);
  const size_t section_row_count = std::min(sections.size(), max_rows - below_count);
  first_visible_row = std::clamp(
      first_visible_row, cursor_row >= section_row_count ? cursor_row - section_row_count + 1 : 0,
      std::min(cursor_row, sections.size() - section_row_count));
  Frame frame;
  for (size_t i = first_visible_row; i < first_visible_row + section_row_count; ++i)
    frame.rows.push_back(row_of(sections[i], view, size.columns));
  frame.cursor_row = cursor_row - first_visible_row;
  frame.cursor_column =
      std::min(column_in(sections[cursor_row], view.text, view.cursor), size.columns - 1);
  if (cursor_row + 1 == sections.size())
    append(frame.rows.back(), view.hint, Style::faint, size.columns - 1);
  frame.rows.insert(frame.rows.end(), view.rows_below.begin(),
                    view.rows_below.begin() + static_cast<std::ptrdiff_t>(below_count));
  return frame;
}

}  // namespace crescent::editor

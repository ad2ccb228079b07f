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

class Breaker {
 public:
  Breaker(std::string_view text, const Prompts& prompts, int columns)
      : text_(text), prompts_(prompts), columns_(columns) {}

  /// Breaks the text into rows. A cursor behind the last cell of a full row gets an empty row.
  std::vector<Section> sections(size_t cursor) {
    begin_row(0, prompts_.first);
    for (size_t at = 0, end; at < text_.size(); at = end) {
      end = next_letter(text_, at);
      if (text_[at] == '\n')
        end_line(at, cursor), begin_row(at + 1, prompts_.next);
      else
        add_letter(at, end);
    }
    end_line(text_.size(), cursor);
    return std::move(sections_);
  }

 private:
  void begin_row(size_t at, std::string_view prompt) {
    if (columns_ <= static_cast<int>(prompt.size())) prompt = "";
    sections_.push_back({at, at, prompt});
    column_ = static_cast<int>(prompt.size());
  }
  void add_letter(size_t at, size_t end) {
    int width = width_of(text_.substr(at, end - at), column_);
    if (column_ + width > columns_) {
      begin_row(at, "");
      width = width_of(text_.substr(at, end - at), column_);
    }
    column_ += width;
    sections_.back().end = end;
  }
  void end_line(size_t at, size_t cursor) {
    if (cursor == at && column_ >= columns_) begin_row(at, "");
  }

  std::string_view text_;
  const Prompts& prompts_;
  int columns_, column_ = 0;
  std::vector<Section> sections_;
};

Style style_at(const View& view, size_t at) {
  return at < view.styles.size() ? view.styles[at] : Style::plain;
}

CellRow row_of(const Section& section, const View& view, int columns) {
  CellRow row;
  append(row, section.prompt, Style::plain, columns);
  for (size_t at = section.begin, end; at < section.end; at = end) {
    const Style style = style_at(view, at);
    for (end = at; end < section.end && style_at(view, end) == style;)
      end = next_letter(view.text, end);
    append(row, std::string_view(view.text).substr(at, end - at), style, columns);
  }
  return row;
}

int column_in(const Section& section, const std::string& text, size_t cursor) {
  int column = static_cast<int>(section.prompt.size());
  for (size_t at = section.begin, end; at < cursor; at = end) {
    end = next_letter(text, at);
    column += width_of(std::string_view(text).substr(at, end - at), column);
  }
  return column;
}

}  // namespace

Frame lay_out(const View& view, const Prompts& prompts, Size size, size_t& top) {
  const std::vector<Section> all = Breaker(view.text, prompts, size.columns).sections(view.cursor);
  const auto after = std::partition_point(
      all.begin(), all.end(), [&](const Section& section) { return section.begin <= view.cursor; });
  const size_t row = static_cast<size_t>(after - all.begin()) - 1;
  const size_t most = static_cast<size_t>(std::max(1, size.rows));
  const size_t below = std::min(view.below.size(), most - 1);
  const size_t height = std::min(all.size(), most - below);
  top = std::clamp(top, row >= height ? row - height + 1 : 0, std::min(row, all.size() - height));
  Frame frame;
  for (size_t i = top; i < top + height; ++i)
    frame.rows.push_back(row_of(all[i], view, size.columns));
  frame.row = row - top;
  frame.column = std::min(column_in(all[row], view.text, view.cursor), size.columns - 1);
  if (row + 1 == all.size()) append(frame.rows.back(), view.hint, Style::faint, size.columns - 1);
  frame.rows.insert(frame.rows.end(), view.below.begin(),
                    view.below.begin() + static_cast<std::ptrdiff_t>(below));
  return frame;
}

}  // namespace crescent::editor

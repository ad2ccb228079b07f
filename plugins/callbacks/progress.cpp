// The progress bar of Keras 2: "12/63 [====>.....] - ETA: 3s - loss: 0.4312". On a terminal it is
// redrawn, at most every 0.05 s; if the output is not a terminal or verbose is 2, one line per
// epoch is printed. On a narrow terminal the bar becomes shorter first, then values are left out
// until the last line of the epoch.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "clock.h"
#include "crescent/model/callback.h"
#include "crescent/registry/registration.h"
#include "crescent/system/terminal.h"

namespace crescent {
namespace {

constexpr int64_t kBarWidth = 30, kMinBarWidth = 5;
constexpr double kRedrawSeconds = 0.05;

std::string format_number(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, std::isnan(value) ? std::abs(value) : value);
  return buffer;
}

std::string format_eta(int64_t seconds) {
  char buffer[32];
  if (seconds >= 3600)
    std::snprintf(buffer, sizeof buffer, "%lld:%02lld:%02lld", (long long)seconds / 3600,
                  (long long)seconds / 60 % 60, (long long)seconds % 60);
  else if (seconds >= 60)
    std::snprintf(buffer, sizeof buffer, "%lld:%02lld", (long long)seconds / 60,
                  (long long)seconds % 60);
  else
    std::snprintf(buffer, sizeof buffer, "%llds", (long long)seconds);
  return buffer;
}

/// The text "3s 45ms/step".
std::string format_pace(double seconds, int64_t steps) {
  const double seconds_per_step = steps > 0 ? seconds / double(steps) : seconds;
  const std::string step_time = seconds_per_step >= 1 ? format_number("%.0fs", seconds_per_step)
                                : seconds_per_step >= 1e-3
                                    ? format_number("%.0fms", seconds_per_step * 1e3)
                                    : format_number("%.0fus", seconds_per_step * 1e6);
  return format_number("%.0fs ", seconds) + step_time + "/step";
}

/// The text " - loss: 0.4312" for each loss and metric.
std::vector<std::string> format_values(const Logs& logs) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : logs.values())
    texts.push_back(" - " + printable(name) + ": " +
                    format_number(std::abs(value) > 1e-3 ? "%.4f" : "%.4e", value));
  return texts;
}

/// The bar " [====>........]"; after the last step it has no arrow.
std::string format_bar(int64_t done_steps, int64_t total_steps, int64_t width) {
  const auto filled_width = size_t(double(width) * double(done_steps) / double(total_steps));
  std::string bar(size_t(width), '.');
  std::fill_n(bar.begin(), filled_width, '=');
  if (filled_width > 0 && done_steps < total_steps) bar[filled_width - 1] = '>';
  return " [" + bar + "]";
}

/// The number of terminal columns of a UTF-8 text, one per character.
int64_t columns_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
}

class ProgbarLogger final : public Callback {
 public:
  static void describe(Schema<ProgbarLogger>& s) {
    s.doc("Shows a progress bar; fit adds it unless verbose is 0.");
  }
  ~ProgbarLogger() override { end_line(); }

  void on_train_begin(const Logs&) override {
    is_training_ = true;
    is_title_shown_ = false;
  }
  void on_train_end(const Logs&) override {
    is_training_ = false;
    end_line();
  }
  void on_epoch_begin(int64_t epoch, const Logs&) override {
    title_ = concat("Epoch ", epoch + 1, "/", integer_param("epochs"));
    if (is_title_shown_) show_title();
    start(integer_param("steps"));
  }
  void on_train_batch_end(int64_t batch, const Logs& logs) override {
    show_title();
    advance(batch + 1, logs);
  }
  void on_epoch_end(int64_t, Logs& logs) override {
    show_title();
    finish(logs);
  }
  void on_test_begin(const Logs&) override {
    if (!is_training_) start(integer_param("steps"));
  }
  void on_test_batch_end(int64_t batch, const Logs& logs) override {
    if (!is_training_) advance(batch + 1, logs);
  }
  void on_test_end(const Logs& logs) override {
    if (!is_training_) finish(logs);
  }
  void on_predict_begin(const Logs&) override { start(integer_param("steps")); }
  void on_predict_batch_end(int64_t batch, const Logs& logs) override { advance(batch + 1, logs); }
  void on_predict_end(const Logs& logs) override { finish(logs); }
  bool writes_for_all() const override { return true; }

 private:
  int64_t integer_param(const char* name) const {
    const Value* value = params_.find(name);
    return value && value->is_number() ? value->as_int() : 0;
  }
  /// Shows the title of the present epoch unless it has been shown. In the first epoch this is
  /// called only after the first batch, so that errors in the arguments of fit appear before any
  /// title.
  void show_title() {
    if (!title_.empty()) std::printf("%s\n", std::exchange(title_, "").c_str());
    is_title_shown_ = true;
  }
  bool redraws_line() const { return integer_param("verbose") != 2 && isatty(STDOUT_FILENO); }

  void start(int64_t steps) {
    total_steps_ = steps;
    done_steps_ = 0;
    steps_before_start_ = -1;
    drawn_columns_ = 0;
    clock_start_ = last_drawn_ = Clock::now();
  }
  void advance(int64_t done_steps, const Logs& logs) {
    done_steps_ = done_steps;
    if (steps_before_start_ < 0) steps_before_start_ = done_steps - 1;
    if (!redraws_line() || seconds_since(last_drawn_) < kRedrawSeconds) return;
    last_drawn_ = Clock::now();
    draw(logs, false);
  }
  void finish(const Logs& logs) {
    if (total_steps_ <= 0) total_steps_ = done_steps_;
    if (redraws_line())
      draw(logs, true);
    else
      std::printf("%s%s", line(true, kBarWidth).c_str(), join(format_values(logs), "").c_str());
    drawn_columns_ = 0;
    std::printf("\n");
    std::fflush(stdout);
  }
  /// Ends the line of an unfinished bar, so later output starts on a new line.
  void end_line() {
    if (std::exchange(drawn_columns_, 0) > 0) std::printf("\n"), std::fflush(stdout);
  }

  /// The progress line without losses and metrics, with a bar of `width` characters.
  std::string line(bool is_finished, int64_t width) const {
    const std::string step_count_text = std::to_string(total_steps_);
    std::string text = std::to_string(done_steps_);
    if (total_steps_ > 0)
      text =
          std::string(step_count_text.size() - std::min(step_count_text.size(), text.size()), ' ') +
          text + "/" + step_count_text;
    else
      text += "/Unknown";
    if (integer_param("verbose") != 2 && total_steps_ > 0 && width > 0)
      text += format_bar(done_steps_, total_steps_, width);
    const double elapsed = seconds_since(clock_start_);
    const int64_t timed_step_count = done_steps_ - std::max<int64_t>(steps_before_start_, 0);
    if (is_finished || total_steps_ <= 0)
      return text + " - " + format_pace(elapsed, timed_step_count);
    return text + " - ETA: " +
           format_eta(int64_t(elapsed / double(std::max<int64_t>(timed_step_count, 1)) *
                              double(total_steps_ - done_steps_)));
  }
  /// The progress line without losses and metrics. Its bar is shortened so that `values` also fit
  /// into `columns` terminal columns, if possible.
  std::string line_for_width(bool is_finished, int64_t columns, const std::string& values) const {
    const int64_t missing_columns = columns_of(line(is_finished, kBarWidth) + values) - columns;
    const int64_t width = kBarWidth - std::max<int64_t>(missing_columns, 0);
    return line(is_finished, width < kMinBarWidth ? 0 : width);
  }
  /// Appends the losses and metrics to the line `text`. Those that do not fit into the columns are
  /// omitted, or, in the last line of an epoch, printed below it.
  static std::string append_values(std::string text, const std::vector<std::string>& values,
                                   int64_t columns, bool is_finished) {
    int64_t used_columns = columns_of(text);
    for (const std::string& value : values) {
      const bool fits_line = used_columns + columns_of(value) <= columns;
      if (!fits_line && !is_finished) break;
      text += fits_line ? value : "\n" + value;
      used_columns = fits_line ? used_columns + columns_of(value) : columns_of(value);
    }
    return text;
  }
  void draw(const Logs& logs, bool is_finished) {
    const int64_t terminal_width = terminal_columns();
    const int64_t columns =
        terminal_width > 1 ? terminal_width - 1 : std::numeric_limits<int32_t>::max();
    const std::vector<std::string> values = format_values(logs);
    std::string text = line_for_width(is_finished, columns, join(values, ""));
    text = append_values(std::move(text), values, columns, is_finished);
    const int64_t length = columns_of(text.substr(0, text.find('\n')));
    if (const int64_t padding_columns = std::min(drawn_columns_, columns) - length;
        padding_columns > 0)
      text.insert(std::min(text.find('\n'), text.size()), size_t(padding_columns), ' ');
    drawn_columns_ = length;
    std::printf("\r%s", text.c_str());
    std::fflush(stdout);
  }

  bool is_training_ = false;
  bool is_title_shown_ = false;  // whether a title has been shown since training began
  std::string title_;            // the title of the present epoch; empty once it has been shown
  int64_t total_steps_ = 0, done_steps_ = 0;
  // The number of steps that were complete when the clock started, -1 until the first step ends;
  // more than 0 only in a resumed epoch.
  int64_t steps_before_start_ = -1;
  // the width in columns of the progress line that is on the screen, 0 if there is none
  int64_t drawn_columns_ = 0;
  Clock::time_point clock_start_, last_drawn_;
};

}  // namespace

CRESCENT_REGISTER(progress) { registry.add<ProgbarLogger>("ProgbarLogger"); }

}  // namespace crescent

// The progress bar of Keras 2: "12/63 [====>.....] - ETA: 3s - loss: 0.4312", redrawn at most every
// 0.05 s on a terminal; one line per epoch if the output is no terminal or verbose is 2.
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "clock.h"
#include "crescent/model/callback.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

constexpr int kWidth = 30;
constexpr double kInterval = 0.05;

std::string format_number(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
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
  const double pace = steps > 0 ? seconds / double(steps) : seconds;
  const std::string each = pace >= 1      ? format_number("%.0fs", pace)
                           : pace >= 1e-3 ? format_number("%.0fms", pace * 1e3)
                                          : format_number("%.0fus", pace * 1e6);
  return format_number("%.0fs ", seconds) + each + "/step";
}

std::string format_values(const Logs& logs) {
  std::string text;
  for (const auto& [name, value] : logs.values())
    text += " - " + printable(name) + ": " +
            format_number(std::abs(value) > 1e-3 ? "%.4f" : "%.4e", value);
  return text;
}

/// The text "[=====>........]"; after the last step it has no arrow.
std::string format_bar(int64_t done, int64_t total) {
  const int filled = int(double(kWidth) * double(done) / double(total));
  std::string bar(kWidth, '.');
  for (int i = 0; i < filled; ++i) bar[i] = '=';
  if (filled > 0 && done < total) bar[filled - 1] = '>';
  return "[" + bar + "]";
}

class ProgbarLogger final : public Callback {
 public:
  static void describe(Schema<ProgbarLogger>& s) {
    s.doc("Shows progress; fit adds it by itself unless verbose is 0.");
  }
  ~ProgbarLogger() override { end_line(); }

  void on_train_begin(const Logs&) override { training_ = true; }
  void on_train_end(const Logs&) override {
    training_ = false;
    end_line();
  }
  void on_epoch_begin(int64_t epoch, const Logs&) override {
    std::printf("Epoch %lld/%lld\n", (long long)epoch + 1, (long long)integer("epochs"));
    start(integer("steps"));
  }
  void on_train_batch_end(int64_t batch, const Logs& logs) override { advance(batch + 1, logs); }
  void on_epoch_end(int64_t, Logs& logs) override { finish(logs); }
  void on_test_begin(const Logs&) override {
    if (!training_) start(integer("steps"));
  }
  void on_test_batch_end(int64_t batch, const Logs& logs) override {
    if (!training_) advance(batch + 1, logs);
  }
  void on_test_end(const Logs& logs) override {
    if (!training_) finish(logs);
  }
  void on_predict_begin(const Logs&) override { start(integer("steps")); }
  void on_predict_batch_end(int64_t batch, const Logs& logs) override { advance(batch + 1, logs); }
  void on_predict_end(const Logs& logs) override { finish(logs); }

 private:
  int64_t integer(const char* name) const {
    const Value* value = params_.find(name);
    return value && value->is_number() ? value->as_int() : 0;
  }
  bool draws() const { return integer("verbose") != 2 && isatty(STDOUT_FILENO); }

  void start(int64_t steps) {
    total_ = steps;
    done_ = 0;
    before_ = -1;
    drawn_ = 0;
    started_ = last_ = Clock::now();
  }
  void advance(int64_t done, const Logs& logs) {
    done_ = done;
    if (before_ < 0) before_ = done - 1;
    if (!draws() || seconds_since(last_) < kInterval) return;
    last_ = Clock::now();
    draw(logs, false);
  }
  void finish(const Logs& logs) {
    if (total_ <= 0) total_ = done_;
    if (draws())
      draw(logs, true);
    else
      std::printf("%s%s", line(true).c_str(), format_values(logs).c_str());
    drawn_ = 0;
    std::printf("\n");
    std::fflush(stdout);
  }
  /// Ends the line of an unfinished bar, so later output starts on a new line.
  void end_line() {
    if (std::exchange(drawn_, 0) > 0) std::printf("\n"), std::fflush(stdout);
  }

  /// The part of the line before the values.
  std::string line(bool finished) const {
    const std::string total = std::to_string(total_);
    std::string text = std::to_string(done_);
    if (total_ > 0)
      text =
          std::string(total.size() - std::min(total.size(), text.size()), ' ') + text + "/" + total;
    else
      text += "/Unknown";
    if (integer("verbose") != 2 && total_ > 0) text += " " + format_bar(done_, total_);
    const double elapsed = seconds_since(started_);
    const int64_t here = done_ - std::max<int64_t>(before_, 0);
    if (finished || total_ <= 0) return text + " - " + format_pace(elapsed, here);
    return text + " - ETA: " +
           format_eta(
               int64_t(elapsed / double(std::max<int64_t>(here, 1)) * double(total_ - done_)));
  }
  void draw(const Logs& logs, bool finished) {
    std::string text = line(finished) + format_values(logs);
    const size_t length = text.size();
    if (length < drawn_) text.append(drawn_ - length, ' ');
    drawn_ = length;
    std::printf("\r%s", text.c_str());
    std::fflush(stdout);
  }

  bool training_ = false;
  int64_t total_ = 0, done_ = 0;
  int64_t before_ = -1;  // steps before the clock started, in a continued run
  size_t drawn_ = 0;
  Clock::time_point started_, last_;
};

}  // namespace

CRESCENT_REGISTER(progress) { registry.add<ProgbarLogger>("ProgbarLogger"); }

}  // namespace crescent

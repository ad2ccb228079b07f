#include "crescent/base/progress.h"

#include <unistd.h>

#include <cstdio>

#include "base/text.h"
#include "crescent/system/terminal.h"
#include "system/operation.h"

namespace crescent {
namespace {

constexpr size_t kMegabyte = 1'000'000, kLargeFile = 8 * kMegabyte;
constexpr std::chrono::milliseconds kFirstUpdateAfter{1000}, kUpdateInterval{200};

std::string plural(std::string_view unit) {
  const bool takes_es = unit.ends_with("ch") || unit.ends_with("s") || unit.ends_with("x");
  return std::string(unit) + (takes_es ? "es" : "s");
}

}  // namespace

Progress::Progress(std::string_view what, std::string_view unit, int64_t total)
    : what_(on_one_line(what)),
      unit_(plural(unit)),
      total_(total),
      is_on_terminal_(isatty(STDOUT_FILENO) == 1),
      begin_time_(Clock::now()),
      next_update_(begin_time_ + kFirstUpdateAfter) {}

Progress::~Progress() {
  if (!is_shown_) return;
  show(Clock::now());
  std::printf("\n");
  std::fflush(stdout);
}

void Progress::come_to(int64_t done) {
  done_ = done;
  if (!is_on_terminal_) return;
  const auto now = Clock::now();
  if (now < next_update_) return;
  next_update_ = now + kUpdateInterval;
  is_shown_ = true;
  show(now);
}

void Progress::show(Clock::time_point now) {
  const std::string total_text = total_ > 0 ? "/" + std::to_string(total_) : "";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin_time_).count();
  // "\033[K" erases the rest of the line, on which a longer text may have been.
  const std::string line =
      concat(what_, ": ", done_, total_text, " ", unit_, " - ", int64_t{seconds}, "s");
  const auto columns = static_cast<size_t>(terminal_columns());
  std::printf("\r%s\033[K", columns > 1 && character_count(line) >= columns
                                ? cut_or_padded(line, columns - 1).c_str()
                                : line.c_str());
  std::fflush(stdout);
}

FileProgress::FileProgress(std::string_view doing, const std::string& path, size_t bytes) {
  if (bytes < kLargeFile || gettid() != getpid() || owns_line()) return;
  progress_.emplace(concat(doing, " '", path, "'"), "megabyte", bytes / kMegabyte);
  take_line();
}

FileProgress::~FileProgress() {
  if (!progress_) return;
  add(0);
  give_line_back();
}

void FileProgress::add(size_t bytes) {
  const size_t total_bytes = done_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (progress_ && gettid() == getpid())
    progress_->come_to(static_cast<int64_t>(total_bytes / kMegabyte));
}

}  // namespace crescent

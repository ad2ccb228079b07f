// Progress bars and tables fit the width of the terminal.
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

/// A script with batches slow enough that each updates the progress bar, and with long logs.
const std::string kSlowFit = R"(
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae", "accuracy" } }
local function slow()
  local left = 8
  return function()
    local t = cr.utils.clock()
    while cr.utils.clock() < t + 0.06 do end
    left = left - 1
    if left >= 0 then return cr.zeros { 4, 3 }, cr.zeros { 4, 1 } end
  end
end
)";

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// Delays the process of a script while the script runs.
using Delay = std::function<void(pid_t child)>;

/// Waits until the condition is true, for 20 seconds at most.
template <class F>
void wait_until(const F& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!condition() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(200us);
}

/// Stops the process for more than one second, which is the time after which a progress bar
/// appears.
void stop_for_a_second(pid_t child) {
  kill(child, SIGSTOP);
  std::this_thread::sleep_for(1200ms);
  kill(child, SIGCONT);
}

/// Whether bytes were written to a file of the folder.
bool has_bytes(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (const auto size = entry.file_size(error); !error && size > 0) return true;
  return false;
}

/// Stops the process as soon as it has written bytes to a temporary file in the folder.
Delay stop_during_save(const fs::path& folder) {
  return [=](pid_t child) {
    wait_until([&] { return has_bytes(folder); });
    stop_for_a_second(child);
  };
}

bool has_open(pid_t child, const fs::path& path) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(child) + "/fd", error))
    if (fs::read_symlink(entry.path(), error) == path) return true;
  return false;
}

/// Stops the process as soon as it has opened the file, `stop_count` times with pauses of 20 ms.
Delay stop_during_read(const fs::path& path, int stop_count) {
  return [=](pid_t child) {
    wait_until([&] { return has_open(child, path); });
    for (int i = 0; i < stop_count; ++i, std::this_thread::sleep_for(20ms))
      stop_for_a_second(child);
  };
}

/// The output of a script on a terminal with this many columns. The terminal is narrowed to
/// `narrowed_columns` columns after some output was read.
std::string output_on_terminal(unsigned short columns, const std::string& code,
                               unsigned short narrowed_columns = 0, const Delay& delay = {}) {
  winsize size{40, columns, 0, 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  REQUIRE(child >= 0);
  if (child == 0) {
    execl(CRESCENT_PROGRAM, CRESCENT_PROGRAM, "-e", code.c_str(), nullptr);
    _exit(127);
  }
  if (delay) delay(child);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(terminal, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(count));
    if (narrowed_columns == 0 || std::count(text.begin(), text.end(), '\r') < 5) continue;
    size.ws_col = std::exchange(narrowed_columns, 0);
    ioctl(terminal, TIOCSWINSZ, &size);
    text += "\nnarrower\n";
  }
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  INFO(text);
  CHECK(status == 0);
  return text;
}

/// The texts between carriage returns or line feeds.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) c == '\r' || c == '\n' ? lines.emplace_back() : lines.back() += c;
  return lines;
}

size_t longest_length(const std::vector<std::string>& lines) {
  size_t greatest = 0;
  for (const std::string& line : lines) greatest = std::max(greatest, line.size());
  return greatest;
}

size_t count(const std::string& text, const std::string& word) {
  size_t result = 0;
  for (size_t position = 0; (position = text.find(word, position)) != text.npos; ++position)
    ++result;
  return result;
}

}  // namespace

TEST_CASE("bars are never wider than the terminal, and say all in the end") {
  for (const unsigned short columns : {40, 80, 100, 120}) {
    const std::string text = output_on_terminal(
        columns,
        kSlowFit + "model:fit(cr.data.generator(slow(), { batches = 8 }), { epochs = 1 })");
    INFO(columns << " columns:\n" << text);
    CHECK(longest_length(lines_of(text)) < columns);
    CHECK(count(text, "\n") ==
          (columns == 40 ? 3 : 2));  // lines: the epoch, the bar, and the rest of the logs
    CHECK(count(text, "ETA") >= 2);
    const size_t last_bar = text.rfind("8/8");
    REQUIRE(last_bar != text.npos);
    for (const char* name : {"loss: ", "mae: ", "accuracy: "})
      CHECK(text.find(name, last_bar) != text.npos);
    const bool has_full_bar = text.find("[" + std::string(30, '=') + "]", last_bar) != text.npos;
    CHECK(has_full_bar == (columns == 120));
  }
}

TEST_CASE("a bar becomes shorter with the terminal") {
  const std::string text = output_on_terminal(
      100, kSlowFit + "model:fit(cr.data.generator(slow(), { batches = 8 }), { epochs = 1 })", 40);
  const size_t change_position = text.find("narrower\n");
  REQUIRE(change_position != text.npos);
  std::vector<std::string> lines = lines_of(text.substr(change_position + 9));
  REQUIRE(lines.size() > 3);
  // Drops the lines that were already written when the width changed.
  lines.erase(lines.begin(), lines.begin() + 2);
  INFO(text);
  CHECK(longest_length(lines) < 40);
}

TEST_CASE("evaluate and predict show bars that fit") {
  const std::string text = output_on_terminal(
      40, kSlowFit +
              "model:evaluate(cr.data.generator(slow(), { batches = 8 }), { verbose = 1 }) "
              "model:predict(cr.data.generator(slow(), { batches = 8 }), { verbose = 1 })");
  INFO(text);
  CHECK(count(text, "8/8") >= 2);
  CHECK(longest_length(lines_of(text)) < 40);
}

TEST_CASE("predict says how far it has come once it takes long, unless it is told to be quiet") {
  const std::string data = kSlowFit +
                           "local left = 24 local function long() local t = cr.utils.clock() "
                           "while cr.utils.clock() < t + 0.06 do end left = left - 1 "
                           "if left >= 0 then return cr.zeros { 4, 3 } end end ";
  CHECK(count(output_on_terminal(80, data + "model:predict(long)"), "predict: 24 batches") >= 1);
  CHECK(output_on_terminal(80, data + "model:predict(long, { verbose = 0 })").empty());
}

TEST_CASE("summaries and profiles fit the terminal") {
  const std::string model =
      "local x = cr.Input { shape = { 8 }, name = 'an_input_with_a_long_name' } "
      "local a, b = cr.layers.Dense(1000)(x), cr.layers.Dense(1000)(x) "
      "local m = cr.Model(x, cr.layers.add { a, b }) ";
  for (const unsigned short columns : {40, 60, 80}) {
    const std::string text =
        output_on_terminal(columns, model +
                                        "m:summary() m:profile(cr.zeros { 4, 8 }) "
                                        "print(m:trace(cr.zeros { 4, 8 }))");
    INFO(text);
    CHECK(text.find("Connected to") != text.npos);
    CHECK(longest_length(lines_of(text)) <= columns);
  }
  CHECK(longest_length(lines_of(output_on_terminal(140, model + "m:summary()"))) == 98);
}

TEST_CASE("reports of checks fit the terminal") {
  const std::string code = "print(cr.check.layer(cr.layers.Dense, { units = 2 }, { 3 }))";
  for (const unsigned short columns : {40, 80, 100}) {
    const std::string text = output_on_terminal(columns, code);
    INFO(text);
    CHECK(text.find("gradient by kernel") != text.npos);
    CHECK(longest_length(lines_of(text)) <= columns);
    CHECK(longest_length(lines_of(text)) > columns - 10u);
  }
}

TEST_CASE("errors in what fit was given come before the title of the epoch") {
  const std::string text =
      output_on_terminal(80, kSlowFit +
                                 "local ok, message = pcall(model.fit, model, cr.zeros { 2, 3 }, "
                                 "cr.zeros { 2, 5 }) print(message)");
  INFO(text);
  CHECK(text.find("A target array with shape (2, 5)") != text.npos);
  CHECK(text.find("Epoch") == text.npos);
}

TEST_CASE("a save that takes more than a second shows how far it has come, but not within fit") {
  char folder[] = "/tmp/crescent_saving_XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const bool is_in_fit = GENERATE(false, true);
  const std::string save = std::string("function save() cr.data.write_npy('") + folder +
                           "/a.npy', cr.zeros { 64, 1000000 }) end ";
  const std::string code =
      is_in_fit
          ? save + kSlowFit +
                "model:fit(cr.data.generator(slow(), { batches = 2 }), { epochs = 1, "
                "verbose = 0, callbacks = { cr.callbacks.LambdaCallback { on_epoch_end = save } "
                "} })"
          : save + "save()";
  const std::string text = output_on_terminal(120, code, 0, stop_during_save(folder));
  fs::remove_all(folder);
  INFO(text);
  CHECK((text.find("256/256 megabytes - ") == text.npos) == is_in_fit);
  CHECK((text.find("saving '") == text.npos) == is_in_fit);
}

TEST_CASE("a read that takes more than a second shows how far it has come, but not within fit") {
  char folder[] = "/tmp/crescent_reading_XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  struct Case {
    std::string name, write, read;
    int stop_count;
  };
  const std::string large_layer = "cr.layers.Dense(4000, { input_shape = { 8000 } })";
  const auto [name, write, read, stop_count] =
      GENERATE_COPY(Case{"a.npy", "cr.data.write_npy(path, cr.zeros { 16, 2000000 })",
                         "cr.data.read_npy(path)", 1},
                    Case{"m.h5", "cr.Sequential { " + large_layer + " }:save(path)",
                         "cr.models.load_model(path)", 8});
  const bool is_in_fit = GENERATE(false, true);
  const std::string path = std::string(folder) + "/" + name, path_code = "path = '" + path + "' ";
  output_on_terminal(120, path_code + write);
  const std::string code =
      is_in_fit
          ? path_code + kSlowFit + "model:fit(cr.data.generator(slow(), { batches = 2 }), { " +
                "verbose = 0, callbacks = { cr.callbacks.LambdaCallback { on_epoch_end = " +
                "function() " + read + " end } } })"
          : path_code + read;
  const std::string text = output_on_terminal(120, code, 0, stop_during_read(path, stop_count));
  fs::remove_all(folder);
  INFO(text);
  const bool has_bar =
      text.find("ing '" + path) != text.npos && text.find("128/128 megabytes - ") != text.npos;
  CHECK(has_bar == !is_in_fit);
  CHECK(longest_length(lines_of(text)) < 120);
}

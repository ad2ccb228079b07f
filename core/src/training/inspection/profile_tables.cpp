#include "training/inspection/profile_tables.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "base/text.h"
#include "base/text_table.h"
#include "crescent/system/terminal.h"

namespace crescent {
namespace {

// The widths of tables in characters. The table with a row for each instruction is wider, because
// it has three columns of text instead of one.
constexpr int64_t kLineWidth = 98, kLongLineWidth = 140, kMinLineWidth = 40;

using Rows = std::vector<ProfileEntry>;

std::string number_text(double x) {
  if (x >= 1000) return with_commas(static_cast<int64_t>(x + 0.5));
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", x);
  return text;
}

/// Formats an amount of work per second in units of 1e9; empty if the amount or the time is
/// unknown.
std::string rate_text(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? number_text(amount / seconds / 1e9) : "";
}

double total_seconds(const Rows& rows) {
  double seconds = 0;
  for (const ProfileEntry& row : rows) seconds += row.seconds;
  return seconds;
}

/// The path of a layer without the prefix of the model.
std::string path_without_model(const Model& model, const std::string& scope) {
  const std::string prefix = model.name() + "/";
  return scope.starts_with(prefix) ? scope.substr(prefix.size()) : scope;
}

/// Returns "dense_1 (Dense)" for the path of the layer dense_1 or of a layer inside it; returns the
/// path itself if no layer of the model is on the path. If a layer "a" and a layer "a/b" match, the
/// longer name is taken.
std::string layer_title(const Model& model, const std::string& path) {
  const std::vector<LayerPtr> layers = model.operations();
  const Layer* owner = nullptr;
  for (const LayerPtr& layer : layers) {
    const bool is_on_path = path == layer->name() || path.starts_with(layer->name() + "/");
    if (is_on_path && (!owner || layer->name().size() > owner->name().size())) owner = layer.get();
  }
  if (owner) return owner->name() + " (" + owner->class_name() + ")";
  return path.empty() ? "(other)" : path;
}

/// Replaces rows with equal keys by one row with their sums. That row names the kernel that takes
/// most of the time.
Rows sum_by_key(const Rows& rows, const std::function<ProfileEntry(const ProfileEntry&)>& key) {
  Rows groups;
  // for each group, the seconds of the kernel that its row names
  std::vector<double> longest_seconds;
  for (const ProfileEntry& row : rows) {
    const ProfileEntry group_key = key(row);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const ProfileEntry& candidate) {
      return candidate.scope == group_key.scope && candidate.op == group_key.op &&
             (group_key.kernel.empty() || candidate.kernel == group_key.kernel);
    });
    if (group == groups.end()) {
      groups.push_back(group_key);
      longest_seconds.push_back(-1);
      group = groups.end() - 1;
    }
    double& seconds = longest_seconds[group - groups.begin()];
    if (row.seconds > seconds) group->kernel = row.kernel, seconds = row.seconds;
    group->calls += row.calls;
    group->seconds += row.seconds;
    group->flops += row.flops;
    group->bytes += row.bytes;
  }
  return groups;
}

Rows rows_by_layer(const Model& model, const Rows& rows) {
  return sum_by_key(rows, [&](const ProfileEntry& row) {
    return ProfileEntry{layer_title(model, path_without_model(model, row.scope)), "", "", ""};
  });
}

Rows rows_by_op(const Rows& rows) {
  return sum_by_key(rows, [](const ProfileEntry& row) {
    return ProfileEntry{"", row.op, "", row.kernel};
  });
}

/// The titles of the first columns of a table, whose cells are texts, and functions that return
/// these cells. The numeric columns after them are the same in every table.
using TextColumns =
    std::vector<std::pair<const char*, std::function<std::string(const ProfileEntry&)>>>;

std::vector<std::string> table_of(const Rows& rows, const TextColumns& text_columns,
                                  size_t line_length) {
  std::vector<TextTable::Column> columns;
  for (const auto& [title, cell_text] : text_columns) columns.push_back({title});
  for (const char* title : {"Calls", "Time (us)", "Share", "GFLOP/s", "GB/s"})
    columns.push_back({title, true});
  columns.push_back({"Kernel"});
  TextTable table(columns);
  const double total_time = total_seconds(rows);
  for (const ProfileEntry& row : rows) {
    std::vector<std::string> cells;
    for (const auto& [title, cell_text] : text_columns) cells.push_back(cell_text(row));
    cells.insert(
        cells.end(),
        {std::to_string(row.calls), number_text(row.seconds * 1e6),
         total_time > 0 ? number_text(100 * row.seconds / total_time) + " %" : "",
         rate_text(row.flops, row.seconds), rate_text(row.bytes, row.seconds), row.kernel});
    table.add(std::move(cells));
  }
  return table.lines(line_length);
}

/// Returns a line with the estimated speed on several cores; no line if the device has no
/// estimates.
std::vector<std::string> speed_on_cores(const Rows& rows) {
  std::array<double, kProfiledCores.size()> seconds{};
  for (const ProfileEntry& row : rows)
    for (size_t c = 0; c < seconds.size(); ++c) seconds[c] += row.seconds_on[c];
  if (seconds[0] <= 0) return {};
  std::vector<std::string> cores, time_texts;
  for (size_t c = 1; c < seconds.size(); ++c) {
    cores.push_back(std::to_string(kProfiledCores[c]));
    time_texts.push_back(number_text(seconds[0] / seconds[c]));
  }
  return {
      concat("On ", join(cores), " cores at most ", join(time_texts), " times as fast as on one")};
}

/// Appends a line to `lines`; a line that is too long is broken after commas, or at a space.
void add_wrapped(std::vector<std::string>& lines, std::string line, size_t length) {
  constexpr std::string_view kIndent = "  ";
  while (line.size() > length) {
    const size_t comma = line.rfind(", ", length - 2);
    const size_t space = comma != line.npos ? comma + 1 : line.rfind(' ', length);
    if (space == line.npos || space <= kIndent.size()) break;
    lines.push_back(line.substr(0, space));
    line = concat(kIndent, line.substr(space + 1));
  }
  lines.push_back(std::move(line));
}

std::vector<std::string> total_lines(const Profile& profile) {
  uint64_t call_count = 0;
  double flops = 0;
  for (const ProfileEntry& row : profile.rows) call_count += row.calls, flops += row.flops;
  const double seconds = profile.seconds, samples = static_cast<double>(profile.batch_size);
  std::vector<std::string> lines;
  lines.push_back(concat("Total: ", number_text(total_seconds(profile.rows) * 1e6), " us in ",
                         call_count, " calls"));
  lines.push_back(concat("A step that is not timed within: ", number_text(seconds * 1e6), " us, ",
                         profile.batch_size, " samples, ", number_text(samples / seconds),
                         " samples/s",
                         flops > 0 ? concat(", ", rate_text(flops, seconds), " GFLOP/s") : ""));
  for (std::string& line : speed_on_cores(profile.rows)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::vector<std::string> profile_tables(const Model& model, const Profile& profile,
                                        const ProfileOptions& options) {
  std::vector<std::string> lines{"Model: \"" + on_one_line(model.name()) + "\""};
  auto add_table = [&](Rows rows, const TextColumns& text_columns, int64_t line_length) {
    if (options.sort == "time")
      std::stable_sort(rows.begin(), rows.end(), [](const ProfileEntry& a, const ProfileEntry& b) {
        return a.seconds > b.seconds;
      });
    const int64_t length =
        options.line_length.value_or(fitting_columns(line_length, kMinLineWidth));
    for (std::string& line : table_of(rows, text_columns, static_cast<size_t>(length)))
      lines.push_back(std::move(line));
  };
  const auto scope_text = [&](const ProfileEntry& row) {
    return path_without_model(model, row.scope);
  };
  const auto layer_text = [](const ProfileEntry& row) { return row.scope; };
  const auto op_text = [](const ProfileEntry& row) { return row.op; };
  const auto shapes_text = [](const ProfileEntry& row) { return row.shapes; };
  if (options.by == "layer" || options.by == "both")
    add_table(rows_by_layer(model, profile.rows), {{"Layer (type)", layer_text}}, kLineWidth);
  if (options.by == "op" || options.by == "both")
    add_table(rows_by_op(profile.rows), {{"Op", op_text}}, kLineWidth);
  if (options.by == "instruction")
    add_table(profile.rows, {{"Layer", scope_text}, {"Op", op_text}, {"Shapes", shapes_text}},
              kLongLineWidth);
  const std::string ruled_line(lines[1].size(), '_');
  const int64_t length =
      options.line_length.value_or(fitting_columns(kLongLineWidth, kMinLineWidth));
  for (std::string& line : total_lines(profile))
    add_wrapped(lines, std::move(line), static_cast<size_t>(length));
  lines.push_back(ruled_line);
  return lines;
}

}  // namespace crescent

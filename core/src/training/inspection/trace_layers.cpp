// trace: calls the model, op by op, and records the outputs of every layer.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/text_table.h"
#include "crescent/system/terminal.h"
#include "layer/calls/call_observer.h"
#include "layer/layer_access.h"
#include "training/pass.h"
#include "training/watch/statistics.h"

namespace crescent {
namespace {

constexpr int64_t kTraceLineLength = 100, kMinTraceLineLength = 40;

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Records the outputs of layers. Layers inside a scan are not recorded, because their outputs are
/// abstract tensors without values.
class Tracer final : public CallObserver {
 public:
  Tracer(const TraceOptions& options, std::vector<std::string> selected_names)
      : options_(options), selected_names_(std::move(selected_names)) {}
  void begin(const Layer& layer) override { path_.push_back(layer.name()); }
  void end(const Layer& layer, const Tensors& outputs) override {
    const std::string path = path_.size() > 1 ? join(std::span(path_).subspan(1), "/") : "";
    path_.pop_back();
    if (path.empty() || outputs.empty() || outputs.front().is_abstract()) return;
    called_paths_.push_back(path);
    const int64_t call = call_counts_[path]++;
    if (!is_selected(path)) return;
    for (const Tensor& output : outputs) record_output(layer, path, call, output);
  }
  LayerTrace finish() {
    for (const std::string& name : selected_names_)
      if (std::none_of(called_paths_.begin(), called_paths_.end(),
                       [&](const std::string& path) { return is_name_of(name, path); }))
        fail("trace: no layer '", name, "' was called", did_you_mean(name, known_names()));
    return std::move(trace_);
  }

 private:
  std::vector<std::string> known_names() const {
    std::vector<std::string> names = called_paths_;
    for (const std::string& path : called_paths_) names.push_back(last_name(path));
    return names;
  }
  static bool is_name_of(const std::string& name, const std::string& path) {
    return name == path || name == last_name(path);
  }
  bool is_selected(const std::string& path) const {
    return selected_names_.empty() ||
           std::any_of(selected_names_.begin(), selected_names_.end(),
                       [&](const std::string& name) { return is_name_of(name, path); });
  }
  void record_output(const Layer& layer, const std::string& path, int64_t call,
                     const Tensor& output) {
    const auto& rows = trace_.outputs;
    const bool is_further_output =
        !rows.empty() && rows.back().layer == path && rows.back().call == call;
    TracedOutput row{
        path,          layer.class_name(), call, is_further_output ? rows.back().output + 1 : 0,
        output.spec(), std::nullopt,       {}};
    if (options_.statistics) row.statistics = statistics_of(output);
    if (options_.values) row.value = output.with_mask({});
    trace_.outputs.push_back(std::move(row));
  }

  const TraceOptions& options_;
  std::vector<std::string> selected_names_, path_, called_paths_;
  std::map<std::string, int64_t> call_counts_;
  LayerTrace trace_;
};

/// The title of a row, such as "split call 2 output 1 (Split)". It has no call number if the layer
/// has only one call, and no output number if the layer has only one output.
std::string title_of(const TracedOutput& row, const std::vector<TracedOutput>& rows) {
  const auto any_row = [&](auto differs) {
    return std::any_of(rows.begin(), rows.end(), [&](const TracedOutput& other) {
      return other.layer == row.layer && differs(other);
    });
  };
  std::string title = row.layer;
  if (any_row([&](const TracedOutput& other) { return other.call != row.call; }))
    title += concat(" call ", row.call + 1);
  if (any_row([&](const TracedOutput& other) { return other.output != row.output; }))
    title += concat(" output ", row.output + 1);
  return title + " (" + row.class_name + ")";
}

struct Column {
  TextTable::Column header;
  std::function<std::string(const TracedOutput&)> cell;
};

Column statistic_column(const char* title, double TensorStatistics::*member) {
  return {{title, true}, [member](const TracedOutput& row) {
            return row.statistics ? short_number((*row.statistics).*member) : "";
          }};
}

Column count_column(const char* title, int64_t TensorStatistics::*member) {
  return {{title, true}, [member](const TracedOutput& row) {
            return row.statistics ? with_commas((*row.statistics).*member) : "";
          }};
}

std::string share_of_zeros(const TracedOutput& row) {
  if (!row.statistics || row.statistics->zeros != row.statistics->zeros) return "";
  return short_number(100 * row.statistics->zeros) + " %";
}

/// The columns of the table. The column of dtypes is omitted if all are float32, and the columns of
/// NaN and infinite elements if all counts are 0.
std::vector<Column> columns_for(const std::vector<TracedOutput>& rows, bool statistics) {
  const auto any_row = [&](auto predicate) {
    return std::any_of(rows.begin(), rows.end(), predicate);
  };
  std::vector<Column> columns{
      {{"Layer (type)"}, [&rows](const TracedOutput& row) { return title_of(row, rows); }},
      {{"Shape"}, [](const TracedOutput& row) { return to_text(row.spec.shape); }}};
  if (any_row([](const TracedOutput& row) { return row.spec.dtype != DType::float32; }))
    columns.push_back({{"Dtype"}, [](const TracedOutput& row) { return to_text(row.spec.dtype); }});
  if (!statistics) return columns;
  columns.push_back(statistic_column("Min", &TensorStatistics::min));
  columns.push_back(statistic_column("Max", &TensorStatistics::max));
  columns.push_back(statistic_column("Mean", &TensorStatistics::mean));
  columns.push_back(statistic_column("Std", &TensorStatistics::std));
  columns.push_back({{"Zeros", true}, share_of_zeros});
  const auto has_count = [](int64_t TensorStatistics::*count) {
    return
        [count](const TracedOutput& row) { return row.statistics && (*row.statistics).*count > 0; };
  };
  if (any_row(has_count(&TensorStatistics::nan)))
    columns.push_back(count_column("NaN", &TensorStatistics::nan));
  if (any_row(has_count(&TensorStatistics::inf)))
    columns.push_back(count_column("Inf", &TensorStatistics::inf));
  return columns;
}

std::vector<std::string> trace_table(const Model& model, const std::vector<TracedOutput>& rows,
                                     const TraceOptions& options) {
  const std::vector<Column> columns = columns_for(rows, options.statistics);
  std::vector<TextTable::Column> headers;
  for (const Column& column : columns) headers.push_back(column.header);
  TextTable table(std::move(headers));
  for (const TracedOutput& row : rows) {
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(column.cell(row));
    table.add(std::move(cells));
  }
  const int64_t length =
      options.line_length.value_or(fitting_columns(kTraceLineLength, kMinTraceLineLength));
  std::vector<std::string> lines{"Model: \"" + on_one_line(model.name()) + "\""};
  for (std::string& line : table.lines(static_cast<size_t>(length)))
    lines.push_back(std::move(line));
  return lines;
}

}  // namespace

LayerTrace Model::trace(const Tensors& x, const Dict& option_values) {
  const StepLock lock(*this);
  const TraceOptions options = parse<TraceOptions>("trace", option_values);
  check_inputs(*this, x);
  const Transaction transaction;  // the destructor restores the variables
  Tracer tracer(options, names_in_option("trace: option 'layers'", options.layers));
  CallOptions call;
  call.training = options.training;
  (*this)(x, call);
  LayerAccess::forget_losses(*this);
  LayerTrace trace = tracer.finish();
  trace.lines = trace_table(*this, trace.outputs, options);
  return trace;
}

}  // namespace crescent

// The summary table in the layout of Keras 2.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "base/text_table.h"
#include "crescent/system/terminal.h"
#include "layer/input_layer.h"
#include "model/flops.h"
#include "model/graph.h"
#include "model/operation_layer.h"

namespace crescent {
namespace {

constexpr int64_t kMinLineWidth = 40;

using TableRow = std::vector<std::string>;

/// The class of a layer, or the name of the operation that an OperationLayer calls.
std::string type_of(const Layer& layer) {
  const auto* operation = dynamic_cast<const OperationLayer*>(&layer);
  if (operation) return operation->operation().schema().keras_class;
  const std::string name = layer.class_name();
  return name.substr(name.rfind('>') + 1);  // drops the "package>" of a registered class name
}

/// Cuts a field of more than `width` characters and ends it by "..."; in very narrow columns, where
/// that would leave too little of it, the field stays as it is.
std::string shortened_field(const std::string& field, int width) {
  constexpr int kMinWidth = 8, kMarkWidth = 3;
  if (width < kMinWidth || character_count(field) <= static_cast<size_t>(width)) return field;
  return cut_or_padded(field, static_cast<size_t>(width - kMarkWidth)) + "...";
}

/// Writes the fields in columns that end at `column_ends`; a longer field is cut there, with a
/// mark if `marks_cuts` is true and otherwise as Keras does, without one.
std::string line_of(const TableRow& fields, const std::vector<int>& column_ends, bool marks_cuts) {
  std::string line;
  for (size_t i = 0; i < fields.size() && i < column_ends.size(); ++i) {
    if (i > 0) line = cut_or_padded(line, character_count(line) - 1) + " ";
    std::string field = on_one_line(fields[i]);
    // The last character of a column is a space if another column follows.
    const int gap = i + 1 < fields.size();
    if (marks_cuts)
      field =
          shortened_field(field, column_ends[i] - static_cast<int>(character_count(line)) - gap);
    line = cut_or_padded(line + field, std::max(column_ends[i], 1));
  }
  return line;
}

std::string shape_text(const Layer& layer) {
  try {
    const std::vector<Shape> shapes = layer.output_shape();
    if (shapes.size() == 1) return to_text(shapes.front());
    std::vector<std::string> texts;
    for (const Shape& shape : shapes) texts.push_back(to_text(shape));
    return "[" + join(texts) + "]";
  } catch (const Error&) {
    return layer.inbound_nodes().empty() ? "?" : "multiple";
  }
}

int64_t parameter_count(const Variables& variables) {
  int64_t count = 0;
  for (const Variable& v : variables) count += v.shape().size();
  return count;
}

/// Whether the model is a chain of layers without branches or shared layers.
bool is_chain(const Model& model, const ModelAccess::Graph* graph) {
  if (dynamic_cast<const Sequential*>(&model)) return true;
  if (!graph || graph->inputs.size() != 1 || graph->outputs.size() != 1) return !graph;
  std::map<const Layer*, int> use_counts;
  int last_slot = graph->input_slots.front();
  for (const auto& call : graph->calls) {
    if (call.input_slots.size() != 1 || call.output_slots.size() != 1 ||
        call.input_slots.front() != last_slot)
      return false;
    if (++use_counts[call.node->outbound_layer.get()] > 1) return false;
    last_slot = call.output_slots.front();
  }
  return true;
}

/// A column that an option of summary() adds to the columns of Keras.
struct OptionalColumn {
  const char* title;
  int width;
};

std::vector<OptionalColumn> optional_columns(const SummaryOptions& options) {
  std::vector<OptionalColumn> columns;
  if (options.flops) columns.push_back({"FLOPs", 10});
  if (options.show_trainable) columns.push_back({"Trainable", 11});
  return columns;
}

/// The count with three digits and a unit: "7.73 G".
std::string short_count(double count) {
  const char* const units[] = {"", " k", " M", " G", " T", " P", " E"};
  size_t unit_index = 0;
  while (unit_index + 1 < std::size(units) && count >= 999.5) count /= 1000, ++unit_index;
  char text[32];
  std::snprintf(text, sizeof text, unit_index == 0 || count >= 99.95 ? "%.0f%s" : "%.3g%s", count,
                units[unit_index]);
  return text;
}

class SummaryTable {
 public:
  SummaryTable(const Model& model, const SummaryOptions& options)
      : options_(options), optional_columns_(optional_columns(options)), is_built_(model.built()) {
    if (const auto* functional = dynamic_cast<const Functional*>(&model))
      graph_ = ModelAccess::graph(*functional);
    if (options.flops) flops_ = flops_by_layer(model);
    is_chain_ = is_chain(model, graph_);
    header_ = {"Layer (type)", "Output Shape", "Param #"};
    if (!is_chain_) header_.push_back("Connected to");
    for (const OptionalColumn& column : optional_columns_) header_.push_back(column.title);
    choose_column_ends();
    if (options.positions.empty())
      fit_parameter_counts(longest_count_width(model) + (header_.size() > 3));
  }

  std::vector<std::string> lines(const Model& model) {
    lines_ = {"Model: \"" + on_one_line(model.name()) + "\"", ruled_line('_'),
              line_of(header_, column_ends_, is_narrow_), ruled_line('=')};
    const std::vector<LayerPtr> layers = model.operations();
    for (size_t i = 0; i < layers.size(); ++i) {
      add_layer(*layers[i], "", 0);
      lines_.push_back(ruled_line(i + 1 == layers.size() ? '=' : '_'));
    }
    const int64_t trainable_count = parameter_count(model.trainable_weights()),
                  non_trainable_count = parameter_count(model.non_trainable_weights());
    lines_.push_back("Total params: " + with_commas(trainable_count + non_trainable_count));
    lines_.push_back("Trainable params: " + with_commas(trainable_count));
    lines_.push_back("Non-trainable params: " + with_commas(non_trainable_count));
    if (options_.flops)
      lines_.push_back(concat("Total FLOPs (one sample): ", with_commas(total_flops())));
    lines_.push_back(ruled_line('_'));
    return std::move(lines_);
  }

 private:
  /// Determines where columns end: the columns of Keras have fractions of the line as their widths,
  /// additional columns have widths in characters.
  void choose_column_ends() {
    int added_width = 0;
    for (const OptionalColumn& column : optional_columns_) added_width += column.width;
    const int64_t usual_width = (is_chain_ ? 65 : 98) + added_width;
    const int64_t line_width =
        options_.line_length.value_or(fitting_columns(usual_width, kMinLineWidth));
    width_ = static_cast<size_t>(line_width);
    is_narrow_ = !options_.line_length && line_width < usual_width;
    const auto keras_width =
        static_cast<double>(options_.line_length ? line_width : line_width - added_width);
    set_column_ends(options_.positions.empty() ? usual_positions(keras_width, added_width)
                                               : options_.positions);
  }

  /// The end positions of the columns as fractions of the line, if Keras' columns together are
  /// `keras_width` characters wide and each additional column `added_width`.
  std::vector<double> usual_positions(double keras_width, double added_width) const {
    std::vector<double> positions =
        is_chain_ ? std::vector<double>{.45, .85, 1} : std::vector<double>{.33, .55, .67, 1};
    for (double& position : positions) position *= keras_width / (keras_width + added_width);
    double end = keras_width;
    for (const OptionalColumn& column : optional_columns_) {
      end += column.width;
      positions.push_back(end / (keras_width + added_width));
    }
    return positions;
  }

  /// Sets the positions at which columns end. A position of at most 1 is a fraction of the line
  /// width; a larger one is a number of characters.
  void set_column_ends(const std::vector<double>& positions) {
    if (positions.size() < header_.size())
      fail("summary: expected ", header_.size(), " positions, got ", positions.size());
    for (const double position : positions)
      column_ends_.push_back(static_cast<int>(
          position <= 1 ? std::floor(position * static_cast<double>(width_) + 1e-9) : position));
  }

  int64_t total_flops() const {
    double sum = 0;
    for (const auto& [layer, count] : flops_) sum += count;
    return std::llround(sum);
  }

  /// The number of parameters of a layer; "0 (unbuilt)", as in Keras, if the layer is not built.
  std::string count_text(const Layer& layer) const {
    return is_built_ || layer.built() ? with_commas(parameter_count(layer.weights()))
                                      : "0 (unbuilt)";
  }

  /// The number of characters of the longest parameter count in the summary.
  size_t longest_count_width(const Model& model) const {
    size_t max_width = 0;
    for (const LayerPtr& layer : model.operations()) {
      max_width = std::max(max_width, count_text(*layer).size());
      if (const auto* nested_model = dynamic_cast<const Model*>(layer.get());
          nested_model && options_.expand_nested)
        max_width = std::max(max_width, longest_count_width(*nested_model));
    }
    return max_width;
  }

  /// Widens the third column, of the parameter counts, so that counts of `count_width` characters
  /// fit. In a terminal that is narrower than the usual line, the first two columns become narrower
  /// instead.
  void fit_parameter_counts(size_t count_width) {
    const int missing_width = column_ends_[1] + static_cast<int>(count_width) - column_ends_[2];
    if (missing_width <= 0) return;
    if (is_narrow_ && column_ends_[0] > missing_width) {
      column_ends_[0] -= missing_width / 2;
      column_ends_[1] -= missing_width;
      return;
    }
    for (size_t i = 2; i < column_ends_.size(); ++i) column_ends_[i] += missing_width;
    width_ += static_cast<size_t>(missing_width);
  }

  std::string ruled_line(char c) const { return std::string(width_, c); }

  /// Adds the rows of a layer. `outer_path` is the path of the enclosing model, followed by "/".
  void add_layer(const Layer& layer, const std::string& outer_path, int depth) {
    const std::string path = outer_path + layer.name();
    const std::string indent(2 * static_cast<size_t>(depth), ' ');
    const std::vector<std::string> input_texts =
        is_chain_ || depth > 0 ? TableRow() : connections(layer);
    TableRow row{indent + layer.name() + " (" + type_of(layer) + ")", shape_text(layer),
                 count_text(layer)};
    if (!is_chain_) row.push_back(input_texts.empty() ? "" : input_texts.front());
    if (options_.flops) row.push_back(short_count(flops_of_subtree(flops_, path)));
    if (options_.show_trainable) row.push_back(layer.trainable() ? "Y" : "N");
    lines_.push_back(line_of(row, column_ends_, is_narrow_));
    for (size_t i = 1; i < input_texts.size(); ++i)
      lines_.push_back(line_of({"", "", "", input_texts[i]}, column_ends_, is_narrow_));
    const auto* nested_model = dynamic_cast<const Model*>(&layer);
    if (options_.expand_nested && nested_model)
      for (const LayerPtr& sublayer : nested_model->operations())
        add_layer(*sublayer, path + "/", depth + 1);
  }

  std::vector<std::string> connections(const Layer& layer) const {
    std::vector<std::string> texts;
    for (const auto& call : graph_->calls) {
      if (call.node->outbound_layer.get() != &layer) continue;
      for (const Symbol& s : call.node->inputs)
        texts.push_back(
            concat(s.layer()->name(), "[", s.node_index(), "][", s.tensor_index(), "]"));
    }
    return texts;
  }

  const SummaryOptions& options_;
  const std::vector<OptionalColumn> optional_columns_;
  const bool is_built_;  ///< whether the model is built
  LayerFlops flops_;
  const ModelAccess::Graph* graph_ = nullptr;
  bool is_chain_ = true;
  TableRow header_;
  std::vector<int> column_ends_;
  size_t width_ = 0;
  bool is_narrow_ = false;  ///< whether the terminal has fewer columns than the usual line
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> Model::summary(const Dict& option_values) const {
  SummaryOptions options;
  schema_of<SummaryOptions>("summary").configure(&options, option_values);
  if (!built() && options.flops)
    fail(
        "This model has not yet been built. Build the model first by calling build() or calling "
        "fit() with some data. Or specify "
        "input_shape or batch_input_shape in the first layer for automatic build. ");
  return SummaryTable(*this, options).lines(*this);
}

}  // namespace crescent

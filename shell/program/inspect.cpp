#include <sys/stat.h>

#include "crescent/io/format.h"
#include "crescent/registry/registry.h"
#include "file_commands.h"

namespace crescent::program {
namespace {

/// The number with thousands separators: "1,234,567".
std::string with_separators(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto position = static_cast<std::ptrdiff_t>(digits.size()) - 3; position > 0; position -= 3)
    digits.insert(position, ",");
  return digits;
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text + "  ";
}

}  // namespace

bool format_can(const Format& format, std::string_view ability) {
  const Value* abilities = format.info()->schema.traits.find("abilities");
  if (!abilities) return false;
  const List& names = abilities->as_list();
  return std::find(names.begin(), names.end(), Value(ability)) != names.end();
}

namespace {

/// The formats for whose files a summary can be made.
std::vector<std::string> inspectable_formats() {
  std::vector<std::string> names;
  for (const std::string& name : registry().names(Format::kKind)) {
    const FormatPtr format = make<Format>(name);
    const auto& schema = format->info()->schema;
    if (schema.find_method("inspect") || schema.find_method("columns") ||
        format_can(*format, ReadsArrays::kAbility))
      names.push_back(name);
  }
  return names;
}

/// A summary of the arrays in a file, for formats without a summary of their own.
Value arrays_of(const std::string& path) {
  int64_t number_count = 0;
  List rows;
  for (const auto& [name, array] : format_to_read<ReadsArrays>(path)->read_arrays(path)) {
    const List dims(array.shape().begin(), array.shape().end());
    rows.emplace_back(
        Dict{{"name", name}, {"dtype", Codec<DType>::encode(array.dtype())}, {"shape", dims}});
    number_count += array.shape().size();
  }
  return Dict{{"kind", "arrays"}, {"numbers", number_count}, {"arrays", std::move(rows)}};
}

/// A summary of the model in a file, for formats without a summary of their own.
Value model_of(const std::string& path) {
  const ModelPtr model = load_model(path);
  List layers;
  for (const LayerPtr& layer : model->operations())
    layers.emplace_back(Dict{{"name", layer->name()},
                             {"class", layer->class_name()},
                             {"parameters", layer->count_params()}});
  return Dict{{"kind", "model"}, {"numbers", model->count_params()}, {"layers", std::move(layers)}};
}

/// The columns of a table as arrays.
Value columns_of(Format& format, const std::string& path) {
  const Value table = format.call_method("columns", {{"path", path}, {"options", Dict{}}});
  const Dict& columns = table.as_list()[1].as_dict();
  int64_t number_count = 0;
  List rows;
  for (const Value& name : table.as_list()[0].as_list()) {
    const Tensor column = Codec<Tensor>::decode(columns.at(name.as_string()));
    number_count += column.size();
    rows.emplace_back(Dict{{"name", name},
                           {"dtype", Codec<DType>::encode(column.dtype())},
                           {"shape", List{Value(column.size())}}});
  }
  return Dict{{"kind", "table"}, {"numbers", number_count}, {"arrays", std::move(rows)}};
}

/// Makes the summary of a file with the methods that its format has; null for formats that can only
/// be written.
Value summary_of(Format& format, const std::string& path) {
  const auto& schema = format.info()->schema;
  if (const Method* inspect = schema.find_method("inspect"))
    return inspect->call(dynamic_cast<void*>(&format), {{"path", path}});
  if (format_can(format, ReadsArrays::kAbility)) return arrays_of(path);
  if (format_can(format, ModelFormat::kAbility) && !schema.traits.find("written_only"))
    return model_of(path);
  return schema.find_method("columns") ? columns_of(format, path) : Value();
}

std::string shape_text(const Value& shape) {
  std::string text;
  for (const Value& dim : shape.as_list()) text += (text.empty() ? "" : ", ") + to_json(dim);
  return "(" + text + ")";
}

std::string array_text(const Dict& array) {
  return array.at("dtype").as_string() + " " + shape_text(array.at("shape"));
}

/// The cells of a line about a layer: name, class, number of parameters, and weights.
using TableRow = std::vector<std::string>;

void add_layers(std::vector<TableRow>& rows, const Value& layers, const std::string& indent) {
  for (const Value& value : layers.as_list()) {
    const Dict& layer = value.as_dict();
    const Value *class_name = layer.find("class"), *parameters = layer.find("parameters"),
                *weights = layer.find("weights"), *sublayers = layer.find("layers");
    std::string weights_text;
    if (weights)
      for (const Value& weight : weights->as_list())
        weights_text += (weights_text.empty() ? "" : ", ") +
                        weight.as_dict().at("name").as_string() + " " +
                        array_text(weight.as_dict());
    rows.push_back({indent + layer.at("name").as_string(),
                    class_name ? class_name->as_string() : "",
                    parameters ? with_separators(parameters->as_int()) : "", weights_text});
    if (sublayers) add_layers(rows, *sublayers, indent + "  ");
  }
}

void print_rows(const std::vector<TableRow>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const TableRow& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const TableRow& row : rows) {
    std::string line = "  ";
    for (size_t i = 0; i + 1 < row.size(); ++i) line += padded(row[i], widths[i]);
    print(line + row.back() + "\n");
  }
}

void print_fact(const std::string& name, const std::string& text) {
  print("  " + padded(name, 12) + text + "\n");
}

void print_plugins(const Dict& plugins) {
  for (const DictEntry& entry : plugins)
    print_fact("needs", concat(entry.key, " ", text_of(entry.value.as_dict().at("version")), ": ",
                               text_of(entry.value.as_dict().at("classes"))));
}

/// The text of an optimizer: its class and its learning rate; the option --json prints all options.
std::string optimizer_text(const Value& optimizer) {
  const Value* name = optimizer.is_dict() ? optimizer.as_dict().find("class_name") : nullptr;
  const Value* config = optimizer.is_dict() ? optimizer.as_dict().find("config") : nullptr;
  if (!name) return text_of(optimizer);
  const Value* rate = nullptr;
  for (const char* key : {"learning_rate", "lr"})
    if (config && config->is_dict() && !rate) rate = config->as_dict().find(key);
  return text_of(*name) + (rate ? ", learning_rate " + text_of(*rate) : "");
}

void print_summary(const Dict& summary) {
  print(concat(summary.at("path").as_string(), ": ", summary.at("kind").as_string(), ", format ",
               summary.at("format").as_string(), ", ",
               with_separators(summary.at("bytes").as_int()), " bytes\n"));
  const auto print_if_present = [&](const char* key, const char* name) {
    if (const Value* value = summary.find(key)) print_fact(name, text_of(*value));
  };
  print_if_present("written_by", "written by");
  print_if_present("backend", "backend");
  if (const Value* name = summary.find("name"))
    print_fact("model", concat(summary.at("class").as_string(), " '", name->as_string(), "'"));
  if (const Value* parameters = summary.find("parameters"))
    print_fact("weights",
               concat(with_separators(parameters->as_int()), " parameters, ",
                      with_separators(summary.at("bytes_of_weights").as_int()), " bytes"));
  print_if_present("epochs_trained", "epochs");
  print_if_present("output_mode", "output");
  print_if_present("crosses", "crosses");
  if (const Value* optimizer = summary.find("optimizer"))
    print_fact("optimizer", optimizer_text(*optimizer));
  print_if_present("optimizer_arrays", "its arrays");
  for (const char* key : {"loss", "loss_weights", "metrics", "weighted_metrics"})
    print_if_present(key, key);
  if (const Value* plugins = summary.find("plugins")) print_plugins(plugins->as_dict());
  std::vector<TableRow> rows;
  if (const Value* layers = summary.find("layers")) add_layers(rows, *layers, "");
  if (const Value* features = summary.find("features"))
    for (const Value& feature : features->as_list()) {
      TableRow& row = rows.emplace_back();
      for (const char* key : {"name", "class", "dtype", "output_mode"})
        row.push_back(feature.as_dict().at(key).as_string());
    }
  if (const Value* arrays = summary.find("arrays"))
    for (const Value& array : arrays->as_list())
      rows.push_back({array.as_dict().at("name").as_string(), array_text(array.as_dict())});
  if (!rows.empty()) print("\n"), print_rows(rows);
}

int64_t size_of_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : 0;
}

}  // namespace

Value file_summary(const std::string& path) {
  const FormatPtr format = format_to_read(path);
  const Value summary = summary_of(*format, path);
  if (summary.is_null())
    fail("'", path, "': files of format ", format->class_name(),
         " are only written; inspect reads those of ", join(inspectable_formats()));
  Dict result{{"path", path}, {"format", format->class_name()}, {"bytes", size_of_file(path)}};
  for (const DictEntry& entry : summary.as_dict()) result.set(entry.key, entry.value);
  return result;
}

int inspect(const std::vector<std::string>& arguments) {
  const FileArguments command_line(arguments, "inspect", 1, {"json"});
  const Value summary = file_summary(command_line.paths.front());
  if (command_line.has("json"))
    print_json(summary);
  else
    print_summary(summary.as_dict());
  return 0;
}

}  // namespace crescent::program

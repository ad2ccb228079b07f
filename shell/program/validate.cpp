#include "crescent/io/format.h"
#include "crescent/ops/ops.h"
#include "file_commands.h"
#include "sample_data.h"

namespace crescent::program {
namespace {

/// Reads arrays from a file: the array named `single_name` if there is only one name, else the
/// arrays with these names (of the model's inputs or outputs).
Tensors arrays_in(const std::string& file, const std::vector<std::string>& names,
                  const char* single_name) {
  if (names.size() == 1) return {open_array(file, single_name).clone()};
  Tensors arrays;
  for (const std::string& name : names) arrays.push_back(open_array(file, name).clone());
  return arrays;
}

}  // namespace

int validate(const std::vector<std::string>& arguments) {
  const FileArguments command_line(arguments, "validate", 1, {}, {"data", "batch_size"});
  const ModelPtr model = load_model(command_line.paths[0]);
  const Value* data = command_line.options.find("data");
  if (!data && !model->is_graph())
    fail("the shape of the model's inputs is not known: expected --data with arrays x and y");
  const Tensors x =
      data ? arrays_in(data->as_string(), model->input_names(), "x") : inputs_for(*model);
  Tensors y;
  if (model->compiled())
    y = data ? arrays_in(data->as_string(), model->output_names(), "y") : targets_for(*model, x);
  Dict options;
  if (const Value* size = command_line.options.find("batch_size"))
    options.set("batch_size", parse_json(size->as_string()));
  const Validation report = model->validate(x, y, options);
  for (const std::string& line : report.lines) print(line + "\n");
  return report.ok() ? 0 : 1;
}

}  // namespace crescent::program

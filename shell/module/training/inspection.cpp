#include "training/inspection.h"

#include <cmath>

#include "background/async_run.h"
#include "classes/building.h"
#include "classes/options.h"
#include "training/given_model.h"
#include "training/report.h"
#include "training/training_arguments.h"
#include "values/batches.h"
#include "values/function.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

Value profile_value(const Profile& profile) {
  List rows;
  for (const ProfileEntry& row : profile.rows)
    rows.push_back(Dict{{"layer", row.scope},
                        {"op", row.op},
                        {"shapes", row.shapes},
                        {"kernel", row.kernel},
                        {"calls", static_cast<int64_t>(row.calls)},
                        {"seconds", row.seconds},
                        {"flops", row.flops},
                        {"bytes", row.bytes},
                        {"seconds_on", List(row.seconds_on.begin(), row.seconds_on.end())},
                        {"parts", row.parts},
                        {"largest_part", row.largest_part}});
  return Dict{{"seconds", profile.seconds},
              {"batch_size", profile.batch_size},
              {"rows", std::move(rows)},
              {"cores", List(kProfiledCores.begin(), kProfiledCores.end())}};
}

/// A number as a Value; nil for NaN, which stands for a missing number.
Value number_or_nil(double x) { return std::isnan(x) ? Value() : Value(x); }

Value traced_value(const TracedOutput& output) {
  List shape;
  for (int i = 0; i < output.spec.shape.rank(); ++i) shape.push_back(output.spec.shape[i]);
  Dict row{{"layer", output.layer},     {"class", output.class_name},
           {"call", output.call + 1},   {"output", output.output + 1},
           {"shape", std::move(shape)}, {"dtype", to_text(output.spec.dtype)}};
  if (output.value) row.set("value", std::make_shared<BoxedTensor>(output.value));
  if (!output.statistics) return row;
  const TensorStatistics& s = *output.statistics;
  for (const auto& [name, x] : {std::pair{"min", s.min},
                                {"max", s.max},
                                {"mean", s.mean},
                                {"std", s.std},
                                {"zeros", s.zeros}})
    row.set(name, number_or_nil(x));
  row.set("nan", s.nan);
  row.set("inf", s.inf);
  return row;
}

/// The metamethod __index of a trace, which returns the outputs of a layer. To compute the outputs
/// it calls the model again. Its upvalues, from the second on, are the model, the data, and whether
/// the model is called in training mode.
int traced_outputs(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) return 0;
  const auto model = object_as<Model>(L, lua_upvalueindex(2));
  const Dict options{{"layers", text_of(L, 2)},
                     {"statistics", false},
                     {"values", true},
                     {"training", lua_toboolean(L, lua_upvalueindex(4)) != 0}};
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(3));
  const LayerTrace trace = model->trace(to_inputs(L, 3, *model), options);
  Tensors values;
  for (const TracedOutput& output : trace.outputs) values.push_back(output.value);
  values.size() == 1 ? push(L, values.front()) : push(L, values);
  return 1;
}

int trace(lua_State* L) {
  Interruptible interruptible;
  auto model = self(L);
  const int first_option_index = first_option(L, *model, 1);
  const Dict options = options_from(L, first_option_index, schema<TraceOptions>("trace"));
  const LayerTrace trace = model->trace(to_inputs(L, 2, *model), options);
  List rows;
  for (const TracedOutput& output : trace.outputs) rows.push_back(traced_value(output));
  push_report(L, rows, join(trace.lines, "\n"));
  lua_getmetatable(L, -1);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  const Value* training = options.find("training");
  lua_pushboolean(L, training && training->as_bool());
  static const RawFunction outputs("trace", traced_outputs, {"trace", "layer"}, "", nullptr);
  push_closure(L, outputs, 3);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  return 1;
}

Value norm_values(const std::vector<GradientNorm>& norms) {
  List values;
  for (const GradientNorm& norm : norms)
    values.push_back(Dict{{"name", norm.name},
                          {"gradient", norm.gradient},
                          {"weight", norm.weight},
                          {"ratio", norm.ratio()}});
  return values;
}

int gradient_norms(lua_State* L) {
  auto model = self(L);
  await_end_of_batch(*model, "gradient_norms");
  const int first_option_index = first_option(L, *model, 2);
  const Dict options =
      options_from(L, first_option_index, schema<GradientNormsOptions>("gradient_norms"));
  const Tensors x = to_inputs(L, 2, *model);
  const GradientNorms norms = model->gradient_norms(x, to_targets(L, 3, *model, x), options);
  push_report(L,
              Dict{{"loss", norms.loss},
                   {"layers", norm_values(norms.layers)},
                   {"weights", norm_values(norms.weights)}},
              join(norms.lines, "\n"));
  return 1;
}

int find_learning_rate(lua_State* L) {
  Interruptible interruptible;
  auto model = self(L);
  expect_not_in_training(*model, "find_learning_rate");
  const int first_option_index = first_option(L, *model, 2);
  const Dict options =
      options_from(L, first_option_index, schema<LearningRateOptions>("find_learning_rate"));
  const Tensors x = to_inputs(L, 2, *model);
  const LearningRateCurve curve =
      model->find_learning_rate(x, to_targets(L, 3, *model, x), options);
  const auto to_list = [](const std::vector<double>& numbers) {
    return List(numbers.begin(), numbers.end());
  };
  push_report(L,
              Dict{{"rates", to_list(curve.rates)},
                   {"losses", to_list(curve.losses)},
                   {"averages", to_list(curve.averages)},
                   {"suggestion", number_or_nil(curve.suggestion)}},
              join(curve.lines, "\n"));
  return 1;
}

int profile(lua_State* L) {
  Interruptible interruptible;
  auto model = self(L);
  const int first_option_index = first_option(L, *model, 2);
  Dict options = options_from(L, first_option_index, schema<ProfileOptions>("profile"));
  const Value print_fn = take_option(options, "print_fn");
  const Profile profile =
      model->profile(to_inputs(L, 2, *model), to_data(L, 3, output_names(*model)), options);
  print_lines(L, profile.lines, print_fn);
  push_report(L, profile_value(profile),
              concat("<profile of ", profile.rows.size(), " instructions>"));
  return 1;
}

Value validation_value(const Validation& report) {
  List findings;
  for (const Finding& finding : report.findings) {
    List element;
    for (int64_t i : finding.element) element.push_back(i + 1);
    findings.push_back(Dict{{"step", finding.step},
                            {"instruction", finding.instruction},
                            {"layer", finding.layer},
                            {"pass", finding.pass},
                            {"kernel", finding.kernel},
                            {"element", std::move(element)},
                            {"got", finding.got},
                            {"expected", finding.expected},
                            {"bound", finding.bound}});
  }
  return Dict{{"ok", report.ok()},
              {"findings", std::move(findings)},
              {"steps", List(report.steps.begin(), report.steps.end())},
              {"instructions", report.instructions},
              {"kernels", report.kernels},
              {"elements", report.elements},
              {"undecided", report.undecided},
              {"tightness", report.tightness}};
}

int validate(lua_State* L) {
  Interruptible interruptible;
  auto model = self(L);
  const int first_option_index = first_option(L, *model, 2);
  Dict options = options_from(L, first_option_index, schema<ValidateOptions>("validate"));
  const Value print_fn = take_option(options, "print_fn");
  const Validation report = model->validate(to_data(L, 2, input_names(*model)),
                                            to_data(L, 3, output_names(*model)), options);
  print_lines(L, report.lines, print_fn);
  push_report(L, validation_value(report),
              concat("<validation: ", report.ok() ? "ok, " : "not ok, ", report.findings.size(),
                     " findings>"));
  return 1;
}

}  // namespace

void add_inspection(HandleType& model) {
  model
      .raw_method(
          "trace -> a list of rows", trace, {"x: a tensor or a structure of them"},
          "The output of every layer for x, in the order of execution: shape, minimum, maximum, "
          "mean and more, as a list of rows that prints as a table. trace[\"dense_1\"] is the "
          "output of a layer, by name or path, with the current weights.",
          &schema<TraceOptions>("trace"))
      .raw_method("gradient_norms -> a list of rows", gradient_norms,
                  {"x: a tensor or a structure of them", "y: a tensor or a structure of them"},
                  "The norms of the gradients of the loss on a batch, the norms of the weights, "
                  "and their ratio, for each layer and weight. Nothing is updated.",
                  &schema<GradientNormsOptions>("gradient_norms"))
      .raw_method(
          "find_learning_rate -> a table with names", find_learning_rate,
          {"x: a tensor, a structure of them, or a dataset", "y: a tensor or a structure of them"},
          "Trains at exponentially growing learning rates until the loss diverges (Smith 2017), "
          "then restores the model. Returns the rates, the losses, their moving averages and, as a "
          "suggestion, the rate at which the loss falls fastest.",
          &schema<LearningRateOptions>("find_learning_rate"))
      .raw_method("profile -> a profile", profile,
                  {"x: a tensor, a structure of them, or a dataset",
                   "y: a tensor or a structure of them=nil"},
                  "Measures where the time of a training step goes or, without y, of a prediction; "
                  "prints tables (or passes their lines to print_fn) and returns the rows.",
                  &schema<ProfileOptions>("profile"))
      .raw_method("validate -> a table with names", validate,
                  {"x: a tensor, a structure of them, or a dataset",
                   "y: a tensor or a structure of them=nil"},
                  "Compares the compiled steps with plain loops in float64, each result within a "
                  "bound of its rounding errors; prints a summary (or passes its lines to "
                  "print_fn) and returns the findings. The model does not change.",
                  &schema<ValidateOptions>("validate"));
}

}  // namespace crescent::lua

// check_plugin: checks every class of a plugin by the rules of its kind.
#include <algorithm>
#include <map>
#include <set>

#include "check/checked_layer.h"
#include "check/classes.h"
#include "check/drawn_options.h"
#include "check/isolation/progress.h"
#include "crescent/registry/loader.h"
#include "model/config.h"

namespace crescent {
namespace {

using check::CheckedClass;

struct KindChecks {
  const char* kind;
  check::AddRows add;
};
constexpr KindChecks kKindChecks[] = {{"activation", check::add_activation_rows},
                                      {"loss", check::add_loss_rows},
                                      {"metric", check::add_metric_rows},
                                      {"initializer", check::add_initializer_rows},
                                      {"regularizer", check::add_regularizer_rows},
                                      {"constraint", check::add_constraint_rows},
                                      {"optimizer", check::add_optimizer_rows},
                                      {"schedule", check::add_schedule_rows},
                                      {"callback", check::add_callback_rows},
                                      {"operation", check::add_operation_rows},
                                      {"format", check::add_format_rows},
                                      {"dataset", check::add_dataset_rows},
                                      {"communicator", check::add_communicator_rows},
                                      {"cpu_kernel", check::add_kernel_rows}};

/// The options for the check of one class: those that a user gives, and the values that
/// draw_options() chooses for the other required options.
struct ClassOptions {
  Dict options, drawn_options;
  LayerCheckOptions checks;

  ClassOptions(const std::string& kind, const std::string& class_name, const Value* value) {
    if (value && !value->is_dict())
      fail("check_plugin: class '", class_name, "': expected {\"options\": {...}}, got ",
           to_json(*value));
    if (value)
      for (const DictEntry& entry : value->as_dict())
        read(kind, class_name, entry.key, entry.value);
    if (!(checks.low <= checks.high))
      fail("check_plugin: class '", class_name, "': expected 'low' to be at most 'high', got ",
           checks.low, " and ", checks.high);
    drawn_options = check::draw_options(kind, class_name, options);
    for (const DictEntry& entry : drawn_options) options.set(entry.key, entry.value);
  }

  /// Returns `inputs`, in which the members that the user has given are replaced.
  LayerCheckOptions with_given_inputs(LayerCheckOptions inputs) const {
    for (const DictEntry& entry : given_checks_) set(inputs, entry.key, entry.value);
    return inputs;
  }

 private:
  Dict given_checks_;

  static void set(LayerCheckOptions& checks, const std::string& key, const Value& value) {
    if (key == "shapes")
      checks.shapes = shapes_from(value);
    else if (key == "dtypes")
      checks.dtypes = Codec<std::vector<DType>>::decode(value);
    else if (key == "low")
      checks.low = value.as_float();
    else if (key == "high")
      checks.high = value.as_float();
    else if (key == "batch_size")
      checks.batch_size = value.as_int();
    else if (key == "without")
      checks.without = Codec<std::vector<std::string>>::decode(value);
    else
      fail("there is no such key", did_you_mean(key, kOptionKeys));
  }
  void read(const std::string& kind, const std::string& class_name, const std::string& key,
            const Value& value) try {
    if (key == "options") {
      options = Codec<Dict>::decode(value);
      return;
    }
    set(checks, key, value);
    if (kind != Layer::kKind && key != "without")
      fail("inputs are chosen for layers; of kind ", kind, " expected only options and without");
    given_checks_.set(key, value);
  } catch (Error& error) {
    error.add_context(concat("check_plugin: class '", class_name, "': '", key, "': "));
    throw;
  }
  static inline const std::vector<std::string> kOptionKeys{"options", "shapes",  "dtypes",    "low",
                                                           "high",    "without", "batch_size"};
};

/// Shapes and dtypes that layers are tried with when none are given.
std::vector<LayerCheckOptions> usual_inputs() {
  std::vector<LayerCheckOptions> result;
  for (const Shape& shape :
       {Shape{6}, Shape{5, 4}, Shape{8, 8, 3}, Shape{4, 6, 6, 2}, Shape{3, 4, 5, 5, 2}})
    for (const size_t count : {1, 2, 3})
      result.push_back({std::vector<Shape>(count, shape), {DType::float32}});
  for (const size_t count : {1, 2})
    result.push_back({std::vector<Shape>(count, Shape{5}), {DType::int32}, 0, 4});
  result.push_back({{Shape{1}}, {DType::string}, 0, 4});
  return result;
}

/// Whether the layer treats the first axis of its inputs as the batch axis: each output has a row
/// for each sample, also for a batch of 0 samples. A layer for images may treat a batch as an
/// image.
bool keeps_samples(const check::CheckedLayer& checked) try {
  for (const int64_t batch : {checked.batch(), checked.takes_any_batch() ? 0 : checked.batch()}) {
    const LayerPtr layer = checked.make_built();
    for (const Tensor& y : (*layer)(checked.inputs(batch)))
      if (y.rank() == 0 || y.dim(0) != batch) return false;
  }
  return true;
} catch (const Error&) {
  return false;
}

/// Finds inputs among `possible_inputs` with which the layer can be called, and stores them in
/// `options`. It prefers inputs whose first axis the layer treats as the batch axis. If the layer
/// can be called with none of them, returns the error of the last attempt.
std::string find_inputs(const CheckedClass& checked,
                        const std::vector<LayerCheckOptions>& possible_inputs,
                        ClassOptions& options) {
  std::string message;
  std::optional<LayerCheckOptions> found_inputs;
  for (const LayerCheckOptions& candidate : possible_inputs) {
    const LayerCheckOptions inputs = options.with_given_inputs(candidate);
    const CheckReport report = check::first_check(checked.name, options.options, inputs);
    if (!report.ok()) {
      message = report.results.front().text;
      continue;
    }
    const bool is_sample_kept = keeps_samples({checked.name, options.options, inputs});
    if (is_sample_kept || !found_inputs) found_inputs = inputs;
    if (is_sample_kept) break;
  }
  if (!found_inputs) return message;
  options.checks = *found_inputs;
  return "";
}

/// Adds the ops that the layer and its gradient apply, for inputs of each size, to the ops that
/// kernels are checked with.
void note_layer(const CheckedClass& checked, const LayerCheckOptions& checks) {
  for (const check::SizedLayer& sized :
       check::sized_layers(check::CheckedLayer(checked.name, checked.options, checks)))
    for (const bool training : {false, true}) {
      const check::LayerCaller call_layer(*sized.layer, training);
      check::collect_applied_ops(
          *checked.collected_ops, [&](const Tensors& x) { return call_layer(x); }, sized.inputs,
          sized.layer->trainable_weights());
    }
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

CheckReport check_layer_class(const CheckedClass& checked, ClassOptions class_options) {
  std::string message;
  if (contains(class_options.checks.without, "call"))
    return check_layer(checked.name, class_options.options, class_options.checks);
  if (class_options.checks.shapes.empty())
    message = find_inputs(checked, usual_inputs(), class_options);
  else if (!class_options.drawn_options.empty())
    message = find_inputs(checked, {class_options.checks}, class_options);
  if (message.empty()) {
    CheckReport report = check_layer(checked.name, class_options.options, class_options.checks);
    if (report.ok()) note_layer(checked, class_options.checks);
    return report;
  }
  const bool is_exception = message.find(concat("(in ", checked.name, " of ")) != message.npos;
  return {checked.name,
          {{"call", is_exception ? CheckOutcome::failed : CheckOutcome::skipped,
            "which options and shapes it wants has to be said; of the usual ones it said: " +
                message}}};
}

/// The required options of a class that were neither given nor drawn.
std::string missing_options(const CheckedClass& checked) {
  std::vector<std::string> names;
  const auto info = registry().get(checked.kind, checked.name);
  for (const Field& field : info->schema.fields)
    if (field.required && !checked.options.contains(field.name)) names.push_back(field.name);
  return join(names);
}

/// Why no object of the class can be made without more options from the user; empty if one can.
std::string reason_not_made(const CheckedClass& checked, const ClassOptions& class_options) try {
  if (const std::string missing_names = missing_options(checked); !missing_names.empty())
    return concat("it requires ", missing_names);
  if (!class_options.drawn_options.empty())
    make_object(checked.kind, checked.name, checked.options);
  return "";
} catch (const Error& error) {
  if (check::is_of_exception(error)) return "";
  return concat("of ", to_json(class_options.drawn_options), " it said: ", error.what());
}

/// Removes the results of this name, one of several that a single check has, from the report. Fails
/// if a report of a class without mistakes has none and no check of this name is excluded.
void leave_out(CheckReport& report, const std::string& name,
               const std::vector<std::string>& excluded_checks) {
  std::vector<std::string> names{"gradients"};
  for (const CheckResult& result : report.results) names.push_back(result.name);
  names.insert(names.end(), excluded_checks.begin(), excluded_checks.end());
  const auto is_meant = [&](const CheckResult& result) { return result.name == name; };
  if (std::erase_if(report.results, is_meant) == 0 && report.ok() &&
      !contains(excluded_checks, name))
    fail("check_plugin: ", report.subject, ": no check '", name, "'", did_you_mean(name, names));
}

CheckReport check_class(const CheckedClass& checked, const ClassOptions& class_options) {
  if (checked.kind == Layer::kKind) return check_layer_class(checked, class_options);
  CheckReport report{concat(checked.name, " (", checked.kind, ")"), {}};
  const auto row = std::find_if(std::begin(kKindChecks), std::end(kKindChecks),
                                [&](const KindChecks& r) { return checked.kind == r.kind; });
  if (row == std::end(kKindChecks)) {
    report.results.push_back({"", CheckOutcome::skipped, "there are no checks of this kind"});
    return report;
  }
  if (const std::string missing_reason = reason_not_made(checked, class_options);
      !missing_reason.empty()) {
    report.results.push_back({"options", CheckOutcome::skipped,
                              concat("which options it wants has to be said, as {\"", checked.name,
                                     "\": {\"options\": {...}}}; ", missing_reason)});
    return report;
  }
  const check::ExcludedChecks excluded_checks(class_options.checks.without);
  try {
    if (checked.kind != "operation")
      check::add_result(report, "options", [&] { return check::check_configuration(checked); });
    if (report.ok()) row->add(report, checked);
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    report.results.push_back({"", CheckOutcome::failed, exception_text()});
  }
  for (const std::string& name : class_options.checks.without)
    leave_out(report, name, excluded_checks.met_checks());
  return report;
}

void expect_classes(const PluginRecord& plugin, const Dict& options) {
  std::vector<std::string> names;
  for (const auto& [kind, name] : plugin.classes) names.push_back(name);
  for (const DictEntry& entry : options)
    if (std::find(names.begin(), names.end(), entry.key) == names.end())
      fail("plugin '", plugin.name, "' has no class '", entry.key, "'",
           did_you_mean(entry.key, names));
}

/// The checks of all classes of a plugin. Kernels of ops that the plugin's operations apply are
/// checked first, in guarded memory, because a kernel that writes beyond its own memory would
/// disturb all other checks. The other kernels are checked last, when the ops that layers apply are
/// known.
class ClassChecks {
 public:
  ClassChecks(const PluginRecord& record, const Dict& options)
      : classes_(record.classes),
        options_(options),
        has_kernels_(std::any_of(classes_.begin(), classes_.end(), is_kernel)) {}

  std::vector<CheckReport> run() {
    for (const auto& [kind, name] : classes_) {
      if (kind != "operation" || check::fatal_result_of({kind, name})) continue;
      check::announce_class({kind, name});
      const ClassOptions options = options_for(kind, name);
      if (contains(options.checks.without, "call")) continue;
      check::announce("call");
      op_names_by_operation_[name] = check::note_operation(checked_class(kind, name, options));
    }
    check_all([&](const auto& kind_and_name) {
      return is_kernel(kind_and_name) && is_applied(kind_and_name.second);
    });
    check_all([&](const auto& kind_and_name) { return !is_kernel(kind_and_name); });
    check_all([&](const auto& kind_and_name) {
      return is_kernel(kind_and_name) && !checked_kernels_.contains(kind_and_name.second);
    });
    return std::move(reports_);
  }

 private:
  static bool is_kernel(const KindAndName& kind_and_name) {
    return kind_and_name.first == "cpu_kernel";
  }
  bool is_applied(const std::string& op) const {
    return std::any_of(applied_ops_.begin(), applied_ops_.end(),
                       [&](const check::AppliedOp& applied) { return applied.op->name() == op; });
  }
  ClassOptions options_for(const std::string& kind, const std::string& name) const {
    return {kind, name, options_.find(name)};
  }
  CheckedClass checked_class(const std::string& kind, const std::string& name,
                             const ClassOptions& class_options) {
    return {kind, name, class_options.options, &applied_ops_};
  }

  template <class Predicate>
  void check_all(Predicate is_meant) {
    for (const KindAndName& kind_and_name : classes_)
      if (is_meant(kind_and_name)) check_one_class(kind_and_name);
  }

  void check_one_class(const KindAndName& kind_and_name) {
    const auto& [kind, name] = kind_and_name;
    if (check::is_reported(kind_and_name) && !has_kernels_) return;
    check::announce_class(kind_and_name);
    reports_.push_back(report_of(kind, name));
    check::announce_end(reports_.back());
    if (!is_kernel(kind_and_name)) return;
    checked_kernels_.insert(name);
    for (const CheckResult& result : reports_.back().results)
      if (result.name == check::kMemoryCheck && result.outcome == CheckOutcome::failed)
        faulty_kernels_.insert(name);
  }

  CheckReport report_of(const std::string& kind, const std::string& name) {
    const std::string subject = concat(name, " (", kind, ")");
    if (const CheckResult* result = check::fatal_result_of({kind, name}))
      return {subject, {*result}};
    const std::string kernel_name = faulty_kernel_of(name);
    if (!kernel_name.empty())
      return {subject,
              {{"", CheckOutcome::skipped,
                concat("its kernel ", kernel_name, " uses memory beyond its own")}}};
    const ClassOptions options = options_for(kind, name);
    CheckReport report = check_class(checked_class(kind, name, options), options);
    if (!options.drawn_options.empty())
      report.subject += concat(" with ", to_json(options.drawn_options));
    return report;
  }

  /// The kernel that the operation applies and that failed the check of its memory; empty if there
  /// is none.
  std::string faulty_kernel_of(const std::string& operation) const {
    const auto ops = op_names_by_operation_.find(operation);
    if (ops == op_names_by_operation_.end()) return "";
    for (const std::string& op : ops->second)
      if (faulty_kernels_.contains(op)) return op;
    return "";
  }

  std::vector<KindAndName> classes_;
  const Dict& options_;
  bool has_kernels_;
  std::vector<check::AppliedOp> applied_ops_;
  /// For each operation, the names of the ops that it applies.
  std::map<std::string, std::set<std::string>> op_names_by_operation_;
  std::set<std::string> checked_kernels_, faulty_kernels_;  ///< names of kernels
  std::vector<CheckReport> reports_;
};

}  // namespace

std::vector<CheckReport> check_plugin(const std::string& plugin, const Dict& options) {
  return check_plugin(plugin, options, {});
}

std::vector<CheckReport> check_plugin(const std::string& plugin, const Dict& options,
                                      const CheckProgress& progress) {
  const InterruptScope interrupt_scope;
  const check::ProgressScope progress_reports(progress);
  const bool is_path = plugin.find('/') != plugin.npos || plugin.ends_with(".so");
  const PluginRecord record = is_path ? load_plugin(plugin) : load_plugin_by_name(plugin);
  expect_classes(record, options);
  return ClassChecks(record, options).run();
}

}  // namespace crescent

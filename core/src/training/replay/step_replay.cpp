#include "training/replay/step_replay.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "host/replay.h"
#include "training/snapshot_file.h"

namespace crescent {
namespace {

/// Writes the verdict for `crescent replay` and ends the process, so that the rest of the script
/// does not run again.
[[noreturn]] void end_with_verdict(const ReplayTask& task, ReplayStatus status,
                                   const std::string& text) {
  const std::string verdict_json =
      to_json(Dict{{"status", static_cast<int>(status)}, {"text", text}});
  const bool is_written = write(task.result_descriptor, verdict_json.data(), verdict_json.size()) ==
                          std::ssize(verdict_json);
  std::fflush(nullptr);
  std::_Exit(is_written ? 0 : 1);
}

int64_t backup_before(const ReplayTask& task) {
  const std::vector<int64_t> steps = backups_in(task.folder);
  const auto next_backup = std::lower_bound(steps.begin(), steps.end(), task.step);
  if (next_backup == steps.begin())
    end_with_verdict(task, ReplayStatus::failed,
                     concat("there is no backup before step ", task.step));
  return *std::prev(next_backup);
}

/// The absolute difference of two values; infinite if only one of them is NaN, 0 if both are.
double absolute_difference(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
  return std::abs(a - b);
}

/// The indices of an element as text, from 1: "(3, 17)".
std::string text_of_index(size_t element, const Shape& shape) {
  std::vector<std::string> index_texts;
  auto remaining_index = static_cast<int64_t>(element);
  for (int axis = shape.rank() - 1; axis >= 0; remaining_index /= shape[axis--])
    index_texts.insert(index_texts.begin(), std::to_string(remaining_index % shape[axis] + 1));
  return "(" + join(index_texts, ", ") + ")";
}

std::string largest_difference(const Tensor& recorded_value, const Tensor& computed_value) {
  if (recorded_value.spec() != computed_value.spec())
    fail("the backup has ", recorded_value.spec(), ", expected ", computed_value.spec());
  const std::vector<double> a = recorded_value.to_vector(), b = computed_value.to_vector();
  const auto distance = [&](size_t i) { return absolute_difference(a[i], b[i]); };
  size_t largest_index = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (distance(i) > distance(largest_index)) largest_index = i;
  if (a.empty() || distance(largest_index) == 0)
    return ", though its values are equal: the sign of a zero or the bits of a NaN are others";
  return concat(", largest difference ", distance(largest_index), " at ",
                text_of_index(largest_index, computed_value.shape()), ": recorded ",
                a[largest_index], ", computed ", b[largest_index]);
}

/// Returns the value of a variable; `index` is its index among the variables of a snapshot.
Tensor value_at(Model& model, size_t index) {
  Variables variables;
  for (const VariableGroup& group : variables_of_snapshot(model))
    variables.insert(variables.end(), group.variables.begin(), group.variables.end());
  return variables.at(index).value();
}

/// Describes how two lists of variables differ.
std::string text_of_changed_variables(const VariableSpecs& recorded_specs,
                                      const VariableSpecs& computed_specs) {
  const auto text = [](const VariableSpecs& specs, size_t i) {
    return i < specs.size() ? concat("'", specs[i].name, "' ", specs[i].spec) : "none";
  };
  const auto position =
      static_cast<size_t>(std::mismatch(recorded_specs.begin(), recorded_specs.end(),
                                        computed_specs.begin(), computed_specs.end())
                              .first -
                          recorded_specs.begin());
  return concat("the model is another one: the record has ", recorded_specs.size(),
                " tensors, the model ", computed_specs.size(), "; number ", position + 1, " is ",
                text(recorded_specs, position), " in the record, ", text(computed_specs, position),
                " here");
}

}  // namespace

StepReplay::StepReplay(const ReplayTask& task, TrainingRun& run)
    : task_(task),
      backup_step_(backup_before(task)),
      record_(read_record(task.folder, backup_step_ + 1, task.step)) {
  try {
    run.state().restore(read_snapshot(backup_path(task_.folder, backup_step_)).as_dict());
    run.state().is_replayed = true;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    end_with_verdict(task_, ReplayStatus::failed,
                     concat("the run cannot go on from the backup after step ", backup_step_, ": ",
                            error.what()));
  }
}

const RecordedStep* StepReplay::recorded_step(int64_t step) const {
  for (const RecordedStep& entry : record_.steps)
    if (entry.step == step) return &entry;
  return nullptr;
}

void StepReplay::compare(const RecordedStep& new_step, Model& model) const {
  const RecordedStep& old_step = *recorded_step(new_step.step);
  for (const DictEntry& batch_hash : old_step.data)
    if (const Value* new_value = new_step.data.find(batch_hash.key);
        new_value && *new_value != batch_hash.value)
      end_with_difference(new_step.step, concat("the data differ: the ", batch_hash.key,
                                                " of the batch are not those of the record"));
  compare_variables(old_step, new_step, model);
  if (new_step.step == task_.step)
    end_with_verdict(
        task_, ReplayStatus::equal,
        concat("step ", new_step.step, ": equal (", new_step.variables->size(), " tensors)"));
}

void StepReplay::compare_variables(const RecordedStep& old_step, const RecordedStep& new_step,
                                   Model& model) const {
  const VariableSpecs& variables = *old_step.variables;
  if (variables != *new_step.variables)
    end_with_verdict(task_, ReplayStatus::failed,
                     text_of_changed_variables(variables, *new_step.variables));
  std::vector<size_t> different_variables;
  for (size_t i = 0; i < variables.size(); ++i)
    if (old_step.hashes.compare(i * kHashDigits, kHashDigits, new_step.hashes, i * kHashDigits,
                                kHashDigits) != 0)
      different_variables.push_back(i);
  if (!different_variables.empty())
    end_with_difference(
        new_step.step,
        concat(variables[different_variables.front()].name, " differs first (",
               different_variables.size(), " of ", variables.size(), " tensors do)",
               largest_difference_text(new_step.step, different_variables.front(), model)));
  for (const DictEntry& log : old_step.logs)
    if (const Value* new_log = new_step.logs.find(log.key);
        !new_log || to_json(*new_log) != to_json(log.value))
      end_with_difference(new_step.step,
                          concat("all tensors are equal, but '", log.key, "' in the logs was ",
                                 log.value, ", and is ", new_log ? to_text(*new_log) : "missing"));
}

/// Describes the largest difference between the recorded and the present value of a variable. Empty
/// if no readable backup was made after this step.
std::string StepReplay::largest_difference_text(int64_t step, size_t variable_index,
                                                Model& model) const {
  const std::vector<int64_t> backups = backups_in(task_.folder);
  if (!std::binary_search(backups.begin(), backups.end(), step)) return "";
  try {
    const Value snapshot = read_snapshot(backup_path(task_.folder, step));
    return largest_difference(value_in(snapshot.as_dict(), model, variable_index),
                              value_at(model, variable_index));
  } catch (const Error& error) {
    return concat("; its values cannot be compared: ", error.what());
  }
}

void StepReplay::end_with_difference(int64_t step, const std::string& text) const {
  const std::string origin_note =
      step == task_.step
          ? ""
          : concat("; step ", task_.step,
                   " was asked for, and is computed from the backup after step ", backup_step_);
  end_with_verdict(task_, ReplayStatus::different, concat("step ", step, ": ", text, origin_note));
}

void StepReplay::end_without_step(int64_t last_step) const {
  end_with_verdict(task_, ReplayStatus::failed,
                   concat("the run ended after step ", last_step, ", before step ", task_.step,
                          "; in the record it went on"));
}

}  // namespace crescent

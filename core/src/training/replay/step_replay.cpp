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
  const std::string verdict = to_json(Dict{{"status", static_cast<int>(status)}, {"text", text}});
  const bool written =
      write(task.result_descriptor, verdict.data(), verdict.size()) == std::ssize(verdict);
  std::fflush(nullptr);
  std::_Exit(written ? 0 : 1);
}

int64_t backup_before(const ReplayTask& task) {
  const std::vector<int64_t> steps = backups_in(task.folder);
  const auto behind = std::lower_bound(steps.begin(), steps.end(), task.step);
  if (behind == steps.begin())
    end_with_verdict(task, ReplayStatus::failed,
                     concat("there is no backup before step ", task.step));
  return *std::prev(behind);
}

/// The absolute difference of two values; infinite if only one of them is NaN, 0 if both are.
double absolute_difference(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
  return std::abs(a - b);
}

/// The indices of an element as text, from 1: "(3, 17)".
std::string text_of_index(size_t element, const Shape& shape) {
  std::vector<std::string> places;
  auto rest = static_cast<int64_t>(element);
  for (int axis = shape.rank() - 1; axis >= 0; rest /= shape[axis--])
    places.insert(places.begin(), std::to_string(rest % shape[axis] + 1));
  return "(" + join(places, ", ") + ")";
}

std::string largest_difference(const Tensor& recorded, const Tensor& now) {
  if (recorded.spec() != now.spec())
    fail("the backup has ", recorded.spec(), ", expected ", now.spec());
  const std::vector<double> a = recorded.to_vector(), b = now.to_vector();
  const auto distance = [&](size_t i) { return absolute_difference(a[i], b[i]); };
  size_t largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (distance(i) > distance(largest)) largest = i;
  if (a.empty() || distance(largest) == 0)
    return ", though its values are equal: the sign of a zero or the bits of a NaN are others";
  return concat(", largest difference ", distance(largest), " at ",
                text_of_index(largest, now.shape()), ": recorded ", a[largest], ", computed ",
                b[largest]);
}

/// Returns the value of a variable; `place` is its index among the variables of a snapshot.
Tensor value_at(Model& model, size_t place) {
  Variables all;
  for (const VariableGroup& group : variables_of_snapshot(model))
    all.insert(all.end(), group.variables.begin(), group.variables.end());
  return all.at(place).value();
}

/// Describes how two lists of variables differ.
std::string text_of_changed_variables(const VariableSpecs& recorded, const VariableSpecs& now) {
  const auto text = [](const VariableSpecs& all, size_t i) {
    return i < all.size() ? concat("'", all[i].name, "' ", all[i].spec) : "none";
  };
  const auto at = static_cast<size_t>(
      std::mismatch(recorded.begin(), recorded.end(), now.begin(), now.end()).first -
      recorded.begin());
  return concat("the model is another one: the record has ", recorded.size(),
                " tensors, the model ", now.size(), "; number ", at + 1, " is ", text(recorded, at),
                " in the record, ", text(now, at), " here");
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

const RecordedStep* StepReplay::recorded(int64_t step) const {
  for (const RecordedStep& each : record_.steps)
    if (each.step == step) return &each;
  return nullptr;
}

void StepReplay::compare(const RecordedStep& now, Model& model) const {
  const RecordedStep& before = *recorded(now.step);
  for (const DictEntry& part : before.data)
    if (const Value* here = now.data.find(part.key); here && *here != part.value)
      end_with_difference(now.step, concat("the data differ: the ", part.key,
                                           " of the batch are not those of the record"));
  compare_variables(before, now, model);
  if (now.step == task_.step)
    end_with_verdict(task_, ReplayStatus::equal,
                     concat("step ", now.step, ": equal (", now.variables->size(), " tensors)"));
}

void StepReplay::compare_variables(const RecordedStep& recorded, const RecordedStep& now,
                                   Model& model) const {
  const VariableSpecs& variables = *recorded.variables;
  if (variables != *now.variables)
    end_with_verdict(task_, ReplayStatus::failed,
                     text_of_changed_variables(variables, *now.variables));
  std::vector<size_t> different;
  for (size_t i = 0; i < variables.size(); ++i)
    if (recorded.hashes.compare(i * kHashDigits, kHashDigits, now.hashes, i * kHashDigits,
                                kHashDigits) != 0)
      different.push_back(i);
  if (!different.empty())
    end_with_difference(now.step, concat(variables[different.front()].name, " differs first (",
                                         different.size(), " of ", variables.size(), " tensors do)",
                                         values_that_differ(now.step, different.front(), model)));
  for (const DictEntry& log : recorded.logs)
    if (const Value* here = now.logs.find(log.key); !here || to_json(*here) != to_json(log.value))
      end_with_difference(
          now.step, concat("all tensors are equal, but '", log.key, "' in the logs was ", log.value,
                           ", and is ", here ? to_text(*here) : "missing"));
}

/// Describes the largest difference between the recorded and the present value of a variable. Empty
/// if no readable backup was made after this step.
std::string StepReplay::values_that_differ(int64_t step, size_t variable, Model& model) const {
  const std::vector<int64_t> backups = backups_in(task_.folder);
  if (!std::binary_search(backups.begin(), backups.end(), step)) return "";
  try {
    const Value snapshot = read_snapshot(backup_path(task_.folder, step));
    return largest_difference(value_in(snapshot.as_dict(), model, variable),
                              value_at(model, variable));
  } catch (const Error& error) {
    return concat("; its values cannot be compared: ", error.what());
  }
}

void StepReplay::end_with_difference(int64_t step, const std::string& text) const {
  const std::string before =
      step == task_.step
          ? ""
          : concat("; step ", task_.step,
                   " was asked for, and is computed from the backup after step ", backup_step_);
  end_with_verdict(task_, ReplayStatus::different, concat("step ", step, ": ", text, before));
}

void StepReplay::end_without_step(int64_t last) const {
  end_with_verdict(task_, ReplayStatus::failed,
                   concat("the run ended after step ", last, ", before step ", task_.step,
                          "; in the record it went on"));
}

}  // namespace crescent

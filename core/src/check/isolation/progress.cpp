#include "check/isolation/progress.h"

#include <algorithm>

namespace crescent::check {
namespace {

thread_local const CheckProgress* current_progress = nullptr;
thread_local KindAndName current_class;
thread_local ExcludedChecks* excluded_checks = nullptr;

}  // namespace

ProgressScope::ProgressScope(const CheckProgress& progress) { current_progress = &progress; }
ProgressScope::~ProgressScope() { current_progress = nullptr; }

void announce_class(const KindAndName& kind_and_name) {
  current_class = kind_and_name;
  announce("options");
}

void announce(const std::string& check) {
  if (current_progress && current_progress->begins) current_progress->begins(current_class, check);
}

void announce_end(const CheckReport& report) {
  if (current_progress && current_progress->ended && !is_reported(current_class))
    current_progress->ended(current_class, report);
}

bool is_reported(const KindAndName& kind_and_name) {
  return current_progress && current_progress->reported_classes.contains(kind_and_name);
}

const CheckResult* fatal_result_of(const KindAndName& kind_and_name) {
  if (!current_progress) return nullptr;
  const auto entry = current_progress->fatal_results.find(kind_and_name);
  return entry == current_progress->fatal_results.end() ? nullptr : &entry->second;
}

ExcludedChecks::ExcludedChecks(const std::vector<std::string>& names) : names_(names) {
  excluded_checks = this;
}
ExcludedChecks::~ExcludedChecks() { excluded_checks = nullptr; }

bool ExcludedChecks::contain(const std::string& check) {
  if (!excluded_checks) return false;
  const std::vector<std::string>& names = excluded_checks->names_;
  const std::string group = check.starts_with("gradient") ? "gradients" : check;
  const bool is_excluded = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == check || name == group;
  });
  if (is_excluded)
    excluded_checks->met_checks_.insert(excluded_checks->met_checks_.end(), {check, group});
  return is_excluded;
}

}  // namespace crescent::check

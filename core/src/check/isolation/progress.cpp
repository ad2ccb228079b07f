#include "check/isolation/progress.h"

namespace crescent::check {
namespace {

thread_local const CheckProgress* current_progress = nullptr;
thread_local std::string current_class;

}  // namespace

ProgressScope::ProgressScope(const CheckProgress& progress) { current_progress = &progress; }
ProgressScope::~ProgressScope() { current_progress = nullptr; }

void announce_class(const std::string& class_name) { current_class = class_name; }

void announce(const std::string& check) {
  if (current_progress && current_progress->begins) current_progress->begins(current_class, check);
}

void announce_end(const CheckReport& report) {
  if (current_progress && current_progress->ended) current_progress->ended(report);
}

}  // namespace crescent::check

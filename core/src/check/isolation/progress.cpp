#include "check/isolation/progress.h"

namespace crescent::check {
namespace {

thread_local const CheckProgress* watching = nullptr;
thread_local std::string current_class;

}  // namespace

ProgressScope::ProgressScope(const CheckProgress& progress) { watching = &progress; }
ProgressScope::~ProgressScope() { watching = nullptr; }

void announce_class(const std::string& class_name) { current_class = class_name; }

void announce(const std::string& check) {
  if (watching && watching->begins) watching->begins(current_class, check);
}

void announce_end(const CheckReport& report) {
  if (watching && watching->ended) watching->ended(report);
}

}  // namespace crescent::check

#include "check/isolation/progress.h"

namespace crescent::check {
namespace {

thread_local const CheckProgress* watching = nullptr;
thread_local std::string class_now;

}  // namespace

Watched::Watched(const CheckProgress& progress) { watching = &progress; }
Watched::~Watched() { watching = nullptr; }

void announce_class(const std::string& class_name) { class_now = class_name; }

void announce(const std::string& check) {
  if (watching && watching->begins) watching->begins(class_now, check);
}

void announce_end(const CheckReport& report) {
  if (watching && watching->ended) watching->ended(report);
}

}  // namespace crescent::check

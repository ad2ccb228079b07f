// What check_plugin tells about its progress, for programs that limit the time of a check.
#pragma once
#include <string>

#include "host/plugin_checks.h"

namespace crescent::check {

/// Tells this progress of the checks of this thread while an object of this class lives.
class Watched {
 public:
  explicit Watched(const CheckProgress& progress);
  ~Watched();
  Watched(const Watched&) = delete;
};

/// Tells that checks of this class follow.
void announce_class(const std::string& class_name);
/// Tells that this check of the class begins.
void announce(const std::string& check);
/// Tells that the checks of a class have ended.
void announce_end(const CheckReport& report);

}  // namespace crescent::check

// check_plugin() with callbacks that report its progress. Plugins do not see this header: it is not
// installed, and the hash of headers in their stamps (stamp.h) leaves it out.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "crescent/model/check.h"

namespace crescent {

/// The kind and the name of a class.
using KindAndName = std::pair<std::string, std::string>;

/// Functions that are called while the classes of a plugin are checked; each may be empty.
struct CheckProgress {
  std::function<void(const KindAndName&, const std::string& check)> begins;
  /// Called after the last check of a class.
  std::function<void(const KindAndName&, const CheckReport&)> ended;
  /// Classes of which a check has ended an earlier process, with the result of that check. They are
  /// not checked again; their reports consist of that result.
  std::map<KindAndName, CheckResult> fatal_results{};
  /// Classes whose reports an earlier process gave. They are checked again, without a report, only
  /// if the plugin has kernels, which are checked with the ops that other classes apply.
  std::set<KindAndName> reported_classes{};
};

CRESCENT_API std::vector<CheckReport> check_plugin(const std::string& plugin, const Dict& options,
                                                   const CheckProgress& progress);

}  // namespace crescent

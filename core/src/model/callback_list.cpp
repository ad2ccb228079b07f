#include "model/callback_list.h"

namespace crescent {

CallbackList::CallbackList(const Value& callbacks, int64_t verbose) {
  if (verbose > 0) all_.push_back(make<Callback>("ProgbarLogger"));
  const List given = callbacks.is_null() ? List() : callbacks.is_list() ? callbacks.as_list() : List{callbacks};
  for (const Value& value : given) all_.push_back(get<Callback>(value));
}

int64_t verbosity(const Value& verbose) {
  if (verbose.is_bool()) return verbose.as_bool();
  if (verbose.is_string() && verbose.as_string() == "auto") return 1;
  if (!verbose.is_number()) fail("verbose: expected 0, 1, 2 or \"auto\", got ", verbose);
  return verbose.as_int();
}

}  // namespace crescent

#include "program/communicator.h"

#include <mutex>

namespace crescent {

Communicator::~Communicator() = default;

/// The sum of lists that are 0 but at one's own place.
std::vector<double> Communicator::all_gather(double value) {
  std::vector<double> values(static_cast<size_t>(size()));
  values[static_cast<size_t>(rank())] = value;
  all_reduce(ReduceKind::sum, DType::float64, values.data(), values.size());
  return values;
}

void Communicator::barrier() { all_gather(0); }

void SingleProcess::describe(Schema<SingleProcess>& s) { s.doc("One process by itself."); }

namespace {

struct InUse {
  std::mutex mutex;
  std::shared_ptr<Communicator> communicator = std::make_shared<SingleProcess>();
};

/// Never destroyed: programs in static objects may go after it would.
InUse& in_use() {
  static auto* in_use = new InUse;
  return *in_use;
}

}  // namespace

std::shared_ptr<Communicator> communicator() {
  const std::lock_guard lock(in_use().mutex);
  return in_use().communicator;
}

void set_communicator(std::shared_ptr<Communicator> communicator) {
  if (!communicator) communicator = std::make_shared<SingleProcess>();
  const std::lock_guard lock(in_use().mutex);
  in_use().communicator = std::move(communicator);
}

}  // namespace crescent

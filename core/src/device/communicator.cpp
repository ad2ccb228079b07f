#include "device/communicator.h"

#include <cstdlib>
#include <mutex>

#include "crescent/program/distribution.h"
#include "device/communicator_scope.h"
#include "registry/loader/class_of_plugin.h"

namespace crescent {

Communicator::~Communicator() = default;

/// Each process contributes a list that is 0 except at its own rank; the sum of these lists has the
/// values of all processes.
std::vector<double> Communicator::all_gather(double value) {
  std::vector<double> values(size());
  values[rank()] = value;
  all_reduce(ReduceKind::sum, DType::float64, values.data(), values.size());
  return values;
}

void Communicator::gather(void* data, const std::vector<size_t>& bytes) {
  auto* part_begin = static_cast<std::byte*>(data);
  for (int root = 0; root < size(); ++root) {
    const size_t part_bytes = bytes[static_cast<size_t>(root)];
    if (part_bytes > 0) broadcast(part_begin, part_bytes, root);
    part_begin += part_bytes;
  }
}

std::vector<int> Communicator::ranks_with(const std::string& /*error*/) { return {rank()}; }

Dict Communicator::information() {
  return {{"name", class_name()}, {"rank", rank()}, {"size", size()}};
}

void Communicator::barrier() { all_gather(0); }

std::string ranks_text(const std::vector<int>& ranks) {
  std::vector<std::string> texts;
  for (int rank : ranks) texts.push_back(std::to_string(rank));
  return (ranks.size() == 1 ? "rank " : "ranks ") + join(texts);
}

void Communicator::fail_timeout(const std::vector<int>& ranks, double seconds,
                                const std::string& findings) const {
  fail(ranks.size() == 1 ? "the process of " : "the processes of ", ranks_text(ranks),
       " did not come within ", seconds, " seconds (option 'timeout' of the communicator '",
       class_name(), "'): ", findings.empty() ? "it hangs, or takes longer than that" : findings);
}

void SingleProcess::describe(Schema<SingleProcess>& s) { s.doc("One process by itself."); }

namespace {

constexpr const char* kSingleName = "single";
/// The name of the communicator of processes that an MPI launcher started.
constexpr const char* kMpiName = "mpi";

struct CommunicatorInUse {
  std::mutex mutex;
  /// Null until communicator() or set_communicator() is called.
  std::shared_ptr<Communicator> communicator;
};

/// The object is never destroyed, because static objects may still hold programs that use the
/// communicator when the process exits.
CommunicatorInUse& communicator_in_use() {
  static auto* instance = new CommunicatorInUse;
  return *instance;
}

std::shared_ptr<Communicator> make_communicator(std::string_view name, const Dict& options = {}) {
  return make<Communicator>(class_or_plugin(Communicator::kKind, name)->name, options);
}

/// Makes the communicator of a process that an MPI launcher started as one of several.
std::shared_ptr<Communicator> make_mpi_communicator() try {
  return make_communicator(kMpiName);
} catch (Error& error) {
  error.add_context(
      concat("this process was started as one of ", processes_launched(),
             " that train together, by the communicator '", kMpiName,
             "', which is built where MPI is found; CRESCENT_COMMUNICATOR=single lets "
             "each train by itself: "));
  throw;
}

std::shared_ptr<Communicator> first_communicator() try {
  const char* name = std::getenv("CRESCENT_COMMUNICATOR");
  if (name && *name) return make_communicator(name);
  return processes_launched() > 1 ? make_mpi_communicator() : make_communicator(kSingleName);
} catch (Error& error) {
  if (std::getenv("CRESCENT_COMMUNICATOR")) error.add_context("CRESCENT_COMMUNICATOR: ");
  throw;
}

/// The communicator of the innermost CommunicatorScope of this thread; null outside of all scopes.
thread_local const std::shared_ptr<Communicator>* thread_communicator = nullptr;

}  // namespace

CommunicatorScope::CommunicatorScope(std::shared_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)),
      outer_communicator_(std::exchange(thread_communicator, &communicator_)) {}
CommunicatorScope::~CommunicatorScope() { thread_communicator = outer_communicator_; }

std::shared_ptr<Communicator> communicator() {
  if (thread_communicator) return *thread_communicator;
  const std::lock_guard lock(communicator_in_use().mutex);
  std::shared_ptr<Communicator>& communicator = communicator_in_use().communicator;
  if (!communicator) communicator = first_communicator();
  return communicator;
}

void set_communicator(std::shared_ptr<Communicator> communicator) {
  if (!communicator) communicator = make_communicator(kSingleName);
  const std::lock_guard lock(communicator_in_use().mutex);
  // The old communicator is destroyed at the end of the function, after the lock is released.
  communicator_in_use().communicator.swap(communicator);
}

void use_communicator(std::string_view name, const Dict& options) {
  set_communicator(make_communicator(name, options));
}

}  // namespace crescent

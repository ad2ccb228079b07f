// Communicator: how processes that train one model together talk to each other. Each runs the same
// program on its share of the data; ops::all_reduce brings their values together. Communicators are
// plugins of kind "communicator"; the default, "single", is one process by itself.
//
// A training run is a thing that they do together: before each batch they agree whether to go on,
// so that all stop at the same place when one of them runs out of data, is told to stop or is
// interrupted. evaluate and predict are each process's own business.
#pragma once
#include <memory>
#include <vector>

#include "crescent/program/op_types.h"
#include "crescent/registry/registry.h"

namespace crescent {

/// All processes call the same functions in the same order; each waits for the others. Nobody waits
/// for one that does not come: a call fails, and names its rank, when a process has left or ended,
/// or does not come within the time of the option `timeout`.
class CRESCENT_API Communicator : public Plain {
 public:
  static constexpr const char* kKind = "communicator";
  ~Communicator() override;
  virtual int rank() const = 0;  ///< of this process, from 0 to size - 1
  virtual int size() const = 0;  ///< how many processes there are
  /// Writes over each of `count` elements their sum, maximum or minimum over all processes.
  virtual void all_reduce(ReduceKind kind, DType dtype, void* data, size_t count) = 0;
  /// Everybody gets the bytes of process `root`.
  virtual void broadcast(void* data, size_t bytes, int root) = 0;
  /// The values of all processes, by rank: for decisions that they take together.
  virtual std::vector<double> all_gather(double value);
  /// Comes back when all processes have come here.
  virtual void barrier();
  /// This process does not come again: calls of the others fail with its rank and with `why`. A
  /// training run that fails says so.
  virtual void leave(const std::string& why) noexcept = 0;

 protected:
  /// The option of communicators that wait for others.
  template <class T>
  static void describe_timeout(Schema<T>& s, double T::*seconds) {
    s.field("timeout", seconds, "Seconds that a call waits for the other processes; then it fails.")
        .min(0);
  }
  static constexpr double kTimeout = 600;  ///< its default
  /// Those of these ranks did not come within `seconds`.
  [[noreturn]] void fail_late(const std::vector<int>& ranks, double seconds) const;
};

/// The one in use; at first that of the environment's CRESCENT_COMMUNICATOR, or "single".
CRESCENT_API std::shared_ptr<Communicator> communicator();
/// From the next program and training run on; none: "single".
CRESCENT_API void set_communicator(std::shared_ptr<Communicator> communicator);
/// One by name. A name that is not registered is looked for as that of a plugin.
CRESCENT_API void use_communicator(std::string_view name, const Dict& options = {});

}  // namespace crescent

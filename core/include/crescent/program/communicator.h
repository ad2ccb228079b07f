// Communicator: how processes that train one model together exchange data. Each process runs the
// same program on its share of the data; ops::all_reduce combines their values. Communicators are
// plugins of kind "communicator"; the default, "single", is for one process without others.
//
// A training run is collective: before each batch the processes agree whether to go on, so that all
// of them stop at the same batch when one runs out of data, is told to stop or is interrupted.
// evaluate and predict are local to each process.
#pragma once
#include <memory>
#include <vector>

#include "crescent/program/op_types.h"
#include "crescent/registry/registry.h"

namespace crescent {

/// All processes must call the same functions in the same order; each call waits for the other
/// processes. A call fails with the rank of a process that has left or ended, or that does not
/// arrive within the option `timeout`. The calls of a process may come from several threads, but
/// one call at a time: a training step exchanges gradients on a thread of its own.
class CRESCENT_API Communicator : public Plain {
 public:
  static constexpr const char* kKind = "communicator";
  ~Communicator() override;
  virtual int rank() const = 0;  ///< the number of this process, from 0 to size - 1
  virtual int size() const = 0;  ///< the number of processes
  /// Replaces each of `count` elements by its sum, maximum or minimum over all processes.
  virtual void all_reduce(ReduceKind kind, DType dtype, void* data, size_t count) = 0;
  /// Copies `bytes` bytes at `data` of process `root` to `data` of all other processes.
  virtual void broadcast(void* data, size_t bytes, int root) = 0;
  /// Returns `value` of each process, in the order of ranks, so that all processes can make the
  /// same decision.
  virtual std::vector<double> all_gather(double value);
  /// `data` has a part of `bytes[rank]` bytes for each process, in the order of ranks. This process
  /// has filled in its own part; the call fills in the parts of the other processes.
  virtual void gather(void* data, const std::vector<size_t>& bytes);
  /// Returns when all processes have called barrier().
  virtual void barrier();
  /// Returns what `crescent info` shows about the communicator: how the processes exchange data,
  /// and facts about each process.
  virtual Dict information();
  /// Announces that this process makes no more calls: calls of other processes then fail with an
  /// error that contains the rank of this process and `why`. A training run that fails calls
  /// leave().
  virtual void leave(const std::string& why) noexcept = 0;
  /// Sends the error that ends this process to the other processes, waits about a second for their
  /// errors, and returns the ranks of the processes that end with the same error, this process
  /// included.
  virtual std::vector<int> ranks_with(const std::string& error);

 protected:
  /// Declares the option `timeout` of communicators that wait for other processes.
  template <class T>
  static void describe_timeout(Schema<T>& s, double T::*seconds) {
    s.field("timeout", seconds, "Seconds that a call waits for the other processes; then it fails.")
        .min(0);
  }
  static constexpr double kTimeout = 600;  ///< default of the option `timeout`, in seconds
  /// Raises the error that these ranks did not arrive within `seconds`; `findings` describes, where
  /// that is known, what they and the other processes are doing.
  [[noreturn]] void fail_timeout(const std::vector<int>& ranks, double seconds,
                                 const std::string& findings = {}) const;
};

/// "rank 2" or "ranks 0, 1, 3".
CRESCENT_API std::string ranks_text(const std::vector<int>& ranks);

/// The communicator in use; initially the one named by CRESCENT_COMMUNICATOR, else "single".
CRESCENT_API std::shared_ptr<Communicator> communicator();
/// Sets the communicator for programs and training runs that begin after the call; null means
/// "single".
CRESCENT_API void set_communicator(std::shared_ptr<Communicator> communicator);
/// Makes and sets the communicator with this name. For an unknown name, a plugin with that name is
/// searched for.
CRESCENT_API void use_communicator(std::string_view name, const Dict& options = {});

}  // namespace crescent

// The communicator of a rank of a simulated cluster: each collective call sends a message to every
// other rank, and no call waits for more messages than it needs.
#pragma once
#include "cluster.h"
#include "crescent/program/communicator.h"

namespace crescent::simulation {

class SimulatedCommunicator final : public Communicator {
 public:
  SimulatedCommunicator(Cluster& cluster, int rank) : cluster_(cluster), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return cluster_.size(); }
  void all_reduce(ReduceKind kind, DType dtype, void* data, size_t count) override;
  void broadcast(void* data, size_t bytes, int root) override;
  void gather(void* data, const std::vector<size_t>& bytes) override;
  void leave(const std::string& reason) noexcept override;

 private:
  using Bytes = Cluster::Bytes;
  void begin(const std::string& call);
  void send_to_all(const void* data, size_t bytes);
  Bytes receive(int from);

  Cluster& cluster_;
  int rank_;
  int64_t calls_ = 0;  ///< the number of collective calls so far
  std::string call_;   ///< the last call and its options, which are the same on all ranks
};

}  // namespace crescent::simulation

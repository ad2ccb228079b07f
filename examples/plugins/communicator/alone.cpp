#include "crescent/program/communicator.h"

#include "crescent/plugin.h"

/// A communicator combines the values of processes that train one model. With one process there is
/// nothing to combine.
class Alone final : public crescent::Communicator {
 public:
  static void describe(crescent::Schema<Alone>& s) { s.doc("One process, which meets nobody."); }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce(crescent::ReduceKind, crescent::DType, void*, size_t) override {}
  void broadcast(void*, size_t, int root) override {
    if (root != 0) crescent::fail("there is no process of rank ", root);
  }
  void leave(const std::string&) noexcept override {}
};

CRESCENT_PLUGIN("acme.alone", "0.1.0") { registry.add<Alone>("Alone"); }

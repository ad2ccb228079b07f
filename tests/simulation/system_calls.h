// System calls on the disk of a simulated cluster.
#pragma once

namespace crescent::simulation {

/// While an object of this class lives, system calls of its thread are no events of the cluster.
class WithoutSimulation {
 public:
  WithoutSimulation();
  ~WithoutSimulation();
  WithoutSimulation(const WithoutSimulation&) = delete;

 private:
  bool were_real_;
};

}  // namespace crescent::simulation

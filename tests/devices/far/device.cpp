// far: a test device whose memory the host cannot read, as that of a GPU or of another machine. It
// runs asynchronously on its own thread, has kernels for few ops, and counts transfers between host
// and device.
#include <chrono>

#include "crescent/plugin.h"
#include "kernel_list.h"

namespace crescent::far {
namespace {

class FarExecutable final : public Executable {
 public:
  FarExecutable(const Program& program, FarMemory& memory, DeviceCounters& counters, double delay)
      : memory_(memory),
        delay_(delay),
        state_(std::make_shared<State>(program, memory.traffic, counters)) {
    for (const Program::Binding& b : program.variables) writes_.push_back(b.result >= 0);
    memory_.worker.submit(Worker::Kind::transfer, [state = state_] {
      state->kernels.put_constants(Pages::Access(state->block).bytes());
    });
  }

  void run(std::span<const Tensor> inputs, std::span<Tensor> variables,
           std::span<Tensor> outputs) override {
    for (size_t i = 0; i < variables.size(); ++i)
      if (writes_[i]) variables[i].storage()->bump_version();
    for (Tensor& output : outputs) output.storage()->bump_version();
    memory_.worker.submit(Worker::Kind::program,
                          [state = state_, delay = delay_, in = locations(inputs),
                           held = locations(variables), out = locations(outputs)] {
                            std::this_thread::sleep_for(std::chrono::duration<double>(delay));
                            state->run(in, held, out);
                          });
  }
  size_t arena_bytes() const override { return state_->kernels.block_bytes(); }
  void profile(bool on) override {
    memory_.worker.submit(Worker::Kind::transfer,
                          [state = state_, on] { state->kernels.profile(on); });
  }
  std::vector<ProfileEntry> rows() const override {
    memory_.worker.finish();
    return state_->kernels.rows();
  }

 private:
  using MemoryLocations = std::vector<MemoryLocation>;
  struct State {
    State(const Program& program, Traffic& traffic, DeviceCounters& device_counters)
        : kernels(program, traffic, device_counters),
          block(std::make_shared<Pages>(kernels.block_bytes())),
          counters(device_counters) {}
    void run(const MemoryLocations& in, const MemoryLocations& variable_locations,
             const MemoryLocations& out) {
      std::vector<Pages::Access> open_pages;
      auto opened_bytes = [&](const MemoryLocations& locations) {
        std::vector<std::byte*> bytes;
        for (const MemoryLocation& location : locations)
          bytes.push_back(open_pages.emplace_back(location.pages).bytes() + location.offset);
        return bytes;
      };
      const KernelList::Memory memory{opened_bytes(in), opened_bytes(variable_locations),
                                      opened_bytes(out)};
      kernels.run(memory, open_pages.emplace_back(block).bytes());
      ++counters.programs;
    }
    KernelList kernels;
    std::shared_ptr<Pages> block;
    DeviceCounters& counters;
  };

  template <class T>
  static MemoryLocations locations(std::span<T> tensors) {
    return MemoryLocations(tensors.begin(), tensors.end());
  }

  FarMemory& memory_;
  double delay_;
  std::shared_ptr<State> state_;
  std::vector<bool> writes_;
};

class FarDevice final : public Device {
 public:
  static void describe(Schema<FarDevice>& s) {
    s.doc("Keeps values where the host cannot read them: for tests of what every device must do.")
        .field("delay", &FarDevice::delay_, "Seconds that a program waits before it runs.")
        .min(0);
  }
  FarDevice() : memory_(worker_) {}

  bool supports(const Op& op, std::span<const TensorSpec> in,
                std::span<const TensorSpec> out) const override {
    return as<Scan>(op) || make_kernel({op, in, out});
  }
  std::unique_ptr<Executable> compile(const Program& program) override {
    return std::make_unique<FarExecutable>(program, memory_, counters_, delay_);
  }
  Memory* memory() override { return &memory_; }
  void synchronize() override { worker_.finish(); }
  Dict information() const override {
    const Traffic& t = memory_.traffic;
    return {{"threads", 1},
            {"programs", counters_.programs.load()},
            {"host_calls", counters_.host_calls.load()},
            {"uploads", t.uploads.load()},
            {"uploaded_bytes", t.uploaded_bytes.load()},
            {"downloads", t.downloads.load()},
            {"downloaded_bytes", t.downloaded_bytes.load()}};
  }

 private:
  double delay_ = 0;
  Worker worker_;
  FarMemory memory_;
  DeviceCounters counters_;
};

}  // namespace
}  // namespace crescent::far

CRESCENT_PLUGIN("far", "1.0.0") { registry.add<crescent::far::FarDevice>("far"); }

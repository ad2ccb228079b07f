#include "matmul/onednn.h"

#include <string_view>

#include "matmul/matmul.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu::onednn {

dnnl::engine& engine() {
  static dnnl::engine engine = [] {
    constexpr int kMaxUnusedPrimitives = 128;  // number of unused primitives that oneDNN keeps
    dnnl::set_primitive_cache_capacity(kMaxUnusedPrimitives);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

void fail_as(const char* operation, dnnl_status_t status) {
  if (status == dnnl_out_of_memory) fail("oneDNN has not enough memory for its ", operation);
  fail("oneDNN's ", operation, " failed: ", dnnl_status2str(status));
}

dnnl::memory::data_type type_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return dnnl::memory::data_type::f32;
    case DType::bfloat16:
      return dnnl::memory::data_type::bf16;
    default:
      return dnnl::memory::data_type::undef;
  }
}

dnnl::memory::desc unblocked_layout(const std::vector<int64_t>& dims, dnnl::memory::data_type type,
                                    const std::vector<int64_t>& strides) {
  return {dims, type, strides};
}

dnnl::primitive_attr attributes(ActivationKind activation) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (activation == ActivationKind::sigmoid || activation == ActivationKind::tanh) {
    dnnl::post_ops operations;
    operations.append_eltwise(1,
                              activation == ActivationKind::sigmoid
                                  ? dnnl::algorithm::eltwise_logistic
                                  : dnnl::algorithm::eltwise_tanh,
                              0, 0);
    attributes.set_post_ops(operations);
  }
  return attributes;
}

void apply_relu(DType dtype, std::byte* values, int64_t count) {
  if (dtype == DType::float32)
    return finish(reinterpret_cast<float*>(values), 1, count, count, {}, ActivationKind::relu);
  constexpr uint16_t kSign = 0x8000,
                     kMinusInfinity = 0xff80;  // as bfloat16; larger bit patterns are negative NaN
  auto* bits = reinterpret_cast<uint16_t*>(values);
  for (int64_t i = 0; i < count; ++i)
    bits[i] = bits[i] >= kSign && bits[i] <= kMinusInfinity ? 0 : bits[i];
}

bool is_reference(const char* implementation) {
  return std::string_view(implementation).find("ref") != std::string_view::npos;
}

Primitives::Task Primitives::make_task(const PrimitiveEntry& entry) {
  Task task;
  for (const auto& [index, layout] : entry.arguments) {
    task.memory.emplace_back(layout, engine(), nullptr);
    task.arguments.push_back({index, task.memory.back().get()});
  }
  return task;
}

Primitives::Region::Region(const Primitives& primitives, int worker_count)
    : primitives_(primitives),
      workers_(primitives.workers_, [] { return std::make_unique<Workers>(); }),
      worker_count_(worker_count) {
  checked("preparation", [&] {
    while (static_cast<int>(workers_->size()) < worker_count) {
      Worker worker{dnnl::stream(engine()), {}};
      for (const auto& entry : primitives.entries_) worker.tasks.push_back(make_task(entry));
      workers_->push_back(std::move(worker));
    }
  });
}

void Primitives::Region::run(int worker, int primitive_index,
                             std::initializer_list<const void*> addresses) const {
  SingleThread single_thread;
  Worker& current_worker = (*workers_)[static_cast<size_t>(worker)];
  Task& task = current_worker.tasks[primitive_index];
  const dnnl::primitive& primitive = primitives_.entries_[primitive_index].primitive;
  const char* name = dnnl_prim_kind2str(static_cast<dnnl_primitive_kind_t>(primitive.get_kind()));
  checked(name, [&] {
    size_t i = 0;
    for (const void* address : addresses)
      task.memory[i++].set_data_handle(const_cast<void*>(address));
    dnnl::memory& scratch = task.memory.back();
    scratch.set_data_handle(thread_scratch(scratch.get_desc().get_size()));
  });
  const auto status =
      dnnl_primitive_execute(primitive.get(), current_worker.stream.get(),
                             static_cast<int>(task.arguments.size()), task.arguments.data());
  if (status != dnnl_success) fail_as(name, status);
}

}  // namespace crescent::cpu::onednn

#include "onednn.h"

#include <string_view>

namespace crescent::cpu::onednn {

dnnl::engine& engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::data_type type_of(DType dtype) {
  switch (dtype) {
    case DType::float32: return dnnl::memory::data_type::f32;
    case DType::bfloat16: return dnnl::memory::data_type::bf16;
    default: return dnnl::memory::data_type::undef;
  }
}

dnnl::memory::desc plain(const std::vector<int64_t>& dims, dnnl::memory::data_type type,
                         const std::vector<int64_t>& strides) {
  return {dims, type, strides};
}

dnnl::primitive_attr attributes(Epilogue epilogue) {
  constexpr dnnl::algorithm kAlgorithms[] = {dnnl::algorithm::undef, dnnl::algorithm::eltwise_relu,
                                             dnnl::algorithm::eltwise_logistic, dnnl::algorithm::eltwise_tanh};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (epilogue != Epilogue::none) {
    dnnl::post_ops after;
    after.append_eltwise(1, kAlgorithms[static_cast<int>(epilogue)], 0, 0);
    attributes.set_post_ops(after);
  }
  return attributes;
}

bool is_reference(const char* implementation) {
  return std::string_view(implementation).find("ref") != std::string_view::npos;
}

Task::Task(const dnnl::primitive& primitive, std::initializer_list<std::pair<int, dnnl::memory::desc>> arguments)
    : primitive_(primitive), stream_(engine()) {
  for (auto& [index, layout] : arguments) arguments_.push_back({index, {layout, engine(), nullptr}});
  for (auto& a : arguments_) raw_.push_back({a.index, a.memory.get()});
}

void Task::run() {
  SingleThread alone;
  dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(raw_.size()), raw_.data());
}

}  // namespace crescent::cpu::onednn

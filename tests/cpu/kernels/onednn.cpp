// Errors of oneDNN name the primitive that failed.
#include <catch2/catch.hpp>

#include "matmul/onednn.h"

using namespace crescent::cpu;
using Catch::Contains;
using dnnl::memory;

namespace {

dnnl::reorder::primitive_desc transposition() {
  const memory::desc from({2, 3}, memory::data_type::f32, memory::dims{3, 1}),
      to({2, 3}, memory::data_type::f32, memory::dims{1, 2});
  return {onednn::engine(), from, onednn::engine(), to, onednn::attributes()};
}

}  // namespace

TEST_CASE("a primitive that oneDNN does not run is an error") {
  const auto desc = transposition();
  const float values[6] = {1, 2, 3, 4, 5, 6};
  float result[6] = {};
  onednn::Primitives whole, half;
  const int good = whole.add(dnnl::reorder(desc), desc,
                             {{DNNL_ARG_FROM, desc.src_desc()}, {DNNL_ARG_TO, desc.dst_desc()}});
  const int bad = half.add(dnnl::reorder(desc), desc, {{DNNL_ARG_FROM, desc.src_desc()}});
  const onednn::Primitives::Region in_whole(whole, 1), in_half(half, 1);
  CHECK(in_whole.workers() == 1);
  in_whole.run(0, good, {values, result});
  CHECK(result[1] == 4);
  CHECK_THROWS_WITH(in_half.run(0, bad, {values}), "oneDNN's reorder failed: invalid_arguments");
}

TEST_CASE("a kernel that oneDNN does not know is left to others, what goes wrong is not") {
  auto making = [](dnnl_status_t status) {
    return onednn::kernel_if_known(
        "convolution", [&]() -> std::unique_ptr<Kernel> { throw dnnl::error(status, "no"); });
  };
  CHECK(making(dnnl_unimplemented) == nullptr);
  CHECK(making(dnnl_invalid_arguments) == nullptr);
  CHECK_THROWS_WITH(making(dnnl_out_of_memory), "oneDNN has not enough memory for its convolution");
  CHECK_THROWS_WITH(making(dnnl_runtime_error), "oneDNN's convolution failed: runtime_error");
}

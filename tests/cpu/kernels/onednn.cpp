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
  onednn::Primitives complete, incomplete;
  const int valid_index =
      complete.add(dnnl::reorder(desc), desc,
                   {{DNNL_ARG_FROM, desc.src_desc()}, {DNNL_ARG_TO, desc.dst_desc()}});
  const int invalid_index =
      incomplete.add(dnnl::reorder(desc), desc, {{DNNL_ARG_FROM, desc.src_desc()}});
  const onednn::Primitives::Region in_complete(complete, 1), in_incomplete(incomplete, 1);
  CHECK(in_complete.workers() == 1);
  in_complete.run(0, valid_index, {values, result});
  CHECK(result[1] == 4);
  CHECK_THROWS_WITH(in_incomplete.run(0, invalid_index, {values}),
                    "oneDNN's reorder failed: invalid_arguments");
}

TEST_CASE("a kernel that oneDNN does not know is left to others, what goes wrong is not") {
  auto failing_creation = [](dnnl_status_t status) {
    return onednn::kernel_if_known(
        "convolution", [&]() -> std::unique_ptr<Kernel> { throw dnnl::error(status, "no"); });
  };
  CHECK(failing_creation(dnnl_unimplemented) == nullptr);
  CHECK(failing_creation(dnnl_invalid_arguments) == nullptr);
  CHECK_THROWS_WITH(failing_creation(dnnl_out_of_memory),
                    "oneDNN has not enough memory for its convolution");
  CHECK_THROWS_WITH(failing_creation(dnnl_runtime_error),
                    "oneDNN's convolution failed: runtime_error");
}

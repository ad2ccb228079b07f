#include <catch2/catch.hpp>

#include "crescent/crescent.h"

using namespace crescent;

TEST_CASE("the largest error is that of all batches") {
  const auto metric = make<Metric>("LargestError");
  for (const auto& [truth, prediction] : {std::pair{1.0f, 1.5f}, {2.0f, 4.0f}, {3.0f, 2.0f}})
    metric->update_state(Tensor::from<float>({truth}, {1}), Tensor::from<float>({prediction}, {1}),
                         Tensor());
  CHECK(metric->result().item() == 2);
}

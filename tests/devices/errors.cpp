// Invalid data gives an error, changes no variable, and leaves the device usable.
#include "support.h"

namespace crescent::test {
namespace {

Tensor gathered_rows(const Tensor& table, const Tensor& ids) {
  return ops::gather(table, ops::check_indices(ids, 3, "row", "3 rows"), 0);
}

Tensor ids(std::vector<int32_t> values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

}  // namespace

TEST_CASE("errors: an index out of range is named, at the latest when somebody looks") {
  const Tensor table = consecutive_numbers({3, 2});
  CHECK(gathered_rows(table, ids({2, 0})).to_vector() == std::vector<double>{4, 5, 0, 1});
  CHECK_THROWS_WITH(gathered_rows(table, ids({0, 3})).to_vector(),
                    Catch::Contains("row 3 at [1] is out of range for 3 rows"));
  CHECK_THROWS_AS(gathered_rows(table, ids({-1})).to_vector(), DataError);
  CHECK(gathered_rows(table, ids({1})).to_vector() == std::vector<double>{2, 3});
}

TEST_CASE("errors: a step that fails has changed nothing") {
  const Variable v(consecutive_numbers({3, 2}));
  const Function step([&](const Tensors& in) {
    const Tensor row = gathered_rows(v.value(), in[0]);
    v.assign_add(Tensor(1.0));
    return Tensors{ops::sum(row)};
  });
  CHECK(step({ids({0, 1})})[0].item() == 6);
  CHECK_THROWS_AS(step({ids({0, 5})})[0].item(), DataError);
  CHECK(v.value().to_vector() == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(step({ids({0, 1})})[0].item() == 10);
}

TEST_CASE("errors: synchronize tells them, once") {
  const Tensor table = consecutive_numbers({3, 2});
  auto fails = [&] {
    gathered_rows(table, ids({7}));
    device().synchronize();
  };
  CHECK_THROWS_AS(fails(), DataError);
  device().synchronize();
  CHECK(ops::sum(table).item() == 15);
}

TEST_CASE("errors: shapes and dtypes are refused before anything runs") {
  CHECK_THROWS_WITH(ops::matmul(consecutive_numbers({2, 3}), consecutive_numbers({2, 3})),
                    Catch::Contains("(2, 3)"));
  CHECK_THROWS_AS(consecutive_numbers({2}).data<double>(), Error);
  CHECK_THROWS_AS(ops::square(consecutive_numbers({2})).item(), Error);
}

TEST_CASE("errors: abstract tensors have no values anywhere") {
  CHECK_THROWS_AS(Tensor::abstract({DType::float32, {2}}).to(device().memory()), Error);
}

}  // namespace crescent::test

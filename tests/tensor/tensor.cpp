#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "crescent/tensor/tensor.h"

using namespace crescent;
using Catch::Matchers::Contains;

TEST_CASE("shapes print and count as in Python") {
  CHECK(to_text(Shape{-1, 3}) == "(None, 3)");
  CHECK(to_text(Shape{2}) == "(2,)");
  CHECK(to_text(Shape{}) == "()");
  CHECK(Shape{2, 3}.size() == 6);
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{2, 3, 4}[-1] == 4);
  CHECK(Shape{2, 3, 4}.slice(1, 3) == Shape{3, 4});
  CHECK(Shape{2, 3, 4}.slice(0, -1) == Shape{2, 3});
  CHECK_THROWS_WITH((Shape{2, 3}[2]), Contains("axis 2 is out of range for shape (2, 3)"));
  CHECK_THROWS_WITH((Shape{-1, 3}.size()), Contains("not known"));
  CHECK_THROWS_WITH((Shape{int64_t{1} << 40, int64_t{1} << 40}.size()),
                    Contains("too many elements"));
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), Error);
  CHECK_THROWS_AS(Shape{-2}, Error);
}

TEST_CASE("broadcasting follows NumPy and keeps what is unknown") {
  CHECK(broadcast_shapes({3, 1}, {4}, "add") == Shape{3, 4});
  CHECK(broadcast_shapes({-1, 3}, {3}, "add") == Shape{-1, 3});
  CHECK(broadcast_shapes({-1}, {5}, "add") == Shape{5});
  CHECK(broadcast_shapes({-1}, {1}, "add") == Shape{-1});
  CHECK_THROWS_WITH(broadcast_shapes({2, 3}, {4}, "add"), Contains("add: shapes (2, 3) and (4,)"));
}

TEST_CASE("dtypes promote as in Keras") {
  CHECK(promote(DType::boolean, DType::int32) == DType::int32);
  CHECK(promote(DType::int64, DType::float16) == DType::float16);
  CHECK(promote(DType::float32, DType::float64) == DType::float64);
  CHECK(promote(DType::bfloat16, DType::float16) == DType::float32);
  CHECK(promote(DType::int8, DType::uint8) == DType::int16);
  CHECK(promote(DType::uint8, DType::int16) == DType::int16);
  CHECK(promote(DType::int16, DType::int32) == DType::int32);
  CHECK(promote(DType::int16, DType::float16) == DType::float16);
  CHECK(promote(DType::boolean, DType::int8) == DType::int8);
  CHECK(promote(DType::float64, DType::complex64) == DType::complex64);
  CHECK_THROWS_WITH(promote(DType::string, DType::int32), Contains("no common dtype"));
  CHECK_THROWS_WITH(dtype_named("flaot32"), Contains("did you mean 'float32'"));
}

TEST_CASE("a tensor is zeros, a scalar, or values") {
  const Tensor zeros(Shape{2, 2}, DType::int32);
  CHECK(zeros.to_vector() == std::vector<double>{0, 0, 0, 0});
  CHECK(Tensor(2.5).item() == 2.5);
  const Tensor t = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(t.view({3, 2}).shape() == Shape{3, 2});
  CHECK(t.view_rows(1, 1).to_vector() == std::vector<double>{4, 5, 6});
  CHECK(t.view_rows(1, 1).storage() == t.storage());
  CHECK_THROWS_AS(t.view({4, 2}), Error);
  CHECK_THROWS_AS(t.view_rows(1, 2), Error);
  CHECK_THROWS_AS(Tensor::from(std::vector<float>{1, 2}, {3}), Error);
  CHECK_THROWS_AS(t.item(), Error);
  CHECK_THROWS_AS(t.data<double>(), Error);
  CHECK_THROWS_WITH(Tensor().spec(), Contains("no tensor"));
  for (int d = 0; d < static_cast<int>(DType::complex64); ++d)
    CHECK(Tensor::full({3}, 1, static_cast<DType>(d)).to_vector() == std::vector<double>{1, 1, 1});
}

TEST_CASE("an abstract tensor says why it has no values") {
  const Tensor t = Tensor::abstract({DType::float32, {-1, 3}});
  CHECK_THROWS_WITH(t.to_vector(), Contains("float32(None, 3) has no values while a program is "
                                            "being recorded; use run_eagerly=true"));
}

TEST_CASE("impossible sizes fail with a message") {
  CHECK_THROWS_WITH(Tensor(Shape{int64_t{1} << 40, 1 << 10}, DType::float32),
                    Contains("not enough memory"));
  CHECK_THROWS_AS(Tensor(Shape{int64_t{1} << 62}, DType::float32), Error);
}

TEST_CASE("a mask travels beside the values") {
  const Tensor t = Tensor::full({2, 2}, 1), mask = Tensor::full({2}, 1, DType::boolean);
  const Tensor masked_tensor = t.with_mask(mask);
  CHECK(masked_tensor.mask().id() == mask.id());
  CHECK_FALSE(t.mask());
  CHECK(masked_tensor.with_mask({}).id() == t.id());
  CHECK(masked_tensor.storage() == t.storage());
}

TEST_CASE("memory is counted, observed and aligned") {
  static int64_t observed_bytes = 0;
  set_allocation_observer([](int64_t bytes) { observed_bytes += bytes; });
  const int64_t old_byte_count = allocated_bytes();
  const uint64_t count = allocation_count();
  {
    const Tensor t(Shape{1000}, DType::float32);
    CHECK(allocated_bytes() - old_byte_count == 4000);
    CHECK(allocation_count() == count + 1);
    CHECK(observed_bytes == 4000);
    CHECK(reinterpret_cast<uintptr_t>(t.raw()) % 64 == 0);
  }
  CHECK(observed_bytes == 0);
  CHECK(allocated_bytes() == old_byte_count);
  set_allocation_observer(nullptr);
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("large arrays begin at different places of a page") {
  std::vector<Tensor> tensors;
  std::set<uintptr_t> page_offsets;
  for (int i = 0; i < 8; ++i) {
    const Tensor& t = tensors.emplace_back(Shape{1 << 18}, DType::float32);
    page_offsets.insert(reinterpret_cast<uintptr_t>(t.raw()) % 4096);
  }
  CHECK(page_offsets.size() == 8);
}
#endif

TEST_CASE("zeros are zeros in memory that was used before") {
  for (int i = 0; i < 3; ++i) {
    Tensor t(Shape{1 << 18}, DType::float32);
    CHECK(t.data<float>()[77777] == 0);
    t.mutable_data<float>()[77777] = 5;
  }
}

TEST_CASE("half-width floats round to nearest even and come back") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint16_t b = static_cast<uint16_t>(bits);
    if (!std::isnan(float16_to_float(b))) CHECK((float_to_float16(float16_to_float(b)) == b));
    if (!std::isnan(bfloat16_to_float(b))) CHECK((float_to_bfloat16(bfloat16_to_float(b)) == b));
  }
  CHECK(float_to_float16(65519.0f) == 0x7bff);
  CHECK(float_to_float16(65520.0f) == 0x7c00);
  CHECK(float_to_float16(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(float_to_float16(0x1p-24f) == 1);
  CHECK(float_to_bfloat16(1.0f + 0x1p-8f) == 0x3f80);
  CHECK(float_to_bfloat16(1.0f + 0x1.8p-7f) == 0x3f82);
  CHECK(std::isnan(float16_to_float(float_to_float16(NAN))));
  CHECK(std::isnan(bfloat16_to_float(float_to_bfloat16(NAN))));
}

TEST_CASE("tensors print like NumPy") {
  CHECK(to_text(Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2})) == "[[1. 2.]\n [3. 4.]]");
  CHECK(to_text(Tensor::from(std::vector<float>{1.5f, -20}, {2})) == "[  1.5 -20. ]");
  CHECK(to_text(Tensor::from(std::vector<float>{99999, 1235.5f, 1234567}, {3})) ==
        "[  99999.     1235.5 1234567. ]");
  CHECK(to_text(Tensor::from(std::vector<float>{0.74329513f, -1.7232462f, 0}, {3})) ==
        "[ 0.74329513 -1.7232462   0.        ]");
  CHECK(to_text(Tensor::from(std::vector<float>{1.5f, 2e-9f, 3e20f}, {3})) ==
        "[1.5e+00 2.0e-09 3.0e+20]");
  CHECK(to_text(Tensor::from(std::vector<double>{-NAN, 0.1, -HUGE_VAL}, {3})) ==
        "[ nan  0.1 -inf]");
  CHECK(to_text(Tensor::from(std::vector<double>{1.0 / 3, 1e-12}, {2})) ==
        "[3.33333333e-01 1.00000000e-12]");
  CHECK(to_text(ops::cast(Tensor::from(std::vector<float>{0.1f, 3}, {2}), DType::bfloat16)) ==
        "[0.1 3. ]");
  CHECK(to_text(Tensor(3.0)) == "3.0");
  CHECK(to_text(Tensor(0.1f)) == "0.1");
  CHECK(to_text(Tensor(1e30)) == "1.e+30");
  CHECK(to_text(Tensor::full({1, 2, 1}, 1)) == "[[[1.]\n  [1.]]]");
  CHECK(to_text(Tensor(Shape{0}, DType::float32)) == "[] (0,)");
  CHECK(to_text(Tensor(Shape{2}, DType::boolean)) == "[false false]");
  CHECK(to_text(Tensor(Shape{2000}, DType::int32)) == "[0 0 0 ... 0 0 0]");
  CHECK(to_text(Tensor::from(std::vector<int64_t>{INT64_MAX}, {1})) == "[9223372036854775807]");
}

// The memory of a device: allocation, writing, reading, copying.
#include <thread>

#include "support.h"

namespace crescent::test {
namespace {

std::shared_ptr<Storage> allocate(size_t bytes, bool zeroed = true) {
  Memory* memory = device().memory();
  return memory ? memory->allocate(bytes, zeroed) : Storage::allocate(bytes, zeroed);
}

std::vector<uint8_t> bytes_of(const Storage& storage) {
  std::vector<uint8_t> bytes(storage.bytes());
  storage.read(0, bytes.size(), bytes.data());
  return bytes;
}

}  // namespace

TEST_CASE("memory: zeroed when asked for") {
  for (size_t bytes : {0, 1, 64, 4097, 1 << 20}) {
    DYNAMIC_SECTION(bytes << " bytes") {
      const auto storage = allocate(bytes);
      CHECK(storage->bytes() == bytes);
      CHECK(storage->in_memory());
      CHECK(bytes_of(*storage) == std::vector<uint8_t>(bytes, 0));
    }
  }
}

TEST_CASE("memory: knows whose it is") {
  const auto storage = allocate(64);
  CHECK(storage->memory() == device().memory());
  CHECK((storage->host() != nullptr) == (device().memory() == nullptr));
  CHECK(Storage::allocate(64)->memory() == nullptr);
}

TEST_CASE("memory: what is written is read, at any offset") {
  const auto storage = allocate(5000);
  const std::vector<uint8_t> written_bytes{1, 2, 3, 4, 5, 6, 7};
  for (size_t offset : {0, 1, 4090, 4993}) {
    DYNAMIC_SECTION("offset " << offset) {
      storage->write(offset, written_bytes.size(), written_bytes.data());
      std::vector<uint8_t> bytes_read(written_bytes.size());
      storage->read(offset, bytes_read.size(), bytes_read.data());
      CHECK(bytes_read == written_bytes);
      const auto contents = bytes_of(*storage);
      CHECK(std::count(contents.begin(), contents.end(), 0) == 4993);
    }
  }
}

TEST_CASE("memory: a source may change as soon as it was written") {
  const auto storage = allocate(1 << 16, false);
  std::vector<uint8_t> source(1 << 16, 7);
  storage->write(0, source.size(), source.data());
  std::fill(source.begin(), source.end(), 9);
  CHECK(bytes_of(*storage) == std::vector<uint8_t>(1 << 16, 7));
}

TEST_CASE("memory: copies go each way") {
  const auto a = allocate(256), b = allocate(256), host = Storage::allocate(256);
  std::vector<uint8_t> numbers(256);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<uint8_t>(i);
  a->write(0, 256, numbers.data());
  SECTION("within the device") {
    b->copy(16, *a, 32, 100);
    const auto bytes = bytes_of(*b);
    CHECK((bytes[16] == 32 && bytes[115] == 131 && bytes[15] == 0 && bytes[116] == 0));
  }
  SECTION("to the host") {
    host->copy(0, *a, 128, 128);
    CHECK((bytes_of(*host)[0] == 128 && bytes_of(*host)[127] == 255));
  }
  SECTION("from the host") {
    host->write(0, 4, numbers.data() + 10);
    b->copy(252, *host, 0, 4);
    CHECK((bytes_of(*b)[252] == 10 && bytes_of(*b)[255] == 13));
  }
}

TEST_CASE("memory: writing changes contents") {
  const auto storage = allocate(8);
  const Contents contents_before = storage->contents(0);
  CHECK(contents_before == storage->contents(0));
  storage->write(0, 8, "abcdefgh");
  CHECK_FALSE(contents_before == storage->contents(0));
}

TEST_CASE("memory: counts as memory of tensors") {
  const int64_t bytes = allocated_bytes();
  const uint64_t allocations_before = allocation_count();
  {
    const auto storage = allocate(1 << 20);
    CHECK(allocated_bytes() == bytes + (1 << 20));
    CHECK(allocation_count() == allocations_before + 1);
  }
  CHECK(allocated_bytes() == bytes);
}

TEST_CASE("memory: too much is an error") {
  CHECK_THROWS_AS(allocate(size_t{1} << 62), Error);
  CHECK(bytes_of(*allocate(4)) == std::vector<uint8_t>(4, 0));
}

TEST_CASE("memory: any thread may read and write") {
  const auto storage = allocate(4 * 1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<uint8_t> own_bytes(1000, static_cast<uint8_t>(t + 1));
      std::vector<uint8_t> bytes_read(1000);
      for (int i = 0; i < 50; ++i) {
        storage->write(static_cast<size_t>(t) * 1000, 1000, own_bytes.data());
        storage->read(static_cast<size_t>(t) * 1000, 1000, bytes_read.data());
        if (bytes_read != own_bytes) throw std::logic_error("another's bytes");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(bytes_of(*storage)[3999] == 4);
}

TEST_CASE("tensors: go there and back, in every dtype") {
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16, DType::int32,
                      DType::int64, DType::uint8, DType::boolean}) {
    DYNAMIC_SECTION(name_of(dtype)) {
      const Tensor on_host = on_cpu([&] { return ops::cast(consecutive_numbers({3, 5}), dtype); });
      const Tensor moved_to_device = on_device(on_host);
      CHECK(moved_to_device.storage()->memory() == device().memory());
      CHECK(moved_to_device.to_vector() == on_host.to_vector());
      CHECK(to_text(moved_to_device) == to_text(on_host));
      CHECK(moved_to_device.to(nullptr).to_vector() == on_host.to_vector());
    }
  }
}

TEST_CASE("tensors: of nothing") {
  const Tensor moved_tensor = on_device(Tensor(Shape{0, 3}, DType::float32));
  CHECK(moved_tensor.to_vector().empty());
  CHECK(moved_tensor.clone().shape() == Shape{0, 3});
}

TEST_CASE("tensors: results are in the device's memory") {
  const Tensor y = ops::square(consecutive_numbers({4}));
  CHECK(y.storage()->memory() == device().memory());
  CHECK(y.in_memory());
  CHECK(y.to_vector() == std::vector<double>{0, 1, 4, 9});
  CHECK(y.view_rows(2, 2).to_vector() == std::vector<double>{4, 9});
  CHECK(y.view_rows(3, 1).view({}).item() == 9);
  CHECK(y.data<float>()[3] == 9);
}

TEST_CASE("tensors: a clone stays where its values are and is its own") {
  const Tensor y = ops::square(consecutive_numbers({4})), copy = y.clone();
  CHECK(copy.storage()->memory() == device().memory());
  CHECK(copy.storage() != y.storage());
  CHECK(copy.to_vector() == y.to_vector());
  CHECK(y.clone(nullptr).storage()->host());
}

TEST_CASE("tensors: who writes to a result is heard by the next program") {
  Tensor y = ops::square(consecutive_numbers({4}));
  const Tensor rows = y.view_rows(0, 2);
  float* values = y.mutable_data<float>();
  values[0] = 5;
  CHECK(ops::sum(y).item() == 19);
  CHECK(rows.to_vector() == std::vector<double>{5, 1});
  values[1] = 7;
  CHECK(ops::sum(y).item() == 25);
  CHECK(ops::sum(rows).item() == 12);
  CHECK(y.to_vector() == std::vector<double>{5, 7, 4, 9});
}

TEST_CASE("tensors: what was filled after it was used is used anew") {
  Tensor x = consecutive_numbers({3});
  CHECK(ops::sum(x).item() == 3);
  x.mutable_data<float>()[0] = 10;
  CHECK(ops::sum(x).item() == 13);
  x.mutable_data<float>()[0] = 20;
  CHECK(ops::sum(x).item() == 23);
}

TEST_CASE("tensors: one that was written by its storage is used anew") {
  const Tensor x = consecutive_numbers({3});
  CHECK(ops::sum(x).item() == 3);
  const float ten = 10;
  x.storage()->write(0, sizeof ten, &ten);
  CHECK(ops::sum(x).item() == 13);
}

TEST_CASE("tensors: the same contents are brought over once") {
  if (reported_number("uploads") < 0) return;
  const Tensor x = consecutive_numbers({1000});
  ops::sum(x);
  const int64_t uploads_before = reported_number("uploads");
  for (int i = 0; i < 5; ++i) ops::sum(x);
  CHECK(reported_number("uploads") == uploads_before);
}

TEST_CASE("tensors: looking once does not stop later steps from being seen") {
  const Variable v(consecutive_numbers({2}));
  const Function step([&](const Tensors&) {
    v.assign_add(Tensor(1.0));
    return Tensors{};
  });
  for (int i = 1; i <= 3; ++i) {
    step({});
    CHECK(v.value().to_vector() == std::vector<double>{double(i), i + 1.0});
    CHECK(v.value().data<float>()[0] == float(i));
  }
}

}  // namespace crescent::test

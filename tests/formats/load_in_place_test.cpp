// Loading weights into the memory of the existing variables.
#include <fcntl.h>

#include "models.h"

namespace crescent::hdf5 {
namespace {

/// Copies of the weights, so that the model's own memory is not shared.
Tensors copies_of_weights(Model& model) {
  Tensors copies;
  for (const Variable& weight : model.weights()) copies.push_back(weight.value().clone());
  return copies;
}

TEST_CASE("weights are replaced in the memory that they have, unless somebody holds it") {
  Scratch scratch;
  const std::string path = scratch.path("w.h5");
  auto model = small_sequential(), other_model = small_sequential();
  crescent::save_weights(*model, path);
  const Tensors x{ramp({6, 4})}, expected = model->predict(x);
  const Tensors wanted = copies_of_weights(*model),
                weights_before = copies_of_weights(*other_model);
  other_model->predict(x);  // this prediction makes the device pack the weights
  auto addresses = [&] {
    std::vector<const void*> addresses;
    for (const Variable& weight : other_model->weights()) addresses.push_back(weight.value().raw());
    return addresses;
  };
  const auto first_addresses = addresses();

  SECTION("nobody does") {
    crescent::load_weights(*other_model, path);
    CHECK(addresses() == first_addresses);
  }
  SECTION("a tensor from before keeps its values") {
    const Tensors held_weights = other_model->get_weights();
    crescent::load_weights(*other_model, path);
    check_same(held_weights, weights_before);
  }
  SECTION("the system gives no lease on a file that is open for writing") {
    std::ofstream writer(path, std::ios::binary | std::ios::app);
    crescent::load_weights(*other_model, path);
    CHECK(addresses() != first_addresses);
  }
  check_same(other_model->get_weights(), wanted);
  check_same(other_model->predict(x), expected);
}

TEST_CASE(
    "a file that does not fit, is cut or damaged leaves weights that nobody holds as they were") {
  Scratch scratch;
  auto model = small_sequential(), other_model = small_sequential();
  crescent::save_weights(*other_model, scratch.path("w.h5"));
  const std::string good_bytes = read_bytes(scratch.path("w.h5"));
  const Tensors weights_before = copies_of_weights(*model);
  auto check_error_for = [&](const std::string& bytes) {
    write_bytes(scratch.path("bad.h5"), bytes);
    failure([&] { crescent::load_weights(*model, scratch.path("bad.h5")); });
    check_same(copies_of_weights(*model), weights_before);
  };
  for (size_t size : {good_bytes.size() / 2, good_bytes.size() - 1})
    check_error_for(good_bytes.substr(0, size));
  for (const Tensor& weight : copies_of_weights(*other_model)) {
    const std::string_view numbers(static_cast<const char*>(weight.raw()), weight.bytes());
    const size_t position = good_bytes.find(numbers);
    REQUIRE(position != good_bytes.npos);
    std::string damaged_bytes = good_bytes;
    damaged_bytes[position + numbers.size() - 1] ^= 1;
    if (numbers.find_first_not_of('\0') != numbers.npos) check_error_for(damaged_bytes);
  }
}

TEST_CASE("while a file is held, who wants to write to it waits") {
  Scratch scratch;
  const std::string path = scratch.path("w.h5");
  crescent::save_weights(*small_sequential(), path);
  auto open_for_writing = [&] { return Descriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK)); };
  {
    FileReader reader(path);
    REQUIRE(reader.prevent_changes());
    CHECK(open_for_writing() < 0);
    reader.check_unchanged();
  }
  CHECK(open_for_writing() >= 0);
}

}  // namespace
}  // namespace crescent::hdf5

// Streams of file names, streams mapped by layers, and padded batches.
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

std::vector<Element> elements_of(const StreamPtr& stream, uint64_t epoch = 0) {
  std::vector<Element> elements;
  const CursorPtr cursor = stream->open(epoch);
  for (Element element; cursor->next(element);) elements.push_back(element);
  return elements;
}

Tensor tensor_in(const Value& part) { return Codec<Tensor>::decode(part); }

/// A stream of vectors of ones with these lengths.
StreamPtr ones_stream(std::initializer_list<int64_t> lengths) {
  std::vector<Element> elements;
  for (const int64_t length : lengths)
    elements.push_back({Codec<Tensor>::encode(ops::ones({length}, DType::float32)), length});
  return list_stream(std::move(elements));
}

}  // namespace

TEST_CASE("batches are filled up with zeros to their longest element") {
  const StreamPtr stream = padded_batch(ones_stream({1, 3, 2}), 2);
  CHECK(stream->elements() == 2);
  const auto batches = elements_of(stream);
  REQUIRE(batches.size() == 2);
  CHECK(tensor_in(batches[0][0]).to_vector() == std::vector<double>{1, 0, 0, 1, 1, 1});
  CHECK(tensor_in(batches[0][1]).to_vector() == std::vector<double>{1, 3});
  CHECK(tensor_in(batches[1][0]).shape() == Shape{1, 2});
  CHECK(padded_batch(repeat(ones_stream({1}), {}), 2)->elements() == Stream::kInfinite);
}

TEST_CASE("only tensors are filled up, in batches of some") {
  CHECK_THROWS_WITH(padded_batch(ones_stream({1}), 0), "batch_size: expected at least 1, got 0");
  CHECK_THROWS_WITH(padded_batch(nullptr, 1), Contains("expected a dataset"));
  CHECK_THROWS_WITH(elements_of(padded_batch(list_stream({{Value("text")}}), 1)),
                    Contains("padded_batch: expected tensors"));
}

TEST_CASE("files are listed by a pattern, in order or in another one in each pass") {
  std::string folder = (std::filesystem::temp_directory_path() / "crescent-list-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()));
  for (const char name : {'a', 'b', 'c', 'd', 'e', 'f'}) std::ofstream(folder + "/" + name + ".x");
  const auto letters_of = [&](const StreamPtr& files, uint64_t epoch = 0) {
    std::string letters;
    for (const Element& element : elements_of(files, epoch))
      letters += element[0].as_string()[folder.size() + 1];
    return letters;
  };
  const StreamPtr shuffled_files = list_files(folder + "/*.x", true, 1);
  CHECK(letters_of(list_files(folder + "/*.x", false)) == "abcdef");
  CHECK(letters_of(list_files(folder + "/[bd].x", false)) == "bd");
  CHECK(letters_of(shuffled_files) == letters_of(list_files(folder + "/*.x", true, 1)));
  CHECK(letters_of(shuffled_files) != letters_of(shuffled_files, 1));
  std::filesystem::remove_all(folder);
  CHECK_THROWS_WITH(list_files(folder + "/*.x"), Contains("list_files: no files match"));
}

TEST_CASE("a layer is called on the first part of an element") {
  const auto layer = make<Layer>("Rescaling", {{"scale", 2}});
  const auto elements = elements_of(map(ones_stream({1, 2}), layer_mapping(layer)));
  REQUIRE(elements.size() == 2);
  CHECK(tensor_in(elements[1][0]).to_vector() == std::vector<double>{2, 2});
  CHECK(elements[1][1] == Value(2));
  const Value one = Codec<Tensor>::encode(ops::ones({1, 1}, DType::float32));
  const StreamPtr pairs = list_stream({{List{one, one}}});
  CHECK(tensor_in(elements_of(map(pairs, layer_mapping(make<Layer>("Add"))))[0][0]).item() == 2);
  CHECK_THROWS_WITH(elements_of(map(list_stream({Element{}}), layer_mapping(layer))),
                    Contains("expected an element with a part for the layer"));
}

TEST_CASE("what a layer draws is the element's own") {
  const auto layer = make<Layer>("Dropout", {{"rate", 0.5}});
  const StreamPtr stream = map(ones_stream({64, 64}), layer_mapping(layer, true));
  const auto first_pass = elements_of(stream), second_pass = elements_of(stream),
             other_epoch = elements_of(stream, 1);
  CHECK(tensor_in(first_pass[0][0]).to_vector() == tensor_in(second_pass[0][0]).to_vector());
  CHECK(tensor_in(first_pass[0][0]).to_vector() != tensor_in(first_pass[1][0]).to_vector());
  CHECK(tensor_in(elements_of(skip(stream, 1))[0][0]).to_vector() ==
        tensor_in(first_pass[1][0]).to_vector());
}

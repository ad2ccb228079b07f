// Datasets of folders: their files, labels and subsets, and errors for options that contradict each
// other.
#include <algorithm>
#include <catch2/catch.hpp>

#include "crescent/data/directory.h"
#include "crescent/io/format.h"
#include "folder.h"
#include "passes.h"

using namespace crescent;
using Catch::Contains;

namespace {

using Doubles = std::vector<double>;
using Texts = std::vector<std::string>;

/// Writes three texts of class "b" and two of class "a".
void write_texts(const Folder& folder) {
  for (const char* name : {"b/1.txt", "b/2.TXT", "b/more/3.txt", "a/1.txt", "a/2.txt"})
    folder.write(name, std::string("text of ") + name);
  folder.write("a/notes.md", "no text");
}

DirectoryOptions quiet_options(const Folder& folder) {
  DirectoryOptions options;
  options.directory = folder.path();
  options.shuffle = options.verbose = false;
  return options;
}

/// The last letter of each file name in the dataset.
std::string last_letters(const DirectoryDatasets& datasets, size_t dataset_index = 0) {
  std::string letters;
  for (const std::string& path : datasets.at(dataset_index)->file_paths)
    letters += path[path.size() - 5];
  return letters;
}

Doubles labels_of(const DirectoryOptions& options) {
  Doubles labels;
  for (const Element& batch : elements_of_pass(text_dataset_from_directory(options)[0]))
    for (const double label : numbers_of(batch.at(1))) labels.push_back(label);
  return labels;
}

}  // namespace

TEST_CASE("files of a folder have the label of the folder they are in") {
  const Folder folder;
  write_texts(folder);
  DirectoryOptions options = quiet_options(folder);
  const auto data = text_dataset_from_directory(options)[0];
  CHECK(data->class_names == Texts{"a", "b"});
  REQUIRE(data->file_paths.size() == 5);
  CHECK_THAT(data->file_paths[4], Catch::EndsWith("b/more/3.txt"));
  CHECK(data->elements() == 1);
  CHECK(labels_of(options) == Doubles{0, 0, 1, 1, 1});
  options.label_mode = "categorical";
  CHECK(labels_of(options) == Doubles{1, 0, 1, 0, 0, 1, 0, 1, 0, 1});
  options.label_mode = "binary";
  CHECK(labels_of(options) == Doubles{0, 0, 1, 1, 1});
  options.class_names = {"b", "a"};
  CHECK(labels_of(options) == Doubles{0, 0, 0, 1, 1});
  options.class_names.clear();
  options.labels = List{7, 7, 8, 8, 8};
  options.label_mode = "int";
  CHECK(labels_of(options) == Doubles{7, 7, 8, 8, 8});
}

TEST_CASE("texts are read up to so many bytes, with labels or without") {
  const Folder folder;
  write_texts(folder);
  DirectoryOptions options = quiet_options(folder);
  options.batch_size.reset();
  options.labels = Value();
  const auto data = text_dataset_from_directory(options, 9)[0];
  CHECK(data->class_names.empty());
  const auto elements = elements_of_pass(data);
  REQUIRE(elements.size() == 5);
  CHECK((elements[0].size() == 1 && elements[0][0] == Value("text of a")));
}

TEST_CASE("the parts of a folder are its files, cut where Keras cuts them") {
  const Folder folder;
  write_texts(folder);
  DirectoryOptions options = quiet_options(folder);
  options.validation_split = 0.4;
  options.subset = "both";
  const auto datasets = text_dataset_from_directory(options);
  REQUIRE(datasets.size() == 2);
  CHECK(last_letters(datasets) == "121");
  CHECK(last_letters(datasets, 1) == "23");
  options.subset = "validation";
  CHECK(last_letters(text_dataset_from_directory(options)) == "23");
  // With the seed 0, numpy.random.RandomState shuffles 0 to 4 to 2, 0, 1, 3, 4.
  options.shuffle = true;
  options.seed = 0;
  options.subset = "training";
  const auto training = text_dataset_from_directory(options);
  CHECK(last_letters(training) == "112");
}

TEST_CASE("options of folders that contradict each other are refused") {
  const Folder folder;
  write_texts(folder);
  const auto refusal_message = [&](auto change) {
    DirectoryOptions options = quiet_options(folder);
    change(options);
    std::string message = "nothing was refused";
    try {
      text_dataset_from_directory(options);
    } catch (const Error& error) {
      message = error.what();
    }
    return message;
  };
  using Options = DirectoryOptions;
  CHECK_THAT(refusal_message([](Options& o) { o.labels = "x"; }),
             Contains("`labels` argument should be"));
  CHECK_THAT(refusal_message([](Options& o) { o.labels = List{1}; }),
             Contains("len(labels) is 1 while"));
  CHECK_THAT(refusal_message([](Options& o) { o.label_mode = "ints"; }),
             Contains("label_mode=ints"));
  CHECK_THAT(refusal_message([](Options& o) { o.class_names = {"c"}; }), Contains("class_names=c"));
  CHECK_THAT(refusal_message([](Options& o) { o.labels = Value(), o.class_names = {"a"}; }),
             Contains("You can only pass `class_names` if"));
  CHECK_THAT(refusal_message([](Options& o) { o.class_names = {"a"}, o.label_mode = "binary"; }),
             Contains("there must be exactly 2 class_names"));
  CHECK_THAT(refusal_message([](Options& o) { o.validation_split = 2; }),
             Contains("between 0 and 1"));
  CHECK_THAT(refusal_message([](Options& o) { o.validation_split = 0.5; }),
             Contains("and inversely"));
  CHECK_THAT(refusal_message([](Options& o) { o.validation_split = 0.5, o.subset = "test"; }),
             Contains("received: test"));
  CHECK_THAT(refusal_message(
                 [](Options& o) { o.validation_split = 0.5, o.subset = "both", o.shuffle = true; }),
             Contains("you must provide a `seed` argument"));
  CHECK_THAT(refusal_message([](Options& o) { o.directory += "/none"; }), Contains("is no folder"));
  CHECK_THROWS_WITH(image_dataset_from_directory(quiet_options(folder)),
                    Contains("No images found in directory"));
}

TEST_CASE("images of a folder come in batches of one size") {
  const Folder folder;
  for (const char* name : {"x/1.png", "x/2.png", "y/3.bmp"})
    save_image(folder.add(name), Tensor::from<float>({10, 20, 30, 40, 50, 60}, {1, 2, 3}),
               {.scale = false});
  const auto first_batch = [&](const ImageFileOptions& images) {
    return Codec<Tensor>::decode(
        elements_of_pass(image_dataset_from_directory(quiet_options(folder), images)[0])
            .at(0)
            .at(0));
  };
  CHECK(first_batch({.size = {4, 5}}).shape() == Shape{3, 4, 5, 3});
  CHECK(first_batch({.size = {1, 2}}).to_vector().at(17) == 60);
  CHECK(first_batch({.color_mode = "rgba", .size = {2, 2}, .data_format = "channels_first"})
            .shape() == Shape{3, 4, 2, 2});
  CHECK(first_batch({.size = {2, 2}, .pad_to_aspect_ratio = true}).to_vector().at(6) == 0);
  CHECK(first_batch({.size = {1, 1}, .crop_to_aspect_ratio = true}).to_vector().at(0) == 10);
  CHECK_THROWS_WITH(first_batch({.crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}),
                    Contains("Only one of `pad_to_aspect_ratio`"));
  CHECK_THROWS_WITH(first_batch({.interpolation = "cubic"}),
                    Contains("Invalid interpolation method"));
  CHECK_THROWS_WITH(first_batch({.color_mode = "cmyk"}), Contains("color_mode=cmyk"));
  CHECK_THROWS_WITH(first_batch({.data_format = "first"}), Contains("got \"first\""));
}

TEST_CASE("sounds of a folder are filled up to the longest or to a length") {
  const Folder folder;
  const Tensor rate = Tensor::scalar(8000, DType::int64);
  for (const int64_t samples : {2, 3})
    format_named<WritesArrays>("wav")->write_arrays(
        folder.add(concat("x/", samples, ".wav")),
        {{"audio", Tensor::from(std::vector<float>(size_t(samples), 0.5f), {samples, 1})},
         {"sampling_rate", rate}});
  const auto first_batch = [&](const AudioFileOptions& sounds) {
    return Codec<Tensor>::decode(
        elements_of_pass(audio_dataset_from_directory(quiet_options(folder), sounds)[0])
            .at(0)
            .at(0));
  };
  CHECK(first_batch({}).shape() == Shape{2, 3, 1});
  CHECK(first_batch({}).to_vector().at(2) == 0);
  CHECK(first_batch({.sampling_rate = 8000, .output_sequence_length = 1}).shape() ==
        Shape{2, 1, 1});
  CHECK(first_batch({.output_sequence_length = 7}).shape() == Shape{2, 7, 1});
  CHECK_THROWS_WITH(first_batch({.sampling_rate = 16000}),
                    Contains("8000 samples a second, expected"));
  CHECK_THROWS_WITH(first_batch({.sampling_rate = 0}), Contains("Received: sampling_rate=0"));
  CHECK_THROWS_WITH(first_batch({.output_sequence_length = 0}),
                    Contains("expected at least 1, got 0"));
}

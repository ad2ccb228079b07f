// Checks of formats: reading a file must return what was written, and damaged files must be
// refused.
#include <algorithm>
#include <fstream>

#include "check/checked_layer.h"
#include "check/classes.h"
#include "crescent/io/format.h"
#include "crescent/system/file.h"

namespace crescent::check {
namespace {

/// A file that `write` has written in the format. The file name extension may determine what the
/// file can contain, so the file has the first extension of the format for which `write` raises no
/// Error.
class WrittenFile {
 public:
  WrittenFile(const std::string& format, const std::function<void(const std::string&)>& write) {
    const Dict traits = registry().traits(Format::kKind, format);
    const Value* endings = traits.find("endings");
    if (!endings) skip("the format has no ending of its own");
    std::string message;
    for (const auto& ending : Codec<std::vector<std::string>>::decode(*endings)) try {
        file_ = std::make_unique<TemporaryFile>(ending.c_str());
        write(path());
        return;
      } catch (const Interrupted&) {
        throw;
      } catch (const Error& error) {
        if (is_of_exception(error)) throw;
        if (message.empty()) message = error.what();
      }
    skip("what it can write is not known; it said: ", message);
  }
  const std::string& path() const { return file_->path(); }

 private:
  std::unique_ptr<TemporaryFile> file_;
};

/// Reads truncated copies of the file, each of which must be rejected with an Error.
void expect_truncated_files_refused(const std::string& path, const std::function<void()>& read) {
  const std::string file_contents = read_file(path);
  for (const size_t bytes :
       {file_contents.size() / 4, file_contents.size() / 2, file_contents.size() - 1}) {
    std::ofstream(path, std::ios::binary)
        .write(file_contents.data(), static_cast<std::streamsize>(bytes));
    try {
      read();
    } catch (const Error& error) {
      expect(std::string_view(error.what()).find(path) != std::string_view::npos,
             "the error for a file that ends early does not name it: ", error.what());
      continue;
    }
    report_mistake("a file that ends after ", bytes, " of ", file_contents.size(),
                   " bytes is read as if whole");
  }
}

std::string check_format_of_models(const CheckedClass& checked) {
  const auto model = small_model({});
  train(*model);
  const WrittenFile file(checked.name, [&](const std::string& path) { save_model(*model, path); });
  const Tensor x = SeedGenerator(3).normal({4, 3});
  expect_near(load_model(file.path())->predict({x}), model->predict({x}), 1e-6,
              "the model of the file, beside the one that was saved");
  expect_truncated_files_refused(file.path(), [&] { load_model(file.path()); });
  return "a model comes back; files that end early are refused";
}

std::string check_format_of_weights(const CheckedClass& checked) {
  const auto model = small_model({}), other_model = small_model({});
  train(*model);
  const WrittenFile file(checked.name,
                         [&](const std::string& path) { save_weights(*model, path); });
  load_weights(*other_model, file.path());
  expect_near(other_model->get_weights(), model->get_weights(), 1e-6, "weights of the file");
  expect_truncated_files_refused(file.path(), [&] { load_weights(*other_model, file.path()); });
  return "weights come back; files that end early are refused";
}

/// An array of each dtype except string, a scalar, an array with four axes, and one without
/// elements.
NamedTensors usual_arrays() {
  const SeedGenerator random(3);
  const Tensor x = random.normal({4, 3}),
               count = ops::cast(random.uniform({4, 3}, 0, 3), DType::int32);
  NamedTensors arrays;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::string) continue;
    arrays.emplace_back(concat("of_", dtype), ops::cast(is_floating(dtype) ? x : count, dtype));
  }
  arrays.emplace_back("scalar", random.normal({}));
  arrays.emplace_back("deep", random.normal({2, 1, 3, 2}));
  arrays.emplace_back("empty", random.normal({0, 3}));
  return arrays;
}

/// Expects that the file contains the arrays that were written. The name of a single array need not
/// be stored.
void expect_arrays(const std::string& path, const NamedTensors& written_arrays) {
  const NamedTensors read_back = read_arrays(path);
  expect(read_back.size() == written_arrays.size(), "of a file with ", written_arrays.size(),
         " arrays, ", read_back.size(), " are read");
  for (const auto& [name, array] : written_arrays) {
    const auto match = std::find_if(read_back.begin(), read_back.end(), [&](const auto& entry) {
      return read_back.size() == 1 || entry.first == name;
    });
    expect(match != read_back.end(), "the array '", name, "' is not read");
    expect(have_same_bits({match->second}, {array}), "the array '", name, "', ",
           to_text(array.spec()), ", is read as ", to_text(match->second.spec()),
           " or with other elements");
  }
}

std::string check_format_of_arrays(const CheckedClass& checked) {
  const NamedTensors x{{"x", SeedGenerator(3).normal({4, 3})}};
  const WrittenFile file(checked.name, [&](const std::string& path) { write_arrays(path, x); });
  expect_arrays(file.path(), x);
  expect_truncated_files_refused(file.path(), [&] { read_arrays(file.path()); });
  return "an array comes back; files that end early are refused";
}

/// Whether a file of these arrays can be written; fails if reading the file does not give the same
/// arrays.
bool round_trips(const CheckedClass& checked, const NamedTensors& arrays) try {
  const WrittenFile file(checked.name,
                         [&](const std::string& path) { write_arrays(path, arrays); });
  expect_arrays(file.path(), arrays);
  return true;
} catch (const SkippedCheck&) {
  return false;
}

/// Writes each of the usual arrays to a file of its own, and then all arrays that the format
/// accepts to one file.
std::string check_format_of_other_arrays(const CheckedClass& checked) {
  NamedTensors written_arrays;
  std::vector<std::string> refusals;
  for (const auto& array : usual_arrays())
    if (round_trips(checked, {array}))
      written_arrays.push_back(array);
    else
      refusals.push_back(array.first);
  const bool round_trips_together = round_trips(checked, written_arrays);
  return concat(written_arrays.size(), " arrays come back, ",
                round_trips_together ? "also of one file" : "one a file",
                refusals.empty() ? "" : ", and refused are ", join(refusals));
}

}  // namespace

void add_format_rows(CheckReport& report, const CheckedClass& checked) {
  const Dict traits = registry().traits(Format::kKind, checked.name);
  const auto abilities = Codec<std::vector<std::string>>::decode(traits.at("abilities"));
  const auto has_ability = [&](const char* ability) {
    return std::find(abilities.begin(), abilities.end(), ability) != abilities.end();
  };
  if (has_ability(ModelFormat::kAbility) && !traits.contains("written_only"))
    add_result(report, "models", [&] { return check_format_of_models(checked); });
  if (has_ability(WeightsFormat::kAbility))
    add_result(report, "weights", [&] { return check_format_of_weights(checked); });
  if (!has_ability(ReadsArrays::kAbility) || !has_ability(WritesArrays::kAbility)) return;
  if (add_result(report, "arrays", [&] { return check_format_of_arrays(checked); }))
    add_result(report, "other arrays", [&] { return check_format_of_other_arrays(checked); });
}

}  // namespace crescent::check

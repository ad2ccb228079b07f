#include <cstdlib>
#include <fstream>
#include <iomanip>

#include "crescent/io/format.h"
#include "crescent/plugin.h"

/// For writing, a format is chosen by the ending of the file name; for reading, by the first bytes
/// of the file. A file of this format has the line "numbers", then the shape, the numbers, and the
/// line "end"; a file without the last line counts as cut short.
class Plain final : public crescent::Format,
                    public crescent::ReadsArrays,
                    public crescent::WritesArrays {
 public:
  static void describe(crescent::Schema<Plain>& s) {
    s.doc("One array of float32 as text.")
        .trait("endings", crescent::List{".plain"})
        .trait("signatures",
               crescent::List{"6e756d626572730a"});  // "numbers" and the end of a line
  }
  crescent::Tensor read_array(const std::string& path, const std::string&) override {
    std::ifstream file(path);
    std::string word;
    size_t rank = 0;
    file >> word >> rank;
    if (!file || rank > 8) crescent::fail("'", path, "': expected at most 8 axes");
    std::vector<int64_t> axis_sizes(rank);
    for (int64_t& size : axis_sizes)
      if (!(file >> size) || size < 0) crescent::fail("'", path, "': expected sizes of axes");
    std::vector<float> numbers;
    while (file >> word && word != "end") numbers.push_back(number_of(word, path));
    if (word != "end" || file.get() != '\n')
      crescent::fail("'", path, "': expected 'end' after the numbers");
    const crescent::Shape shape(axis_sizes);
    if (static_cast<int64_t>(numbers.size()) != shape.size())
      crescent::fail("'", path, "': expected ", shape.size(), " numbers, got ", numbers.size());
    return crescent::Tensor::from(numbers, shape);
  }
  crescent::Tensor open_array(const std::string& path, const std::string& array_name) override {
    return read_array(path, array_name);
  }
  void write_arrays(const std::string& path, const crescent::NamedTensors& arrays) override {
    if (arrays.size() != 1) crescent::fail("expected one array, got ", arrays.size());
    const crescent::Tensor& array = arrays[0].second;
    if (array.dtype() != crescent::DType::float32)
      crescent::fail("expected an array of float32, got ", array.spec());
    std::ofstream file(path);
    file << "numbers\n" << array.rank();
    for (int axis = 0; axis < array.rank(); ++axis) file << " " << array.dim(axis);
    file << "\n" << std::setprecision(9);
    for (const double number : array.to_vector()) file << number << "\n";
    file << "end\n";
    if (!file.flush()) crescent::fail("cannot write '", path, "'");
  }

 private:
  /// Reads "nan" and "inf" too, which operator>> of a stream does not.
  static float number_of(const std::string& word, const std::string& path) {
    char* end = nullptr;
    const float number = std::strtof(word.c_str(), &end);
    if (*end != '\0') crescent::fail("'", path, "': expected a number or 'end', got '", word, "'");
    return number;
  }
};

CRESCENT_PLUGIN("acme.plain", "0.1.0") { registry.add<Plain>("Plain"); }

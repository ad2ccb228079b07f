// Format: reads and writes models, weights, arrays, tables and configurations as files. Formats are
// plugins of kind "format". They are found by the first bytes of a file (reading) or by its name;
// both are in the index of plugins, so only the matching plugin is loaded. The interfaces that a
// format derives from say what it can do:
//
//   class Npy final : public Format, public ReadsArrays, public WritesArrays {
//    public:
//     static void describe(Schema<Npy>& s) {
//       s.doc("Arrays of NumPy.")
//           .trait("endings", List{".npy"})
//           .trait("signatures", List{"934e554d5059"});  // hexadecimal
//     }
//
// A request that a format cannot fulfil is an error that names the formats that can. Saving is
// atomic; loading never runs code from the file.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

// ---- interfaces that formats implement. `options` are given by name; an unknown one is an error.

/// A format that saves and loads models.
class CRESCENT_API ModelFormat {
 public:
  static constexpr const char* kAbility = "hold models";
  virtual ~ModelFormat();
  virtual const SchemaData& save_model_options() const = 0;
  virtual const SchemaData& load_model_options() const = 0;
  virtual void save_model(Model& model, const std::string& path, const Dict& options) = 0;
  virtual ModelPtr load_model(const std::string& path, const Dict& options) = 0;
};

/// A format that saves the weights of a model and loads them into a model.
class CRESCENT_API WeightsFormat {
 public:
  static constexpr const char* kAbility = "hold weights";
  virtual ~WeightsFormat();
  virtual const SchemaData& save_weights_options() const = 0;
  virtual const SchemaData& load_weights_options() const = 0;
  virtual void save_weights(Model& model, const std::string& path, const Dict& options) = 0;
  virtual void load_weights(Model& model, const std::string& path, const Dict& options) = 0;
};

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// A format whose files hold arrays.
class CRESCENT_API ReadsArrays {
 public:
  static constexpr const char* kAbility = "hold arrays";
  virtual ~ReadsArrays();
  /// Reads the array at this path inside the file; "" means the only array of the file.
  virtual Tensor read_array(const std::string& path, const std::string& name) = 0;
  /// Returns the array that read_array() reads, but leaves its values in the file: fit, evaluate
  /// and predict read its rows when they need them.
  virtual Tensor open_array(const std::string& path, const std::string& name) = 0;
  /// Reads all arrays from one version of the file, even when another process replaces the file
  /// meanwhile. The default, for formats whose files hold one array, names that array "".
  virtual NamedTensors read_arrays(const std::string& path);
};

/// A format that can write arrays to a file.
class CRESCENT_API WritesArrays {
 public:
  static constexpr const char* kAbility = "take arrays";
  virtual ~WritesArrays();
  virtual void write_arrays(const std::string& path, const NamedTensors& arrays) = 0;
};

/// The rows and columns of a file such as a CSV file.
struct CRESCENT_API Table {
  /// Numbers (rows, columns), float32; the texts of a column become class numbers in order of
  /// appearance.
  Tensor values;
  std::vector<std::string> columns;
  /// The texts of each column by class number; empty for a numeric column.
  std::vector<std::vector<std::string>> classes;
};

/// A format whose files hold tables.
class CRESCENT_API ReadsTables {
 public:
  static constexpr const char* kAbility = "hold tables";
  virtual ~ReadsTables();
  virtual const SchemaData& read_table_options() const = 0;
  virtual Table read_table(const std::string& path, const Dict& options) = 0;
};

/// A format that translates configurations of models between the forms of other programs and the
/// form that core reads and writes (model.h).
class CRESCENT_API TranslatesConfigs {
 public:
  static constexpr const char* kAbility = "translate configurations";
  virtual ~TranslatesConfigs();
  /// Translates {"class_name", "config"} of a model into the form that core reads.
  virtual Value config_in(const Value& config, const Value& custom_objects) = 0;
  virtual const SchemaData& config_out_options() const = 0;
  virtual Value config_out(const Value& config, const Dict& options) = 0;
};

class CRESCENT_API Format : public Plain {
 public:
  static constexpr const char* kKind = "format";
  ~Format() override;
  template <class T>
  static void describe_base(Schema<T>& s) {
    s.trait("abilities", abilities<T, ModelFormat, WeightsFormat, ReadsArrays, WritesArrays,
                                   ReadsTables, TranslatesConfigs>());
  }

 private:
  template <class T, class... Interfaces>
  static List abilities() {
    List names;
    ((std::is_base_of_v<Interfaces, T> ? names.push_back(Interfaces::kAbility) : void()), ...);
    return names;
  }
};
using FormatPtr = std::shared_ptr<Format>;

// ---- finding formats

/// Finds the format for files of this name. Fails when the format lacks the ability, which is the
/// kAbility of an interface above, or when the folder of the file does not exist.
CRESCENT_API FormatPtr format_to_write(const std::string& path, std::string_view ability);
/// Finds the format of an existing file. An empty `ability` accepts any format.
CRESCENT_API FormatPtr format_to_read(const std::string& path, std::string_view ability = "");
/// Finds the format with this name; fails when it lacks the ability.
CRESCENT_API FormatPtr format_named(const std::string& name, std::string_view ability);
/// Finds some format that has the ability; null when there is none.
CRESCENT_API FormatPtr format_with(std::string_view ability);

template <class Ability>
std::shared_ptr<Ability> format_to_write(const std::string& path) {
  return std::dynamic_pointer_cast<Ability>(format_to_write(path, Ability::kAbility));
}
template <class Ability>
std::shared_ptr<Ability> format_to_read(const std::string& path) {
  return std::dynamic_pointer_cast<Ability>(format_to_read(path, Ability::kAbility));
}
template <class Ability>
std::shared_ptr<Ability> format_named(const std::string& name) {
  return std::dynamic_pointer_cast<Ability>(format_named(name, Ability::kAbility));
}
template <class Ability>
std::shared_ptr<Ability> format_with() {
  return std::dynamic_pointer_cast<Ability>(format_with(Ability::kAbility));
}

// ---- for formats

/// For implementations of load_model: makes a model whose weights have no values yet; the format
/// must assign all of them. `config` is in core's own form. `inputs` are the input shapes, for a
/// model whose configuration does not determine them.
CRESCENT_API ModelPtr blank_model_from_config(const Value& config,
                                              const std::vector<Shape>& inputs);

/// Reads the options of one operation into a T, as `schema` declares them.
template <class T>
T read_options(const SchemaData& schema, const Dict& options) {
  T result;
  schema.configure(&result, options);
  return result;
}

// ---- entry points for users: each finds the format; errors name the path and what was expected

// `options` are those of the format. A file that is written is replaced as a whole or not at all.

CRESCENT_API void save_model(Model& model, const std::string& path, const Dict& options = {});
CRESCENT_API ModelPtr load_model(const std::string& path, const Dict& options = {});
CRESCENT_API void save_weights(Model& model, const std::string& path, const Dict& options = {});
/// Sets the weights of the model from a file; fails for shapes that do not fit.
CRESCENT_API void load_weights(Model& model, const std::string& path, const Dict& options = {});
/// Reads the array `name` of a file, or its only array if the name is "". Fails if the file has no
/// such array.
CRESCENT_API Tensor read_array(const std::string& path, const std::string& name = "");
/// As read_array(), but leaves the values in the file until they are needed.
CRESCENT_API Tensor open_array(const std::string& path, const std::string& name = "");
/// Reads all arrays of a file; the array of a format with one array has the name "".
CRESCENT_API NamedTensors read_arrays(const std::string& path);
CRESCENT_API void write_arrays(const std::string& path, const NamedTensors& arrays);
/// Reads a table; the options are those of the format, such as CSV's `separator`.
CRESCENT_API Table read_table(const std::string& path, const Dict& options = {});

}  // namespace crescent

#include "keras/weights/vocabularies.h"

#include <charconv>

namespace crescent::keras {
namespace {

constexpr const char *kVocabularyGroup = "crescent_vocabularies", *kTerms = "vocabulary";

std::vector<Layer*> layers_with_vocabulary(Model& model) {
  std::vector<Layer*> layers;
  for (Layer* layer : model.flatten_layers())
    if (has_vocabulary(*layer)) layers.push_back(layer);
  return layers;
}

Value option_value(const Dict& config, const char* name) {
  const Value* value = config.find(name);
  return value ? *value : Value();
}

/// The lines of a text as a list, converted to integers if `are_integers` is true; empty lines at
/// the end are dropped.
List lines_of(const std::string& text, bool are_integers, const std::string& group) {
  List lines;
  const size_t end = text.find_last_not_of("\r\n") + 1;
  for (size_t line_start = 0; line_start < end;) {
    const size_t line_end = std::min(text.find('\n', line_start), end);
    std::string line = text.substr(line_start, line_end - line_start);
    if (line.ends_with('\r')) line.pop_back();
    line_start = line_end + 1;
    if (!are_integers) {
      lines.push_back(std::move(line));
      continue;
    }
    int64_t number = 0;
    const char* number_end = line.data() + line.size();
    if (std::from_chars(line.data(), number_end, number).ptr != number_end || line.empty())
      fail(group, ", line ", lines.size() + 1, ": expected an integer, got '", line,
           "'; nothing was loaded");
    lines.push_back(number);
  }
  return lines;
}

}  // namespace

bool has_vocabulary(const Layer& layer) {
  return layer.info() && layer.info()->schema.find_method("set_vocabulary");
}

void write_idf_weights(Entries& entries, const Layer& layer, const std::string& group) {
  if (!has_vocabulary(layer)) return;
  const Dict config = layer.get_config();
  const Value weights = option_value(config, kIdfWeights);
  if (weights.is_null()) return;
  Tensor values = Codec<Tensor>::decode(weights);
  if (const int64_t padding = option_value(config, "pad_to_max_tokens") == Value(true)
                                  ? config.at("max_tokens").as_int() - values.size()
                                  : 0;
      padding > 0)
    values = ops::pad(values, {0}, {padding});
  entries.push_back({group + "/" + kIdfWeights, {}, values});
  // in Keras a TextVectorization contains a StringLookup
  if (layer.class_name() != "TextVectorization") return;
  const std::string lookup_group = group.substr(0, group.rfind('/') + 1) + "_lookup_layer/vars";
  entries.push_back({lookup_group});
  entries.push_back({lookup_group + "/" + kIdfWeights, {}, values});
}

Tensor vocabulary_bytes(const Layer& layer) {
  const Dict config = layer.get_config();
  const std::string text = to_json(Dict{{kTerms, option_value(config, kTerms)},
                                        {kIdfWeights, option_value(config, kIdfWeights)}});
  return Tensor::from_bytes(text.data(), text.size(),
                            {DType::uint8, {static_cast<int64_t>(text.size())}});
}

void write_vocabularies(Entries& entries, Model& model) {
  const std::vector<Layer*> layers = layers_with_vocabulary(model);
  if (layers.empty()) return;
  entries.push_back({kVocabularyGroup, {{"count", static_cast<int64_t>(layers.size())}}});
  for (size_t i = 0; i < layers.size(); ++i)
    entries.push_back({concat(kVocabularyGroup, "/", i), {}, vocabulary_bytes(*layers[i])});
}

Vocabularies Vocabularies::in_archive(WeightSource& file, Model& model) {
  const bool has_no_layers = layers_with_vocabulary(model).empty();
  return in_archive(file, has_no_layers ? LayerPaths() : keras3_paths(&file, model));
}

Vocabularies Vocabularies::in_archive(WeightSource& file, const LayerPaths& paths) {
  Vocabularies result;
  result.path_ = file.path();
  for (const auto& [group, layer] : paths) {
    if (!has_vocabulary(*layer)) continue;
    const Dict config = layer->get_config();
    const auto text = file.asset(group + "vocabulary.txt");
    if (!text || !option_value(config, kTerms).is_null()) continue;
    VocabularyMatch match{
        layer, lines_of(*text, option_value(config, "vocabulary_dtype") == Value("int64"),
                        concat("'", result.path_, "': 'assets/", group, "vocabulary.txt'"))};
    if (option_value(config, "output_mode") == Value("tf_idf")) {
      const std::string dataset = group + "vars/" + kIdfWeights;
      match.match_index = result.matches_.size();
      result.matches_.push_back(
          {dataset, Variable(Tensor(file.describe({dataset}).front())), nullptr, layer->name()});
    }
    result.vocabulary_matches_.push_back(std::move(match));
  }
  return result;
}

Vocabularies Vocabularies::in_weights(WeightSource& file, Model& model) {
  Vocabularies result;
  result.path_ = file.path();
  const std::vector<Layer*> layers = layers_with_vocabulary(model);
  const auto count = layers.empty() ? std::nullopt : file.integer(kVocabularyGroup, "count");
  if (count && *count != static_cast<int64_t>(layers.size()))
    warn("'", result.path_,
         "': the vocabularies are those of another model; ours stay as they are");
  else if (count)
    for (size_t i = 0; i < layers.size(); ++i)
      result.add_bytes(file, *layers[i], concat(kVocabularyGroup, "/", i));
  return result;
}

void Vocabularies::add_bytes(WeightSource& file, Layer& layer, const std::string& dataset) {
  path_ = file.path();
  vocabulary_matches_.push_back({&layer, {}, matches_.size()});
  matches_.push_back(
      {dataset, Variable(Tensor(file.describe({dataset}).front())), nullptr, layer.name()});
}

void Vocabularies::give_to_layers() const {
  for (const VocabularyMatch& match : vocabulary_matches_) {
    Dict arguments{{kTerms, match.terms}};
    if (match.match_index) {
      const Tensor values = matches_[*match.match_index].variable.value().to(nullptr);
      if (!match.terms.is_null())
        arguments.set(kIdfWeights, Value(std::make_shared<BoxedTensor>(values)));
      else
        arguments = parse_json({static_cast<const char*>(values.raw()), values.bytes()}).as_dict();
    }
    if (arguments.at(kTerms).is_null()) continue;  // the layer was saved without a vocabulary
    try {
      match.layer->call_method("set_vocabulary", arguments);
    } catch (Error& error) {
      error.add_context(concat("'", path_, "': layer '", match.layer->name(), "': "));
      throw;
    }
  }
}

}  // namespace crescent::keras

#include "keras/weights/names/ordered_names.h"

#include <algorithm>
#include <charconv>

namespace crescent::keras {
namespace {

/// A name in two parts: "dense_7" is "dense" and 7. The counter of a name that has none is 0.
struct CountedName {
  std::string base;
  int64_t counter = 0;
  auto operator<=>(const CountedName&) const = default;

  explicit CountedName(const std::string& name) : base(name) {
    const size_t digits_start = name.find_last_not_of("0123456789") + 1;
    if (digits_start < 2 || digits_start == name.size() || name[digits_start - 1] != '_') return;
    const auto [end, error] =
        std::from_chars(name.data() + digits_start, name.data() + name.size(), counter);
    if (error == std::errc()) base = name.substr(0, digits_start - 1);
  }
};

void collect(std::set<std::string>& bases, const Layer& layer) {
  const CountedName name(layer.name());
  if (name.base == to_snake_case(layer.class_name())) bases.insert(name.base);
  auto* model = dynamic_cast<const Model*>(&layer);
  for (const LayerPtr& inner_layer : model ? model->layers() : layer.sublayers())
    collect(bases, *inner_layer);
}

/// The layers of a path, each as the path up to it: "a", "a/b" of "a/b/kernel".
Names layers_of(const std::string& path) {
  Names layers;
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
    layers.push_back(path.substr(0, slash));
  return layers;
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash + 1);
}

}  // namespace

std::set<std::string> default_names(Model& model) {
  std::set<std::string> bases;
  collect(bases, model);
  return bases;
}

std::map<std::string, std::string> ordered_paths(const Names& paths,
                                                 const std::set<std::string>& bases) {
  std::map<std::string, std::set<CountedName>> names_by_parent;  // by the path of the outer layer
  for (const std::string& path : paths)
    for (const std::string& layer : layers_of(path))
      names_by_parent[parent_of(layer)].insert(CountedName(layer.substr(parent_of(layer).size())));
  const auto ordered_name = [&](const std::string& layer) {
    const CountedName name(layer.substr(parent_of(layer).size()));
    if (!bases.contains(name.base)) return layer.substr(parent_of(layer).size());
    const auto& siblings = names_by_parent.at(parent_of(layer));
    const auto rank =
        std::count_if(siblings.begin(), siblings.end(), [&](const CountedName& other) {
          return other.base == name.base && other.counter < name.counter;
        });
    return rank == 0 ? name.base : concat(name.base, "_", rank);
  };
  std::map<std::string, std::string> names;
  for (const std::string& path : paths) {
    std::string& name = names[path];
    for (const std::string& layer : layers_of(path)) name += ordered_name(layer) + "/";
    name += path.substr(parent_of(path).size());
  }
  return names;
}

}  // namespace crescent::keras

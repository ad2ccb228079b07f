// Rows of the table of layers (layer_rows.h) for layers that change images at random. Their seed
// makes each call draw the same numbers. Layers that build histograms, which have no gradient, get
// integers.
#include "layer_rows.h"

namespace crescent {
namespace {

const Shape kImages{2, 5, 6, 3};

LayerRow pixels(const char* name, Dict options, const Shape& shape = kImages) {
  options.set("seed", 3);
  return {name, options, {shape}, 0, 255};
}
LayerRow bytes(const char* name, const Dict& options, const Shape& shape = kImages) {
  return {name, options, {shape}, 0, 255, DType::uint8};
}
Dict seeded(Dict options) { return options.set("seed", 3), options; }

}  // namespace

std::vector<LayerRow> augmentation_rows() {
  const Value first = "channels_first", unit = List{0, 1};
  const Shape channels_first{2, 3, 5, 6};
  const Value flip = Dict{{"class_name", "RandomFlip"}, {"config", Dict{{"seed", 1}}}};
  const Value scale = Dict{{"class_name", "Rescaling"}, {"config", Dict{{"scale", 0.5}}}};
  return {
      pixels("RandomFlip", {}),
      pixels("RandomFlip", {{"mode", "horizontal"}, {"data_format", first}}, channels_first),
      pixels("RandomFlip", {{"mode", "vertical"}}, {5, 6, 3}),
      pixels("RandomCrop", {{"height", 3}, {"width", 4}}),
      pixels("RandomCrop", {{"height", 7}, {"width", 4}, {"data_format", first}}, channels_first),
      pixels("RandomTranslation", {{"height_factor", 0.3}, {"width_factor", List{0.1, 0.4}}}),
      pixels("RandomTranslation", {{"height_factor", 0.3},
                                   {"width_factor", 0.2},
                                   {"fill_mode", "constant"},
                                   {"fill_value", 9},
                                   {"interpolation", "nearest"}}),
      pixels("RandomRotation", {{"factor", 0.2}}),
      pixels("RandomRotation", {{"factor", List{0.1, 0.2}}, {"fill_mode", "wrap"}}),
      pixels("RandomZoom", {{"height_factor", 0.3}}),
      pixels("RandomZoom",
             {{"height_factor", List{-0.3, -0.1}},
              {"width_factor", 0.2},
              {"fill_mode", "nearest"},
              {"data_format", first}},
             channels_first),
      pixels("RandomShear", {{"x_factor", 0.3}}),
      pixels("RandomShear", {{"x_factor", List{0.1, 0.3}}, {"y_factor", 0.2}}, {5, 6, 3}),
      pixels("RandomPerspective", {}),
      pixels("RandomPerspective", {{"scale", 0.3}, {"interpolation", "nearest"}}),
      pixels("RandomElasticTransform", {}),
      pixels("RandomElasticTransform", {{"factor", 0.9}, {"scale", List{0.5, 1}}}, {1, 20, 30, 1}),
      pixels("RandomBrightness", {{"factor", 0.2}}),
      {"RandomBrightness",
       seeded({{"factor", List{0.1, 0.3}}, {"value_range", unit}}),
       {kImages},
       0,
       1},
      pixels("RandomContrast", {{"factor", 0.2}}),
      pixels("RandomContrast", {{"factor", List{0.1, 0.3}}, {"data_format", first}},
             channels_first),
      pixels("RandomColorDegeneration", {{"factor", 0.5}}),
      pixels("RandomColorDegeneration", {{"factor", List{0.2, 0.4}}}, {5, 6, 3}),
      pixels("RandomSaturation", {{"factor", List{0.3, 0.6}}}),
      pixels("RandomSaturation", {{"factor", List{0.4, 0.5}}, {"data_format", first}},
             channels_first),
      pixels("RandomHue", {{"factor", 0.2}}),
      {"RandomHue", seeded({{"factor", 0.1}, {"value_range", unit}}), {kImages}, 0, 1},
      pixels("RandomGrayscale", {}),
      pixels("RandomGrayscale", {{"factor", 1}, {"data_format", first}}, channels_first),
      pixels("RandomInvert", {}),
      {"RandomInvert", seeded({{"factor", List{1, 1}}, {"value_range", unit}}), {kImages}, 0, 1},
      pixels("RandomColorJitter", {{"brightness_factor", 0.1}, {"contrast_factor", 0.2}}),
      pixels("RandomColorJitter", {{"saturation_factor", List{0.4, 0.5}}, {"hue_factor", 0.1}}),
      pixels("RandomSharpness", {{"factor", 0.8}}),
      pixels("RandomSharpness", {{"factor", List{0.1, 0.3}}, {"data_format", first}},
             channels_first),
      pixels("RandomGaussianBlur", {}),
      pixels("RandomGaussianBlur",
             {{"factor", List{1, 1}}, {"kernel_size", List{3, 5}}, {"sigma", List{0.5, 0.9}}}),
      pixels("RandomErasing", {}),
      pixels("RandomErasing", {{"factor", List{1, 1}}, {"fill_value", List{1, 2, 3}}}),
      bytes("RandomPosterization", seeded({{"factor", 4}})),
      bytes("RandomPosterization", {{"factor", List{3, 3}}, {"value_range", List{0, 128}}}),
      {"Solarization", seeded({{"addition_factor", 0.2}, {"value_range", unit}}), {kImages}, 0, 1},
      bytes("Solarization", {}),
      {"AutoContrast", {}, {kImages}, 0, 255},
      {"AutoContrast", {{"value_range", unit}}, {kImages}, 0, 1},
      bytes("Equalization", {}),
      bytes("Equalization", {{"bins", 16}, {"data_format", first}}, channels_first),
      bytes("ContrastLimitedAdaptiveHistogramEqualization", {}),
      bytes("ContrastLimitedAdaptiveHistogramEqualization",
            {{"tile_grid_size", List{2, 3}}, {"clip_limit", 0}}),
      pixels("MixUp", {}),
      pixels("MixUp", {{"alpha", 1}, {"data_format", first}}, channels_first),
      pixels("CutMix", {}),
      pixels("CutMix", {{"factor", List{0.5, 1}}}),
      bytes("RandAugment", seeded({})),
      bytes("RandAugment", seeded({{"num_ops", 3}, {"interpolation", "nearest"}})),
      bytes("AugMix", seeded({})),
      bytes("AugMix", seeded({{"num_chains", 1}, {"chain_depth", 2}, {"all_ops", false}})),
      {"Pipeline", {{"layers", List{flip, scale}}}, {kImages}},
      {"Pipeline", {{"layers", List{scale}}}, {{4, 5}}},
  };
}

}  // namespace crescent

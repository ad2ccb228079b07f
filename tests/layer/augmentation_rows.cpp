// Rows of the table of layers (layer_rows.h) for layers that change images at random. Their seed
// makes each call draw the same numbers. Layers that build histograms, which have no gradient, get
// integers.
#include "layer_rows.h"

namespace crescent {
namespace {

const Shape kImages{2, 5, 6, 3};

LayerRow pixel_row(const char* name, Dict options, const Shape& shape = kImages) {
  options.set("seed", 3);
  return {name, options, {shape}, 0, 255};
}
LayerRow byte_row(const char* name, const Dict& options, const Shape& shape = kImages) {
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
      pixel_row("RandomFlip", {}),
      pixel_row("RandomFlip", {{"mode", "horizontal"}, {"data_format", first}}, channels_first),
      pixel_row("RandomFlip", {{"mode", "vertical"}}, {5, 6, 3}),
      pixel_row("RandomCrop", {{"height", 3}, {"width", 4}}),
      pixel_row("RandomCrop", {{"height", 7}, {"width", 4}, {"data_format", first}},
                channels_first),
      pixel_row("RandomTranslation", {{"height_factor", 0.3}, {"width_factor", List{0.1, 0.4}}}),
      pixel_row("RandomTranslation", {{"height_factor", 0.3},
                                      {"width_factor", 0.2},
                                      {"fill_mode", "constant"},
                                      {"fill_value", 9},
                                      {"interpolation", "nearest"}}),
      pixel_row("RandomRotation", {{"factor", 0.2}}),
      pixel_row("RandomRotation", {{"factor", List{0.1, 0.2}}, {"fill_mode", "wrap"}}),
      pixel_row("RandomZoom", {{"height_factor", 0.3}}),
      pixel_row("RandomZoom",
                {{"height_factor", List{-0.3, -0.1}},
                 {"width_factor", 0.2},
                 {"fill_mode", "nearest"},
                 {"data_format", first}},
                channels_first),
      pixel_row("RandomShear", {{"x_factor", 0.3}}),
      pixel_row("RandomShear", {{"x_factor", List{0.1, 0.3}}, {"y_factor", 0.2}}, {5, 6, 3}),
      pixel_row("RandomPerspective", {}),
      pixel_row("RandomPerspective", {{"scale", 0.3}, {"interpolation", "nearest"}}),
      pixel_row("RandomElasticTransform", {}),
      pixel_row("RandomElasticTransform", {{"factor", 0.9}, {"scale", List{0.5, 1}}},
                {1, 20, 30, 1}),
      pixel_row("RandomBrightness", {{"factor", 0.2}}),
      {"RandomBrightness",
       seeded({{"factor", List{0.1, 0.3}}, {"value_range", unit}}),
       {kImages},
       0,
       1},
      pixel_row("RandomContrast", {{"factor", 0.2}}),
      pixel_row("RandomContrast", {{"factor", List{0.1, 0.3}}, {"data_format", first}},
                channels_first),
      pixel_row("RandomColorDegeneration", {{"factor", 0.5}}),
      pixel_row("RandomColorDegeneration", {{"factor", List{0.2, 0.4}}}, {5, 6, 3}),
      pixel_row("RandomSaturation", {{"factor", List{0.3, 0.6}}}),
      pixel_row("RandomSaturation", {{"factor", List{0.4, 0.5}}, {"data_format", first}},
                channels_first),
      pixel_row("RandomHue", {{"factor", 0.2}}),
      {"RandomHue", seeded({{"factor", 0.1}, {"value_range", unit}}), {kImages}, 0, 1},
      pixel_row("RandomGrayscale", {}),
      pixel_row("RandomGrayscale", {{"factor", 1}, {"data_format", first}}, channels_first),
      pixel_row("RandomInvert", {}),
      {"RandomInvert", seeded({{"factor", List{1, 1}}, {"value_range", unit}}), {kImages}, 0, 1},
      pixel_row("RandomColorJitter", {{"brightness_factor", 0.1}, {"contrast_factor", 0.2}}),
      pixel_row("RandomColorJitter", {{"saturation_factor", List{0.4, 0.5}}, {"hue_factor", 0.1}}),
      pixel_row("RandomSharpness", {{"factor", 0.8}}),
      pixel_row("RandomSharpness", {{"factor", List{0.1, 0.3}}, {"data_format", first}},
                channels_first),
      pixel_row("RandomGaussianBlur", {}),
      pixel_row("RandomGaussianBlur",
                {{"factor", List{1, 1}}, {"kernel_size", List{3, 5}}, {"sigma", List{0.5, 0.9}}}),
      pixel_row("RandomErasing", {}),
      pixel_row("RandomErasing", {{"factor", List{1, 1}}, {"fill_value", List{1, 2, 3}}}),
      byte_row("RandomPosterization", seeded({{"factor", 4}})),
      byte_row("RandomPosterization", {{"factor", List{3, 3}}, {"value_range", List{0, 128}}}),
      {"Solarization", seeded({{"addition_factor", 0.2}, {"value_range", unit}}), {kImages}, 0, 1},
      byte_row("Solarization", {}),
      {"AutoContrast", {}, {kImages}, 0, 255},
      {"AutoContrast", {{"value_range", unit}}, {kImages}, 0, 1},
      byte_row("Equalization", {}),
      byte_row("Equalization", {{"bins", 16}, {"data_format", first}}, channels_first),
      byte_row("ContrastLimitedAdaptiveHistogramEqualization", {}),
      byte_row("ContrastLimitedAdaptiveHistogramEqualization",
               {{"tile_grid_size", List{2, 3}}, {"clip_limit", 0}}),
      pixel_row("MixUp", {}),
      pixel_row("MixUp", {{"alpha", 1}, {"data_format", first}}, channels_first),
      pixel_row("CutMix", {}),
      pixel_row("CutMix", {{"factor", List{0.5, 1}}}),
      byte_row("RandAugment", seeded({})),
      byte_row("RandAugment", seeded({{"num_ops", 3}, {"interpolation", "nearest"}})),
      byte_row("AugMix", seeded({})),
      byte_row("AugMix", seeded({{"num_chains", 1}, {"chain_depth", 2}, {"all_ops", false}})),
      {"Pipeline", {{"layers", List{flip, scale}}}, {kImages}},
      {"Pipeline", {{"layers", List{scale}}}, {{4, 5}}},
  };
}

}  // namespace crescent

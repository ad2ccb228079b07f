-- The functions of cr.ops.image that draw random numbers.
local cr, shell = ...
local ops = shell.filled(cr.ops)

local image = {}

local function option(name, type, doc, default)
  return { name = name, type = type, doc = doc, default = default }
end

--- Random noise of mean 0 and shape (batch, height, width), smoothed over about `sigma` pixels.
local function smooth_noise(shape, sigma, seed)
  local size = math.floor(6 * sigma) | 1
  local noise = cr.random.normal({ shape[1], shape[2], shape[3], 1 }, 0, sigma, { seed = seed })
  return ops.squeeze(ops.image.gaussian_blur(noise, { size, size }, { sigma, sigma }), -1)
end

image.elastic_transform = shell.define("elastic_transform -> a tensor",
  "Displaces the pixels of images by smooth random noise.", {
    { name = "images", type = "a tensor", doc = "One image or a batch of images.",
      required = true },
    option("alpha", "a number", "Scale of the displacements in pixels.", 20.0),
    option("sigma", "a number", "Standard deviation in pixels of the Gaussian that smooths the "
      .. "displacements, above 0.", 5.0),
    option("interpolation", "nearest or bilinear", "How values between pixels are computed.",
      "bilinear"),
    option("fill_mode", "constant, nearest, wrap, mirror or reflect",
      "How points outside the image are filled.",
      "reflect"),
    option("fill_value", "a number", "Value of points outside the image with fill_mode "
      .. "\"constant\".", 0.0),
    option("seed", "an integer or a SeedGenerator", "Seed of the random numbers; nil: the "
      .. "global generator."),
    option("data_format", "channels_last or channels_first", "Position of the channels: "
      .. "\"channels_last\" or \"channels_first\".",
      "channels_last"),
  }, function(input, alpha, sigma, interpolation, fill_mode, fill_value, seed, data_format)
    if not (type(sigma) == "number" and sigma > 0) then
      shell.fail("elastic_transform: sigma must be above 0, got ", cr.show(sigma))
    end
    if data_format ~= "channels_last" and data_format ~= "channels_first" then
      shell.fail("elastic_transform: data_format must be 'channels_last' or 'channels_first', got ",
        cr.show(data_format))
    end
    local rank = #input.shape
    if rank ~= 3 and rank ~= 4 then
      shell.fail("elastic_transform: expected (batch, height, width, channels) or one image, got ",
        cr.show(input.shape))
    end
    local is_channels_first = data_format == "channels_first"
    local images = ops.cast(rank == 3 and ops.expand_dims(input, 0) or input, "float32")
    if is_channels_first then images = ops.transpose(images, { 0, 2, 3, 1 }) end
    if math.type(seed) == "integer" then seed = cr.random.SeedGenerator(seed) end
    local x_offsets = smooth_noise(images.shape, sigma, seed) * alpha
    local y_offsets = smooth_noise(images.shape, sigma, seed) * alpha
    local function coordinates(count, shape)
      return ops.reshape(cr.arange(count, { dtype = "float32" }), shape)
    end
    local height, width = images.shape[2], images.shape[3]
    local result = ops.image.sample(images, y_offsets + coordinates(height, { 1, height, 1 }),
      x_offsets + coordinates(width, { 1, 1, width }), interpolation, fill_mode, fill_value)
    if is_channels_first then result = ops.transpose(result, { 0, 3, 1, 2 }) end
    if not input.dtype:find "float" then result = ops.round(result) end
    return ops.cast(rank == 3 and ops.squeeze(result, 0) or result, input.dtype)
  end)

return image

-- Computes the shape of the input of an application, the padding before convolutions with strides,
-- and the scaled widths of layers.
local cr, shell = ...
local shapes = {}

--- The text of the shape as Keras writes it: "(224, 224, 3)" for {224, 224, 3}.
function shapes.text(shape)
  local sizes = {}
  for i, size in ipairs(shape) do sizes[i] = size < 0 and "None" or tostring(size) end
  return "(" .. table.concat(sizes, ", ") .. ")"
end

--- The list of sizes of a shape that the user gave; unknown sizes, -1 or cr.null, become -1.
function shapes.checked_sizes(shape)
  if type(shape) ~= "table" then
    shell.fail("`input_shape` must be a tuple of three integers. Received: input_shape=",
      cr.show(shape))
  end
  local sizes = {}
  for i = 1, #shape do
    local size = shape[i] == cr.null and -1
      or type(shape[i]) == "number" and math.tointeger(shape[i])
    if not size or size == 0 or size < -1 then
      shell.fail("`input_shape` must be a tuple of three integers. Received: input_shape=",
        cr.show(shape))
    end
    sizes[i] = size
  end
  if #sizes ~= 3 then
    shell.fail("`input_shape` must be a tuple of three integers. Received: input_shape=",
      shapes.text(sizes))
  end
  return sizes
end

local function are_equal(a, b) return a[1] == b[1] and a[2] == b[2] and a[3] == b[3] end

--- Fails if the image is smaller than min_size.
function shapes.check_sizes(shape, min_size)
  for i = 1, 2 do
    if shape[i] >= 0 and shape[i] < min_size then
      shell.fail("Input size must be at least ", min_size, "x", min_size,
        "; Received: input_shape=", shapes.text(shape))
    end
  end
end

--- Returns two functions for an architecture with pretrained weights for square images of these
--- sides. `side(shape)` returns the side of the image if there are weights for it, else 224 (also
--- without a shape). `check(shape)` warns if there are no weights for the shape.
function shapes.trained_image_sizes(sides)
  local known_sides = {}
  for _, side in ipairs(sides) do known_sides[side] = true end
  local function is_known(shape) return shape[1] == shape[2] and known_sides[shape[1]] end
  return {
    side = function(shape) return shape and is_known(shape) and shape[1] or 224 end,
    check = function(shape)
      if is_known(shape) then return end
      shell.warn("`input_shape` is undefined or non-square, or `rows` is not in ["
        .. table.concat(sides, ", ")
        .. "]. Weights for input shape (224, 224) will be loaded as the default.")
    end,
  }
end

--- The shape of the input images, from the options of the user and the sizes of the application.
function shapes.of_input(shape, default_size, min_size, include_top, weights)
  local default_shape = { default_size, default_size, 3 }
  local is_pretrained = weights == "imagenet"
  if is_pretrained and include_top then
    if shape and not are_equal(shape, default_shape) then
      shell.fail(
        "When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be ",
        shapes.text(default_shape),
        ".  Received: input_shape=", shapes.text(shape))
    end
    return default_shape
  end
  if not shape then return include_top and default_shape or { -1, -1, 3 } end
  if is_pretrained and shape[3] ~= 3 then
    shell.fail("The input must have 3 channels; Received `input_shape=", shapes.text(shape), "`")
  end
  if shape[3] ~= 1 and shape[3] ~= 3 then
    shell.warn(
      "This model usually expects 1 or 3 input channels. However, it was passed an input_shape "
      .. "with " .. (shape[3] < 0 and "None" or shape[3]) .. " input channels.")
  end
  shapes.check_sizes(shape, min_size)
  if include_top and (shape[1] < 0 or shape[2] < 0 or shape[3] < 0) then
    shell.fail(
      "If `include_top` is True, you should specify a static `input_shape`. Received: input_shape=",
      shapes.text(shape))
  end
  return shape
end

--- The padding for a convolution with stride 2 and padding "valid", so that the result has half the
--- size of x, rounded up.
function shapes.correct_pad(x, kernel)
  local half, padding = kernel // 2, {}
  for axis = 1, 2 do
    local size = x.shape[axis + 1]
    local adjust = size < 0 and 1 or 1 - size % 2
    padding[axis] = { half - adjust, half }
  end
  return padding
end

--- The width rounded to a multiple of 8, at least 8. If this would be less than 0.9 times the
--- width, it is rounded up, unless `allow_smaller` is true.
function shapes.divisible(width, allow_smaller)
  local rounded_width = math.max(8, math.tointeger((width + 4) // 8 * 8))
  if not allow_smaller and rounded_width < 0.9 * width then return rounded_width + 8 end
  return rounded_width
end

return shapes

-- Images: files of each format, the arrays that are read from them, resizing, and damaged files.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/preprocessing"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"
local utils = cr.utils

local function write_file(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end
local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "a"
  file:close()
  return bytes
end
local function bytes_of(hex) return (hex:gsub("%s", ""):gsub("..",
  function(b) return string.char(tonumber(b, 16)) end)) end

local function ramp_image(height, width, channels)
  local rows = {}
  for y = 1, height do
    rows[y] = {}
    for x = 1, width do
      rows[y][x] = {}
      for c = 1, channels do rows[y][x][c] = (y * 37 + x * 11 + c * 71) % 256 end
    end
  end
  return cr.tensor(rows, "uint8")
end

do -- images are read as they were written
  for _, ending in ipairs { ".png", ".bmp", ".ppm" } do
    local path, image = check.temporary(ending), ramp_image(5, 7, 3)
    utils.save_img(path, image, { scale = false })
    local loaded_image = utils.load_img(path)
    assert(loaded_image.dtype == "uint8")
    check.same(loaded_image:totable(), image:totable(), ending)
    check.same(cr.data.read(path):totable(), image:totable())
    os.remove(path)
  end
  local path = check.temporary ".png"
  for channels, mode in pairs { [1] = "grayscale", [4] = "rgba" } do
    utils.save_img(path, ramp_image(4, 3, channels), { scale = false })
    check.same(utils.load_img(path, mode):totable(), ramp_image(4, 3, channels):totable())
  end
  -- a smooth picture is nearly unchanged by JPEG compression
  local smooth_image = {}
  for y = 1, 16 do
    smooth_image[y] = {}
    for x = 1, 16 do smooth_image[y][x] = { 100 + 4 * y, 100 + 4 * x, 128 } end
  end
  path = check.temporary ".jpg"
  utils.save_img(path, smooth_image, { scale = false })
  local loaded_image = utils.load_img(path)
  check.same(loaded_image.shape, { 16, 16, 3 })
  assert(cr.ops.max(cr.ops.abs(loaded_image:cast "float32" - cr.tensor(smooth_image))):item() < 8)
  assert(read_file(path):sub(1, 2) == "\xff\xd8")
  -- Saving as JPEG warns that the alpha channel is dropped.
  utils.save_img(path, ramp_image(4, 4, 4), { scale = false })
  check.same(utils.load_img(path).shape, { 4, 4, 3 })
  utils.save_img(path, ramp_image(4, 4, 3), { scale = false, file_format = "png" })
  assert(read_file(path):sub(2, 4) == "PNG")
  os.remove(path)
end

do -- files made by other programs: fewer and more bits, palettes, alpha
  local path = check.temporary ".png"
  local function read_image(hex, mode)
    write_file(path, bytes_of(hex))
    return utils.load_img(path, mode):totable()
  end
  local grey16_hex = [[
    89504e470d0a1a0a0000000d494844520000000200000001100000000081d9fc150000000d49444154789c636064
    faff1f00030c02021b01adb70000000049454e44ae426082]]
  check.same(read_image(grey16_hex, "grayscale"), { { { 258 }, { 65535 } } })
  check.same(read_image(grey16_hex, "rgb"), { { { 255, 255, 255 }, { 255, 255, 255 } } })
  check.same(read_image([[
    89504e470d0a1a0a0000000d494844520000000400000001020000000096e748b00000000a49444154789c639006
    00001d001c8ef4f5210000000049454e44ae426082]], "grayscale"),
    { { { 0 }, { 85 }, { 170 }, { 255 } } })
  local palette_hex = [[
    89504e470d0a1a0a0000000d4948445200000002000000010103000000ceecedc900000006504c5445ff000000ff
    00d287ef710000000274524e53ff80080fb36a0000000a49444154789c63700000004200412937f4ef0000000049
    454e44ae426082]]
  check.same(read_image(palette_hex, "rgb"), { { { 255, 0, 0 }, { 0, 255, 0 } } })
  check.same(read_image(palette_hex, "rgba"), { { { 255, 0, 0, 255 }, { 0, 255, 0, 128 } } })
  check.same(read_image([[
    89504e470d0a1a0a0000000d4948445200000001000000011002000000c0e78f9d0000000f49444154789c63e03a
    21c220f71f0005b6020456b186a40000000049454e44ae426082]], "rgb"), { { { 10, 20, 30 } } })
  check.same(read_image([[
    89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b49444154789c63e0f4
    0500006200576bc129f30000000049454e44ae426082]], "rgba"), { { { 9, 9, 9, 77 } } })
  -- a PGM file with a comment, read with color_mode "rgb"
  local pgm_path = check.temporary ".pgm"
  write_file(pgm_path, "P5\n# a comment\n2 1\n255\n\x0a\xff")
  check.same(utils.load_img(pgm_path, { color_mode = "grayscale" }):totable(),
    { { { 10 }, { 255 } } })
  check.same(utils.load_img(pgm_path):totable(), { { { 10, 10, 10 }, { 255, 255, 255 } } })
  check.same(utils.load_img(pgm_path, "rgba"):totable(),
    { { { 10, 10, 10, 255 }, { 255, 255, 255, 255 } } })
  os.remove(path)
  os.remove(pgm_path)
end

do -- colours are converted to grey as in Pillow
  local path = check.temporary ".ppm"
  utils.save_img(path,
    cr.tensor({ { { 255, 0, 0 }, { 0, 255, 0 }, { 0, 0, 255 }, { 10, 20, 30 } } }, "uint8"),
    { scale = false })
  check.same(utils.load_img(path, "grayscale"):totable(), { { { 76 }, { 150 }, { 29 }, { 18 } } })
  os.remove(path)
end

do -- resizing: results computed by hand for a row of four pixels
  local path = check.temporary ".pgm"
  write_file(path, "P5\n4 1\n255\n" .. string.char(0, 100, 200, 40))
  local function resize_row(width, method, more_options)
    local options = { color_mode = "grayscale", target_size = { 1, width }, interpolation = method }
    for key, value in pairs(more_options or {}) do options[key] = value end
    local row = {}
    for i, pixel in ipairs(utils.load_img(path, options):totable()[1]) do row[i] = pixel[1] end
    return row
  end
  check.same(resize_row(2, "nearest"), { 100, 40 })
  check.same(resize_row(2, "box"), { 50, 120 })
  -- bilinear downscaling to half: a triangle twice as wide gives the neighbours the weights 1/4 and
  -- 3/4
  check.same(resize_row(2, "bilinear"), { 71, 117 })
  check.same(resize_row(8, "bilinear"), { 0, 25, 75, 125, 175, 160, 80, 40 })
  check.same(resize_row(1, "nearest", { keep_aspect_ratio = true }), { 100 })
  for _, method in ipairs { "bicubic", "hamming",
    "lanczos" } do assert(#resize_row(3, method) == 3) end
  check.fails(function() resize_row(2, "bilinaer") end, "Invalid interpolation method bilinaer",
    "did you mean 'bilinear'?", "lanczos")
  check.fails(function() utils.load_img(path, "cmyk") end, "color_mode must be", "cmyk")
  check.fails(function() utils.load_img(path, { target_size = { 0, 2 } }) end, "{height, width}")
  os.remove(path)
  -- smart_resize of floating-point pixels does not widen the filter
  local row = cr.tensor { { { 0 }, { 100 }, { 200 }, { 40 } } }
  local function smart_resize_row(width, method)
    return cr.preprocessing.image.smart_resize(row:reshape { 1, 4, 1 }, { 1, width },
      method):reshape { width }
  end
  check.near(smart_resize_row(8, "bilinear"), { 0, 25, 75, 125, 175, 160, 80, 40 })
  -- pixels outside of the crop do not influence the result
  local resized_row = cr.preprocessing.image.smart_resize(row:reshape { 1, 4, 1 }, { 2, 4 })
  check.near(resized_row:reshape { 8 }, { 100, 125, 175, 200, 100, 125, 175, 200 })
  local resized_image = cr.preprocessing.image.smart_resize(ramp_image(6, 4, 3), { 2, 2 })
  check.same(resized_image.shape, { 2, 2, 3 })
  check.same(cr.preprocessing.image.smart_resize(cr.ones { 2, 6, 4, 3 }, { 3, 5 }).shape,
    { 2, 3, 5, 3 })
  check.same(cr.preprocessing.image.smart_resize(cr.ones { 3, 6, 4 }, { 3, 5 },
    { data_format = "channels_first" }).shape, { 3, 3, 5 })
end

do -- conversion between arrays and images
  local image = ramp_image(2, 3, 3)
  check.near(utils.img_to_array(image), image:cast("float32"):totable())
  check.same(utils.img_to_array(image, { data_format = "channels_first" }).shape, { 3, 2, 3 })
  check.same(utils.img_to_array(cr.ones { 2, 3 }).shape, { 2, 3, 1 })
  assert(utils.img_to_array(image, { dtype = "float64" }).dtype == "float64")
  check.same(utils.array_to_img(cr.tensor { { { -1 }, { 0 }, { 1 } } }):totable(),
    { { { 0 }, { 127 }, { 255 } } })
  check.same(utils.array_to_img(cr.tensor { { { 7 }, { 7 } } }):totable(), { { { 0 }, { 0 } } })
  check.fails(function() utils.array_to_img(cr.ones { 2, 2 }) end,
    "Expected image array to have rank 3 (single image). Got array with shape: (2, 2)")
  check.fails(function() utils.array_to_img(cr.ones { 2, 2, 5 }) end,
    "Unsupported channel number: 5")
  check.fails(function() utils.img_to_array(cr.ones { 2 }) end, "Unsupported image shape: (2,)")
  check.fails(function() utils.img_to_array(image, { data_format = "chanels_last" }) end,
    "chanels_last")
end

do -- damaged files give an error that names the file, whatever part is missing or changed
  for _, ending in ipairs { ".png", ".jpg", ".bmp", ".ppm" } do
    local path = check.temporary(ending)
    utils.save_img(path, ramp_image(9, 11, 3), { scale = false })
    local bytes = read_file(path)
    for length = 0, #bytes - 3, math.max(1, #bytes // 40) do
      write_file(path, bytes:sub(1, length))
      check.fails(function() utils.load_img(path) end, path)
    end
    for position = 1, #bytes, math.max(1, #bytes // 60) do
      write_file(path,
        bytes:sub(1, position - 1) .. string.char(bytes:byte(position) ~ 0xff)
        .. bytes:sub(position + 1))
      local ok, message = pcall(utils.load_img, path)
      assert(ok or tostring(message):find(path, 1, true), tostring(message))
    end
    os.remove(path)
  end
  local path = check.temporary ".ppm"
  write_file(path, "P6\n100000 100000\n255\n")
  check.fails(function() utils.load_img(path) end, path, "100000 x 100000",
    "at most 178956970 pixels")
  write_file(path, "P6\n99999999999999999999 1\n255\n")
  check.fails(function() utils.load_img(path) end, path)
  write_file(path, "P6\n0 4\n255\n")
  check.fails(function() utils.load_img(path) end, path, "0 x 4")
  write_file(path, "P6\n4 4\n65535\n" .. ("x"):rep(96))
  check.fails(function() utils.load_img(path) end, path, "65535")
  os.remove(path)
  check.fails(function() utils.load_img "/nonexistent.png" end, "/nonexistent.png")
  check.fails(function() utils.save_img("/nonexistent/a.png", cr.ones { 2, 2, 1 }) end,
    "/nonexistent")
  check.fails(function() utils.save_img(check.temporary ".gif", cr.ones { 2, 2, 1 }) end, "png")
end
print "ok images"

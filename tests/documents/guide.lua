-- Runs the code of the guide (examples/guide): the output of each Lua block must equal the text
-- block after it, and a C++ block that is a whole plugin must equal the source of an example.
--   crescent tests/documents/guide.lua [--write] [CHAPTER.md ...]
--
-- --write writes the current output into the chapters. Numbers may differ by rounding. The code of
-- the chapters writes files to the current folder.
--
-- A text block after a Python block is what Keras printed (record_keras.py). The output of the next
-- Lua block must have the same words and numbers; brackets are those of its language.
--
-- A picture, ![words](NAME.svg), is a file beside the chapter, and like the one that the code of
-- the chapter draws under this name.
local cr = require "crescent"
local script_folder = arg[0]:match "^(.*)/[^/]*$" or "."
local root = script_folder .. "/../.."

local function contents(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

--- The output of the code when it runs with these globals.
local function output_of(code, name, globals)
  local lines = {}
  function globals.print(...)
    local words = table.pack(...)
    for i = 1, words.n do words[i] = cr.show(words[i]):gsub("\n<%l+%d*%([%d, ]*%)>$", "") end
    lines[#lines + 1] = table.concat(words, "\t")
  end
  local chunk = assert(load(code:gsub('"examples/', '"' .. root .. "/examples/"), name, "t",
    globals))
  chunk()
  return table.concat(lines, "\n")
end

local number_pattern = "[+-]?%d+%.?%d*[eE]?[+-]?%d*"
local function words_and_numbers(text)
  local values = {}
  local words = text:gsub(number_pattern, function(word)
    values[#values + 1] = tonumber(word)
    return tonumber(word) and "#" or word
  end)
  return words:gsub("%s+", " "):match "^%s*(.-)%s*$", values
end

local function is_same(a, b)
  local words, values = words_and_numbers(a)
  local expected_words, expected = words_and_numbers(b)
  if words ~= expected_words or #values ~= #expected then return false end
  for i, value in ipairs(values) do
    if math.abs(value - expected[i]) > 1e-5 * math.max(1e-2, math.abs(expected[i])) then
      return false
    end
  end
  return true
end

local is_writing, chapters = false, {}
for _, word in ipairs(arg) do
  if word == "--write" then is_writing = true else chapters[#chapters + 1] = word end
end
if #chapters == 0 then
  for path in io.popen("ls '" .. root .. "'/examples/guide/*.md"):lines() do
    chapters[#chapters + 1] = path
  end
end
assert(#chapters > 0, "there is no chapter")

local problems, block_count = {}, 0

--- Returns the block "```lua" or "```text" that begins at `first`, and the number of the line after
--- it.
local function block_at(lines, first)
  local last = first + 1
  while lines[last] ~= "```" do
    assert(lines[last], "a block never ends")
    last = last + 1
  end
  return table.concat(lines, "\n", first + 1, last - 1), last + 1
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

--- The output without what differs between the languages: kinds of brackets, commas before closing
--- ones, spaces.
local function without_brackets(text)
  return (text:gsub("[%[{]", "("):gsub("[%]}]", ")"):gsub("%(%s+", "("):gsub(",?%s*%)", ")")
    :gsub(",", " "):gsub("%s+", " "))
end

local recorded_count = 0

--- Compares the output of a Lua block with what Keras printed in the Python block before it.
local function compare_with_keras(output, recorded_output, name, line)
  recorded_count = recorded_count + 1
  if not is_same(without_brackets(output), without_brackets(recorded_output)) then
    table.insert(problems, ("%s:%d: prints\n%s\nand Keras\n%s"):format(name, line, output,
      recorded_output))
  end
end

--- Runs a block and compares its output with the text block after it; returns the output and the
--- number of the line after both.
local function run_block(lines, first, name, globals)
  local code, line_behind = block_at(lines, first)
  local expected = ""
  local output = output_of(code, "=" .. name, globals)
  if lines[line_behind] == "```text" then expected, line_behind = block_at(lines, line_behind) end
  block_count = block_count + 1
  if not is_same(output, expected) then
    table.insert(problems, ("%s:%d: prints\n%s\nand not\n%s"):format(name, first, output, expected))
  end
  return code, output, line_behind
end

-- What is drawn may differ by this much, because other processors round otherwise while a model is
-- trained: in the units of an SVG, in levels of grey of a PNG.
local tolerance = 8

local function is_same_svg(a, b)
  local words, values = words_and_numbers(contents(a):gsub("#%x%x%x%x%x%x", "colour"))
  local expected_words, expected = words_and_numbers(contents(b):gsub("#%x%x%x%x%x%x", "colour"))
  if words ~= expected_words then return false end
  for i, value in ipairs(values) do
    if math.abs(value - expected[i]) > tolerance then return false end
  end
  return true
end

local function is_same_png(a, b)
  local pixels, expected = cr.utils.img_to_array(cr.utils.load_img(a)),
    cr.utils.img_to_array(cr.utils.load_img(b))
  return pixels.shape == expected.shape
    and cr.ops.mean(cr.ops.abs(pixels - expected)):item() < tolerance
end

local function names_of_pictures(lines)
  local names = {}
  for _, line in ipairs(lines) do names[#names + 1] = line:match "^!%[.*%]%((.*)%)$" end
  return names
end

local picture_count = 0

--- Compares a picture that the chapter drew with the file beside it, or writes this file.
local function compare_picture(name, path)
  local shown_path = path:match "^(.*/)" .. name
  picture_count = picture_count + 1
  if is_writing then
    local file <close> = assert(io.open(shown_path, "w"))
    file:write(contents(name))
  elseif not (name:find "%.svg$" and is_same_svg or is_same_png)(name, shown_path) then
    table.insert(problems, ("%s is not what its chapter draws"):format(shown_path))
  end
end

--- Runs the blocks of a chapter; returns the chapter with their current output.
local function run(path)
  local globals = setmetatable({ cr = cr }, { __index = _G })
  local name, lines, new_lines, i = path:match "[^/]*$", lines_of(contents(path)), {}, 1
  local recorded_output
  local pictures = names_of_pictures(lines)
  for _, picture in ipairs(pictures) do os.remove(picture) end
  while i <= #lines do
    if lines[i] == "```python" then
      local _, line_behind = block_at(lines, i)
      if lines[line_behind] == "```text" then
        recorded_output, line_behind = block_at(lines, line_behind)
      end
      table.move(lines, i, line_behind - 1, #new_lines + 1, new_lines)
      i = line_behind
    elseif lines[i] == "```lua" then
      local code, output, line_behind = run_block(lines, i, name, globals)
      if recorded_output then compare_with_keras(output, recorded_output, name, i) end
      recorded_output = nil
      new_lines[#new_lines + 1] = "```lua\n" .. code .. "\n```"
      if output ~= "" then new_lines[#new_lines + 1] = "```text\n" .. output .. "\n```" end
      i = line_behind
    else
      if lines[i]:find "^```cpp" and lines[i + 1]:find "plugin.h" then
        local example = contents(root .. "/examples/plugin/scale.cpp")
        assert(block_at(lines, i) .. "\n" == example, name .. ": this is not scale.cpp")
      end
      new_lines[#new_lines + 1] = lines[i]
      i = i + 1
    end
  end
  for _, picture in ipairs(pictures) do compare_picture(picture, path) end
  return table.concat(new_lines, "\n") .. "\n"
end

for _, path in ipairs(chapters) do
  local text = run(path)
  if is_writing then
    local file <close> = assert(io.open(path, "w"))
    file:write(text)
  end
end
if #problems > 0 and not is_writing then
  print(table.concat(problems, "\n\n"))
  os.exit(1)
end
print(("ok %d blocks of %d chapters, %d as Keras, %d pictures"):format(block_count, #chapters,
  recorded_count, picture_count))

-- Values as text for the prompt.
local cr, shell = ...
local max_rows, max_depth, max_width, max_numbers, max_text, max_lines = 40, 5, 100, 100, 70, 5
local long_lines = 20

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
  return then true until while]]):gmatch "%a+" do keywords[word] = true end

local function is_name(key)
  return type(key) == "string" and key:match "^[%a_][%w_]*$" and not keywords[key]
end
local function key_text(key)
  if is_name(key) then return key end
  return type(key) == "string" and string.format("[%q]", key) or "[" .. tostring(key) .. "]"
end

local type_order = { number = 1, string = 2 }
local function sorted_keys(t, first_excluded)
  local keys = {}
  for key in next, shell.filled(t) do
    if not (math.type(key) == "integer" and key >= 1 and key < first_excluded) then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys, function(a, b)
    local rank_a, rank_b = type_order[type(a)] or 3, type_order[type(b)] or 3
    if rank_a ~= rank_b then return rank_a < rank_b end
    if rank_a == 3 then return tostring(a) < tostring(b) end
    return a < b
  end)
  return keys
end

local function wrapped_text(text, indent, width)
  local lines, line = {}, ""
  for word in text:gmatch "%S+" do
    if #line + #word + 1 > width and line ~= "" then
      lines[#lines + 1] = line
      line = ""
    end
    line = line == "" and word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n" .. indent)
end

-- A line with a name and, beginning at the given column, paragraphs of text. On a narrow terminal
-- the text begins on the line below the name.
local function row(name, column, ...)
  local columns = shell.fitting_columns(100, 40)
  local is_narrow = columns < column + 30
  local indent = (" "):rep(is_narrow and 6 or column)
  local begins_below = is_narrow or #name > column - 3
  local line, lines = "  " .. name, {}
  for i, text in ipairs { ... } do lines[i] = wrapped_text(text, indent, columns - #indent) end
  local body = table.concat(lines, "\n" .. indent)
  if body == "" then return line end
  return line .. (begins_below and "\n" .. indent or (" "):rep(column - #line)) .. body
end

local show_value
local function indented(text, indent) return (text:gsub("\n", "\n" .. (" "):rep(indent))) end

-- The width of lines in columns.
local function line_width() return shell.printing.width or shell.fitting_columns(max_width, 40) end

-- The text of a number with at most as many decimals as tensors show; very small numbers have an
-- exponent.
local function number_text(x)
  if x ~= x then return "nan" end
  if math.type(x) == "integer" or x % 1 == 0 then return tostring(x) end
  local digits = shell.printing.precision or 8
  if math.abs(x) < 1e-4 then return string.format("%." .. digits .. "g", x) end
  return (string.format("%." .. digits .. "f", x):gsub("(%..-)0+$", "%1"):gsub("%.$", ".0"))
end

-- The string in quotes; `depth` is the number of tables around it. Of a long string only the
-- beginning is shown, with its length.
local function string_text(text, depth)
  local max_bytes = math.min(max_text, math.max(10, line_width() - 2 * depth - 22))
  if #text <= max_bytes then max_bytes = #text end
  local quoted = string.format("%q", text:sub(1, max_bytes)):gsub("\\\n", "\\n")
  return #text == max_bytes and quoted or string.format("%s... (%d bytes)", quoted, #text)
end

-- The signature of a function of the module, such as "<clip(x, x_min, x_max)>", without the last
-- parameters if it is longer than a line; nil for other functions.
local function signature_text(f, depth)
  local signature = (cr.describe(f) or {}).signature
  if not signature then return nil end
  local max_length = math.max(line_width() - 2 * depth - 24, 16)
  if #signature > max_length then
    local shorter = signature:sub(1, max_length - 5)
    signature = (shorter:match "^(.*,)[^,]*$" or signature:match "^[^(]*%(") .. " ...)"
  end
  return "<" .. signature:gsub("%( %.", "(.") .. ">"
end

-- the dtype and shape of a tensor, such as "<float32(2, 64, 64, 3)>"
local function spec_text(tensor)
  return string.format("<%s(%s)>", tensor.dtype, table.concat(tensor.shape, ", "))
end

-- The text of a tensor, with dtype and shape in its last line. Inside a table the text has only a
-- few lines, or only dtype and shape.
local function tensor_text(tensor, depth)
  if depth == 0 then return tostring(tensor) .. "\n" .. spec_text(tensor) end
  local rows = 1
  for i = 1, #tensor.shape - 1 do rows = rows * tensor.shape[i] end
  local text = rows <= max_lines and tostring(tensor) or "\n"
  local longest_line = 0
  for line in text:gmatch "[^\n]+" do longest_line = math.max(longest_line, #line) end
  return longest_line > 0 and longest_line <= line_width() - 4 * depth and text or spec_text(tensor)
end

local function is_short(value) return type(value) == "number" or type(value) == "boolean" end

-- The texts of a list's items, without the items beyond the limit; also returns how many of them
-- may share a line.
local function list_parts(t, depth, enclosing_tables)
  local parts, length, are_short = {}, #t, true
  for i = 1, length do are_short = are_short and is_short(rawget(t, i)) end
  local max_items = are_short and (shell.printing.threshold or max_numbers) or max_rows
  for i = 1, math.min(length, max_items) do
    parts[#parts + 1] = show_value(rawget(t, i), depth + 1, enclosing_tables)
  end
  if length > max_items then
    parts[#parts + 1] = string.format("... %d more", length - max_items)
  end
  return parts, are_short and #parts or 0
end

-- The fields that cr.show leaves out of a description by cr.describe: help(x) lists them.
local hidden_fields = { methods = true, signatures = true }

-- The sorted keys of the fields with names that are shown.
local function shown_keys(t)
  local keys = sorted_keys(t, #t + 1)
  if rawget(t, "what") == nil or rawget(t, "signatures") == nil then return keys end
  local visible_keys = {}
  for _, key in ipairs(keys) do
    if not hidden_fields[key] then visible_keys[#visible_keys + 1] = key end
  end
  return visible_keys
end

-- Adds the texts of the fields with names to `parts`, the texts of many lines last.
local function named_parts(t, depth, enclosing_tables, parts)
  local keys, long_texts = shown_keys(t), {}
  for i, key in ipairs(keys) do
    if i > max_rows then
      parts[#parts + 1] = string.format("... %d more", #keys - max_rows)
      break
    end
    local name = key_text(key) .. " = "
    local text = name .. indented(show_value(rawget(t, key), depth + 1, enclosing_tables),
      type(rawget(t, key)) == "table" and 0 or #name)
    local is_long = select(2, text:gsub("\n", "")) > long_lines
    table.insert(is_long and long_texts or parts, text)
  end
  table.move(long_texts, 1, #long_texts, #parts + 1, parts)
  if #keys < #sorted_keys(t, #t + 1) then parts[#parts + 1] = "..." end
end

-- Puts the first `short_count` parts into lines of at most `width` columns; each further part gets
-- a line of its own.
local function lines_of_parts(parts, short_count, width)
  local lines, line = {}, ""
  for i, part in ipairs(parts) do
    local text = indented(part, 2) .. (i < #parts and "," or "")
    if line ~= "" and i <= short_count and #line + #text + 1 <= width - 2 then
      line = line .. " " .. text
    else
      lines[#lines + 1] = line ~= "" and line or nil
      line = text
    end
  end
  lines[#lines + 1] = line
  return "{\n  " .. table.concat(lines, "\n  ") .. "\n}"
end

local function show_table(t, depth, enclosing_tables)
  if enclosing_tables[t] then return "<the table above>" end
  if next(shell.filled(t)) == nil then return "{}" end
  if depth > max_depth then return "{...}" end
  enclosing_tables[t] = true
  local parts, short_count = list_parts(t, depth, enclosing_tables)
  named_parts(t, depth, enclosing_tables, parts)
  enclosing_tables[t] = nil
  local line, width = "{ " .. table.concat(parts, ", ") .. " }", line_width() - 2 * depth
  return #line <= width and not line:find "\n" and line or lines_of_parts(parts, short_count, width)
end

-- The text of a value; `depth` is the number of tables around it. Tables without __tostring show
-- their fields.
function show_value(value, depth, enclosing_tables)
  if type(value) == "string" then return depth > 0 and string_text(value, depth) or value end
  if type(value) == "number" then
    return (depth > 0 or value ~= value) and number_text(value) or tostring(value)
  end
  if value == cr.null then return "null" end
  local meta = getmetatable(value)
  if meta == "tensor" then
    local ok, text = pcall(tensor_text, value, depth)
    if ok then return text end
  end
  if type(value) == "table" and not (type(meta) == "table" and rawget(meta, "__tostring")) then
    local kind = cr.describe(value)
    if kind then
      if depth > 0 then return string.format("<%d classes of kind %s>", #kind.names, kind.kind) end
      return "<" .. wrapped_text(table.concat(kind.names, " "), " ", line_width() - 2) .. ">"
    end
    return show_table(value, depth, enclosing_tables)
  end
  local signature = type(value) == "function" and signature_text(value, depth)
  if signature then return signature end
  local ok, text = pcall(tostring, value)
  if ok then return text end
  if depth == 0 then error(text, 0) end
  return string.format("<%s: __tostring fails: %s>", type(value), tostring(text))
end

-- The value as text, not in another table.
local function show(value) return show_value(value, 0, {}) end

local function print_values(...)
  local texts = table.pack(...)
  for i = 1, texts.n do
    local value = texts[i]
    local is_shown = type(value) == "table" or value ~= value
    texts[i] = is_shown and cr.printable(show(value)) or tostring(value)
  end
  io.stdout:write(table.concat(texts, "\t"), "\n")
  io.stdout:flush()
end

local abbreviations = { al = true, ["e.g"] = true, ["i.e"] = true, etc = true, vs = true }

-- The first sentence of a text, which a dot after an abbreviation does not end.
local function first_sentence(text)
  local start = 1
  while true do
    local stop = text:find("%.%f[%s\0]", start)
    if not stop then return text end
    if not abbreviations[text:sub(1, stop - 1):match "[%w.]*$"] then return text:sub(1, stop) end
    start = stop + 1
  end
end

return {
  first_sentence = first_sentence, show = show, print = print_values, show_value = show_value,
  sorted_keys = sorted_keys,
  wrapped_text = wrapped_text, row = row, is_name = is_name, keywords = keywords,
}

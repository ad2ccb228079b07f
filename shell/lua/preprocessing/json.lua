-- Reads and writes JSON and keeps the order of names, because the words of a tokenizer are stored
-- in the order of their first occurrence.
local json = {}

local short_escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t",
  ["\r"] = "\\r", ["\b"] = "\\b", ["\f"] = "\\f" }
local function escape_character(character)
  if short_escapes[character] then return short_escapes[character] end
  local code = utf8.codepoint(character)
  if code >= 0x20 and code < 0x7F then return character end
  if code < 0x10000 then return string.format("\\u%04x", code) end
  code = code - 0x10000
  return string.format("\\u%04x\\u%04x", 0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF))
end

--- A JSON text as Python writes it: characters beyond ASCII are escaped. If the text is not valid
--- UTF-8, each byte beyond ASCII becomes "?".
function json.text(value)
  if not utf8.len(value) then value = value:gsub("[\x80-\xFF]", "?") end
  return '"' .. value:gsub(utf8.charpattern, escape_character) .. '"'
end

function json.value(value)
  if value == nil then return "null" end
  return type(value) == "string" and json.text(value) or tostring(value)
end

--- The JSON object of pairs {name, value}, whose values are JSON texts.
function json.object(pairs)
  local parts = {}
  for i, pair in ipairs(pairs) do parts[i] = json.text(tostring(pair[1])) .. ": " .. pair[2] end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local escapes = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f" }
local function unescape(text)
  text = text:gsub("\\(.)(%x?%x?%x?%x?)", function(kind, digits)
    if kind == "u" then return utf8.char(tonumber(digits, 16) or 0xFFFD) end
    return (escapes[kind] or kind) .. digits
  end)
  -- combines each pair of encoded UTF-16 surrogates into one character
  return (text:gsub("(\xED[\xA0-\xAF][\x80-\xBF])(\xED[\xB0-\xBF][\x80-\xBF])", function(high, low)
    return utf8.char(0x10000 + (utf8.codepoint(high, 1, 1, true) - 0xD800 << 10)
      + utf8.codepoint(low, 1, 1, true) - 0xDC00)
  end))
end

--- Parses an object whose values are strings, numbers, booleans or null. Returns its pairs {{name,
--- value}, ...} in order, and a table of the values by name; nil for any other text.
function json.read(text)
  local position, entries, by_name = 1, {}, {}
  local function match_next(pattern)
    local first, last, capture = text:find("^%s*" .. pattern, position)
    if first then position = last + 1 end
    return capture or first and text:sub(first, last)
  end
  local function read_string()
    if not match_next '"' then return nil end
    local closing_quote = position
    while closing_quote <= #text and text:sub(closing_quote, closing_quote) ~= '"' do
      closing_quote = closing_quote + (text:sub(closing_quote, closing_quote) == "\\" and 2 or 1)
    end
    local string_body = text:sub(position, closing_quote - 1)
    position = closing_quote + 1
    return unescape(string_body)
  end
  local literals = { ["true"] = true, ["false"] = false }
  local function read_value()
    if text:find("^%s*{", position) then
      local object, next_position = json.read(text:sub(position))
      if object then position = position + next_position - 1 end
      return object
    end
    local value = read_string()
    if value then return value end
    local word = match_next "([%w%.%+%-]+)"
    if literals[word] ~= nil then return literals[word] end
    return math.tointeger(tonumber(word)) or tonumber(word)
  end
  if not match_next "{" then return nil end
  while not match_next "}" do
    local name = read_string()
    if not name or not match_next ":" then return nil end
    local value = read_value()
    entries[#entries + 1], by_name[name] = { name, value }, value
    if not match_next "," and not text:find("^%s*}", position) then return nil end
  end
  entries.by_name = by_name
  return entries, position
end

return json

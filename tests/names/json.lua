-- Reads JSON text: objects as {keys = {...}, values = {key = ...}}, so that their order is kept.
local function read(text)
  local position = 1

  local function skip_blanks() position = text:find("[^ \t\r\n]", position) or #text + 1 end

  local escapes = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f" }
  local function string_at()
    local first = position + 1
    local last = first
    while text:sub(last, last) ~= '"' do last = last + (text:sub(last, last) == "\\" and 2 or 1) end
    position = last + 1
    local raw_text = text:sub(first, last - 1)
    raw_text = raw_text:gsub("\\u(%x%x%x%x)", function(code)
      return utf8.char(tonumber(code, 16))
    end)
    return (raw_text:gsub("\\(.)", function(c) return escapes[c] or c end))
  end

  local value_at
  local function object_at()
    local object = { keys = {}, values = {} }
    position = position + 1
    skip_blanks()
    while text:sub(position, position) ~= "}" do
      if text:sub(position, position) == "," then position = position + 1 end
      skip_blanks()
      local key = string_at()
      skip_blanks()
      position = position + 1 -- skips the colon
      object.keys[#object.keys + 1], object.values[key] = key, value_at()
      skip_blanks()
    end
    position = position + 1
    return object
  end
  local function list_at()
    local list = {}
    position = position + 1
    skip_blanks()
    while text:sub(position, position) ~= "]" do
      if text:sub(position, position) == "," then position = position + 1 end
      list[#list + 1] = value_at()
      skip_blanks()
    end
    position = position + 1
    return list
  end

  function value_at()
    skip_blanks()
    local c = text:sub(position, position)
    if c == "{" then return object_at() end
    if c == "[" then return list_at() end
    if c == '"' then return string_at() end
    local word = text:match("^[%w%.%+%-]+", position)
    position = position + #word
    if word == "true" then return true end
    if word == "false" then return false end
    if word == "null" then return nil end
    return assert(tonumber(word), word)
  end
  return value_at()
end

return { read = read }

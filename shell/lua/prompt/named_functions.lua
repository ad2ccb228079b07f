-- Whether an entry gave another function to a name that programs traced before may have called.
local _, shell = ...
local of_path = shell.library("prompt/typed_value").of_path
local named_functions = {}

-- Maps the path of each function that the text entered at the prompt defines to { value that the
-- path had before }, a table because that value may be nil. `previous_values` itself is nil if the
-- text does not contain all paths.
local previous_values

-- The table in which a path such as Net:call or tools.f is a field; nil for a variable's name.
local function container_of(path)
  local container = path:match "^(.*)[%.:]"
  return container and of_path(container)
end

-- Whether the path is that of a function of a class; the class itself drops the programs that may
-- have called the old function.
local function is_in_class(path)
  local container = container_of(path)
  return type(container) == "table" and type(container.subclass) == "function"
end

--- Remembers the values of the names to which the text of an entry assigns functions.
function named_functions.remember(text)
  local count = select(2, text:gsub("%f[%w_]function%f[^%w_]%s*[^%s%(]", ""))
  previous_values = not text:find "=%s*function" and {} or nil
  for path in text:gmatch "%f[%w_]function%s+([%a_][%w_%.:]*)%s*%(" do
    if previous_values then previous_values[path] = { of_path(path) } end
    count = count - 1
  end
  if count ~= 0 then previous_values = nil end
end

--- Whether the entry, which has run now, assigned another function to a name that had a value, or
--- to a field of an object that has no name outside of the entry.
function named_functions.have_changed()
  if not previous_values then return true end
  for path, old_value in pairs(previous_values) do
    local is_field, is_known = path:find "[%.:]", container_of(path) ~= nil
    if is_field and not is_known then return true end
    if old_value[1] ~= nil and not is_in_class(path) and of_path(path) ~= old_value[1] then
      return true
    end
  end
  return false
end

return named_functions

-- Hints that follow error messages of Lua if code is written as in Python. A hint shows how to
-- write the code in Lua.
local cr, shell = ...
local names, counterparts = shell.library "names", shell.library "prompt/counterparts"
local python_names = shell.library "prompt/python_names"

-- ---- texts of Python, in Lua

local literals = { ["True"] = "true", ["False"] = "false", ["None"] = "nil" }

local function trimmed_text(text) return text:match "^[%s,]*(.-)[%s,]*$" end

local function in_braces(text)
  return trimmed_text(text) == "" and "{}" or "{ " .. trimmed_text(text) .. " }"
end

-- The text of a call in Lua. The arguments from the first `name =` on become a table of options.
local function as_call(name, inside)
  local option_position = inside:match "^()[%a_][%w_]* = " or inside:match ",%s*()[%a_][%w_]* = "
  if not option_position or inside:find "[%({]" then return name .. "(" .. inside .. ")" end
  local options = in_braces(inside:sub(option_position))
  if option_position == 1 then return name .. " " .. options end
  return name .. "(" .. trimmed_text(inside:sub(1, option_position - 1)) .. ", " .. options .. ")"
end

--- Translates tuples, lists, dictionaries, names with "=" and literals of Python to Lua.
local function translated_text(text)
  text = text:gsub("%f[%w_][%a_][%w_]*", literals):gsub("([^%s=~<>])%s*=%s*([^=])", "%1 = %2")
    :gsub("([\"'])([%a_][%w_]*)%1%s*:%s*", "%2 = ")
  text = text:gsub("([%w_%.:]*)(%b())", function(name, brackets)
    local translated_brackets = translated_text(brackets:sub(2, -2))
    if name == "" and translated_brackets:find "," then return in_braces(translated_brackets) end
    return as_call(name, translated_brackets)
  end)
  return (text:gsub("%b[]", function(list) return in_braces(list:sub(2, -2)) end))
end

-- The positions of the brackets that are open at the end of a text, the innermost last.
local function open_brackets(text)
  local positions = {}
  for position, bracket in text:gsub("(['\"])(.-)%1", function(_, s) return ("_"):rep(#s + 2) end)
    :gmatch "()([%(%)%[%]{}])" do
    if bracket:find "[%(%[{]" then
      positions[#positions + 1] = position
    else
      positions[#positions] = nil
    end
  end
  return positions
end

-- The text inside the bracket at this position, up to the end of the line.
local function bracketed_text(line, position)
  local brackets = line:match("^%b()", position)
  return brackets and brackets:sub(2, -2) or line:sub(position + 1) .. " ..."
end

-- ---- chunks that do not compile

-- Writes the call of a method of models and tensors with a colon: "model.fit" -> "model:fit".
local function as_method(path)
  local object, name = path:match "^([%a_][%w_]*)%.([%a_][%w_]*)$"
  local value = object and shell.library "prompt/typed_value".of_path(object)
  local is_tensor = getmetatable(value) == "tensor"
  local is_method = is_tensor or object and object ~= "cr" and type(cr.Model[name]) == "function"
  return is_method and object .. ":" .. name or path
end

-- Converts "fit(x, epochs=3)" to "fit(x, { epochs = 3 })"; returns nil if no call is open before a
-- "=".
local function call_with_options(text)
  for equals_position in text:gmatch "()=%f[^=]" do
    local brackets = open_brackets(text:sub(1, equals_position - 1))
    local is_call = #brackets > 0 and text:sub(brackets[#brackets], brackets[#brackets]) == "("
    local path = is_call and text:sub(1, brackets[#brackets] - 1):match "[%a_][%w_%.:]*$"
    local word_position = text:sub(1, equals_position - 1):match "()[%a_][%w_]*%s*$"
    if path and word_position then
      path = as_method(path)
      local open_position = brackets[#brackets]
      local values = trimmed_text(text:sub(open_position + 1, word_position - 1))
      local options = "{ " .. trimmed_text(translated_text(
        bracketed_text(text, open_position):sub(word_position - open_position))) .. " }"
      if values == "" then return path .. " " .. options end
      return path .. "(" .. translated_text(values) .. ", " .. options .. ")"
    end
  end
end

-- Does the same as call_with_options for one line; the call may have begun in an earlier line.
local function with_options(line, earlier_text)
  local call
  for i = #earlier_text + 1, math.max(1, #earlier_text - 20), -1 do
    line = i > #earlier_text and line or earlier_text[i] .. " " .. line:match "^%s*(.*)$"
    call = call or call_with_options(line)
  end
  return call or "Dense { units = 10 }"
end

-- Converts the first tuple or list in the line: "Conv2D(32, (3, 3))" gives "{ 3, 3 }". Brackets
-- after a name contain arguments or indices, and round brackets without a comma are not a tuple.
local function as_table(line, brackets, name)
  for position in line:gmatch "()[%(%[]" do
    local text = line:match("^" .. brackets, position)
    local is_table = text and (text:find "," or text:find "^%[")
    if is_table and not line:sub(1, position - 1):find(name) then return translated_text(text) end
  end
  return "{ 3, 3 }"
end

local function as_assignment(line)
  local counter, sign = line:match "([%w_%.]+)%s*([%+%-])%2%s*$"
  if counter then return string.format("%s = %s %s 1", counter, counter, sign) end
  local name, operator, value = line:match "([%w_%.]+)%s*([%+%-%*/])=%s*(.+)"
  return name and string.format("%s = %s %s %s", name, name, operator, trimmed_text(value))
    or "x = x + 1"
end

local blocks_hint =
  "blocks have no ':' and end in 'end': if x then ... end, for i = 1, 10 do ... end"

--- Hints for chunks that do not compile. A row has conditions on Lua's message, on the token at
--- which compilation fails, and on the line; the hint of the first matching row is shown.
local mistakes = {
  { line = "^%s*import%s", hint = "the module is the table cr; require 'name' loads others" },
  { line = "^%s*from%s.*import", hint = "the module is the table cr; require 'name' loads others" },
  { line = "^%s*def%s", hint = "functions are written: function f(x) ... end" },
  { line = "^%s*class%s", hint = 'classes are made by local Mine = cr.Layer:subclass("Mine")' },
  { line = "%f[%w_]lambda%s[%w_, ]*:",
    hint = "functions are written: function(x) return x end" },
  { line = "^%s*elif%s", hint = "it is written: elseif x then" },
  { line = "%f[%w_]is%s+not%f[%W]", hint = "'is not' is written ~=, None is nil" },
  { line = "%f[%w_]is%s+None%f[%W]", hint = "'is' is written ==, None is nil" },
  { line = "^%s*with%s.*GradientTape", hint = "gradients are taken of a function: "
    .. "tape = cr.GradientTape(function() ... end); tape:gradient(y, x)" },
  { line = "^%s*with%s.*no_grad", hint = "only a tape takes gradients: no block is needed" },
  { line = "^%s*with%s.*[cC]ustom_?[oO]bject_?[sS]cope", hint = "a scope ends with a block: "
    .. "local scope <close> = cr.utils.custom_object_scope { name = f }, or with a function: "
    .. "cr.utils.custom_object_scope({ name = f }, function() ... end)" },
  { line = "^%s*with%s", hint = "a file is closed by file:close(), or at the end of a block: "
    .. "local file <close> = io.open(path)" },
  { line = "^%s*assert%s+[%w_]", hint = "calls have brackets: assert(x)" },
  { line = "^%s*del%s", hint = "it is written: x = nil" },
  { line = "^%s*raise%s", hint = "it is written: error(text)" },
  { line = "^%s*[clv][oea][ntr]s?t?%s+[%a_][%w_]*%s*=", hint = "it is written: local x = 1" },
  { line = "%sif%s.+%selse%s", near = "^else$", hint = "it is written: x and a or b" },
  { line = "^%s*[%w_%.]+%sif%s.+%selse%s", hint = "it is written: x and a or b" },
  { line = "^%s*try:%s*$", hint = "errors are caught by pcall(f, ...)" },
  { near = "^%?$", hint = "it is written: x and a or b" },
  { near = "^end$", line = "%f[%w_]end%s*=", hint = "io.write(x) ends no line" },
  { line = "[\"']%[%-?%d",
    hint = "a part of a text is text:sub(first, last), both included and counted from 1" },
  { near = "^%d[%d_]*_$", what = "malformed number", hint = "digits have no '_' between them" },
  { line = "^%s*for%s.+%sin%s.+:", what = "function arguments expected", hint = blocks_hint },
  { line = "^%s*for%s.+%sin%s.+:", what = "'do' expected", hint = blocks_hint },
  { what = "function arguments expected", near = "^[%w_]", line = ":%s*[%a_][%w_]*%s+[%w_]",
    hint = "calls have brackets: object:method(x)" },
  { line = '"""', hint = "long texts are written [[ ... ]]" },
  { line = "^%s*print%s+[%w_]", near = "^[%w_]", hint = "calls have brackets: print(x)" },
  { near = "^=$", what = "[%)}]' expected",
    hint = function(line, earlier_text)
      return "options go in a table: " .. with_options(line, earlier_text)
    end },
  { near = "^,$", what = "%)' expected",
    hint = function(line)
      return "tuples are tables: " .. as_table(line, "%b()", "[%w_%)%]]%s*$")
    end },
  { near = "^%[$", what = "unexpected symbol",
    hint = function(line) return "lists are tables: " .. as_table(line, "%b[]", "[%w_%)%]]$") end },
  { near = "^=$", what = "unexpected symbol", line = "^%s*[%a_][%w_]*%s*=%s*[%a_][%w_]*%s*=[^=]",
    hint = "one value is assigned at a time: a, b = 3, 3" },
  { near = "^repeat$", what = "<name> expected", hint = "'repeat' is a word of Lua: elements are "
    .. "repeated by cr.ops.repeat_elements(x, n), datasets by data:repeated(n)" },
  { near = "^function$", what = "<name> expected",
    hint = "'function' is a word of Lua: a function is compiled by cr.compiled(f)" },
  { near = "^[\"']", what = "unexpected symbol", line = "[\"']%.%a+%(",
    hint = 'methods of a text are called so: ("text"):upper()' },
  { near = "^,$", what = "%]' expected",
    hint = "an element is x[{ row, column }], a column x[{ {}, column }], counted from 1" },
  { near = "^:$", line = "%[%s*:",
    hint = "a column is x[{ {}, column }], rows are x[{ { first, last } }], counted from 1" },
  { near = "^{$", what = "unexpected symbol", line = "{[^{}]*[\"'%w]%s*:",
    hint = "entries are named by '=': { name = value }" },
  { near = "^:$", what = "%]' expected",
    hint = "a part is x:slice(first, last), both included and counted from 1" },
  { near = "^:$", what = "}' expected", hint = "entries are named by '=': { name = value }" },
  { near = "^:$", hint = blocks_hint },
  { line = ":%s*$", what = "'?[%a<>]+'? expected", near = "^<eof>$", hint = blocks_hint },
  { line = "^%s*for%s.*%):", what = "'do' expected", hint = blocks_hint },
  { line = "^%s*[iw][fh][%s%a].*:%s", what = "'%a+' expected", hint = blocks_hint },
  { near = "^!$", hint = "unequal is written ~=, the opposite not x" },
  { near = "^%+$", line = "%+%+%s*$",
    hint = function(line) return "it is written: " .. as_assignment(line) end },
  { near = "^[%+%-%*/]$", line = "[%+%-%*/]=",
    hint = function(line) return "it is written: " .. as_assignment(line) end },
  { near = "^%*$", line = "%*%*", hint = "powers are written x ^ 2" },
  { near = "^[%+%-%*/%^]$", line = "function%s*%b()%s*[%w_]",
    hint = "functions return by: function(x) return x end" },
  { near = "^[&|]$", hint = "it is written: x and y, x or y" },
  { near = "^@$", hint = "products of matrices are cr.ops.matmul(a, b)" },
  { near = "^#$", line = "^%s*#", hint = "comments begin with --" },
}

for _, command in ipairs { "inspect", "convert", "verify", "validate", "replay" } do
  mistakes[#mistakes + 1] = { line = "^%s*" .. command .. "%s+[%w_./~]", what = "syntax error",
    hint = function(line)
      return "it is a command of the program, outside of the prompt: crescent "
        .. trimmed_text(line)
    end }
end

-- The line with this number, and a list of the lines before it.
local function lines_until(source, number)
  local lines = {}
  for line in (source .. "\n"):gmatch "(.-)\n" do
    if #lines + 1 == number then return line, lines end
    lines[#lines + 1] = line
  end
  return "", {}
end

local function contents_of(path)
  local file = io.open(path)
  local text = file and file:read(100000) or ""
  if file then file:close() end
  return text
end

-- The line of the code that an error message names; an empty text if it names none.
local function failing_line(message, source)
  local path, number = message:match "([^\n\t:]*):(%d+): "
  if not path then return "" end
  return (lines_until(source or contents_of(path), tonumber(number)))
end

local function syntax_hint(message, source)
  local path, number, error_text, near_text =
    message:match "([^\n\t]*):(%d+): ([^\n]*) near ([^\n]*)$"
  if not path then return end
  local line, earlier_text = lines_until(source or contents_of(path), tonumber(number))
  near_text = near_text:match "^'(.*)'$" or near_text
  for _, mistake in ipairs(mistakes) do
    if near_text:find(mistake.near or "") and error_text:find(mistake.what or "")
      and line:find(mistake.line or "") then
      local hint = mistake.hint
      return "; " .. (type(hint) == "function" and hint(line, earlier_text) or hint)
    end
  end
end

-- ---- errors while it runs

-- The hint for a global name without a value, which `line` contains.
local function hint_of_global(name, line)
  local is_text_prefix = name ~= "f" or line:find "%f[%w_]f[\"']"
  local hint = is_text_prefix and counterparts.functions[name]
  if hint then return "; " .. hint end
  if shell.variables[name] then
    return string.format("; the local variable '%s' was declared behind what uses it", name)
  end
  local known_names = {}
  for key in next, _G do
    if type(key) == "string" then known_names[#known_names + 1] = key end
  end
  for key in next, shell.variables do known_names[#known_names + 1] = key end
  return names.guess(name, known_names, name:find "^%u")
end

local function hint_of_value(kind, name)
  return string.format("; '%s' is a %s, which is read without brackets: x.%s", name, kind, name)
end

local function hint_of_attribute(kind, name)
  local counterpart = counterparts.attribute(kind, name)
  return counterpart and "; " .. counterpart or ""
end

-- The hint for a missing name of a class, with the tables of the module that have this name.
local function hint_of_class_attribute(class, name, rest_of_message)
  local hint = hint_of_attribute(class, name)
  return hint == "" and rest_of_message == "" and names.elsewhere(name) or hint
end

-- The hint for cr.config.NAME(value): the function NAME only reads the setting; set_NAME, if there
-- is such a function, sets it.
local function hint_of_setting(name)
  local setter = "set_" .. name
  local exists = rawget(shell.filled(cr.config), setter)
  return exists and string.format("; cr.config.%s(value) sets it", setter) or ""
end

local function hint_of_method(name)
  local counterpart = counterparts.methods[name]
  return counterpart and "; " .. counterpart or names.guess(name, {})
end

-- The hint for the name of an activation in the place where a class of layers is expected.
local function hint_of_activation(name)
  local word = name:gsub("_", ""):lower()
  for activation in pairs(cr.activations) do
    if activation:gsub("_", "") == word then
      return string.format("; the layer is cr.layers.Activation \"%s\"", activation)
    end
  end
  return ""
end

-- Whether the rest of a message already suggests a name that begins like this one, or of which this
-- one is a misspelling.
local function suggests_name(rest_of_message, name)
  local suggested_name = rest_of_message:match "did you mean '([%w_]+)'"
  return suggested_name and (shell.is_misspelling(name, suggested_name)
    or suggested_name:sub(1, #name):lower() == name:lower())
end

local function hint_of_member(path, name, rest_of_message)
  if rest_of_message:find("but is refused", 1, true) then return "" end
  local hint = names.counterpart(name, path)
  if hint ~= "" or suggests_name(rest_of_message, name) then return hint end
  if path == "cr.layers" then hint = hint_of_activation(name) end
  return hint ~= "" and hint or names.elsewhere(name, path)
end

-- The hint for a text that names an object in Python's libraries but not in Crescent: loss = "nll".
local function hint_of_text(name)
  local crescent_name = python_names.words[name]
  return crescent_name and string.format(" (did you mean '%s'?)", crescent_name) or ""
end

-- Whether a class, a function or a method of models has an option.
local function has_option(title, option)
  local path = names.paths(title)[1]
  local description = cr.describe(path and names.value(path) or cr.Model[title])
  for _, row in ipairs(description.options or {}) do
    if row.name == option then return true end
  end
  local parameters = table.concat(description.parameters or {}, " ")
  return parameters:find("%f[%w_]" .. option .. "%f[^%w_]") ~= nil
end

local function hint_of_option(title, name)
  local crescent_name = python_names.options[name]
  local is_known = crescent_name and select(2, pcall(has_option, title, crescent_name)) == true
  return is_known and string.format(" (did you mean '%s'?)", crescent_name) or ""
end

local function hint_of_method_call(name)
  return string.format(", model:%s(...)", name)
end

--- Pairs for errors at run time: a pattern of Lua's message, and a function that makes the hint
--- from the pattern's captures and the line that failed.
local runtime_hints = {
  { "nil value %(global '([^']+)'%)", hint_of_global },
  { "call a nil value %(%a+ '([%a_]+)'%)", hint_of_method },
  { "attempt to call a (%a+) value %((%a+) '([%a_][%w_]*)'%)$",
    function(kind, where, name)
      local is_member = where == "field" or where == "method"
      return kind ~= "nil" and is_member and hint_of_value(kind, name) or ""
    end },
  { "class ([%w_]+): no attribute '([%w_]+)'(.*)", hint_of_class_attribute },
  { "([%w_]+): no attribute '([%w_]+)'", hint_of_attribute },
  { "(cr%.%l+): unknown %l+ '([%w_]+)'(.*)", hint_of_member },
  { "(cr%.ops): no function '([%w_]+)'(.*)", hint_of_member },
  { "unknown %l+ '([%w_]+)'", hint_of_text },
  { "compile: no option 'learning_rate'",
    "; it is the optimizer's: optimizer = cr.optimizers.Adam(0.01)" },
  { "compile: no option 'lr'", "; it is the optimizer's: optimizer = cr.optimizers.Adam(0.01)" },
  { "([%w_]+): no option '([%w_]+)'", hint_of_option },
  { "([%w_]+): expected a model before the arguments", hint_of_method_call },
  { "position 0 is outside of axis", "; cr.ops.take(t, positions, axis) counts from 0" },
  { "tensor: no call", "; an element is t[{ row, column }]; "
    .. "rows are gone through by: for i, row in ipairs(t) do ... end" },
  { "dataset: no pairs", "; elements are gone through by: for x, y in data:elements() do ... end" },
  { "dataset: no length", "; its numbers are data.samples and data.batches" },
  { "Dataset: no attribute '%d+'", "; elements are gone through by: "
    .. "for x, y in data:elements() do ... end; data:take(1) is a dataset of the first" },
  { "view: argument 'dtype': expected a string, got [%[%d]",
    "; t:reshape(shape) changes the shape" },
  { "view: expected at most 2 arguments", "; t:reshape(shape) changes the shape" },
  { "(%l+): expected a list, got a table with the name '([%w_]+)'", function(method, name)
    return string.format("; options are a table behind the data: model:%s(x, y, { %s = ... })",
      method, name)
  end },
  { "option 'learning_rate': expected a number or a schedule, got %[<Variable",
    "; weights are given with their gradients: optimizer:apply_gradients(gradients, weights)" },
  { "([%w_]+): '([%w_]+)' cannot be set$", hint_of_attribute },
  { "expected tensors by position or by name, got both",
    "; the batch of a step is a table: local x, y = table.unpack(data), or data.x and data.y" },
  { "fit: option 'batch_size': expected an integer, got <Tensor",
    "; several tensors go into a table: validation_data = { x, y }" },
  { "module '([%w_]+)' not found:", function(name) return names.counterpart(name, "") end },
  { "attempt to index a number value %(field '[^']+'%)",
    "; an element t[i] of a tensor with one axis is a number, which has no methods" },
  { "number expected, got results", "; loss and metrics are one list: "
    .. "local r = model:evaluate(...); its numbers are r[1], r[2] or, by their names, r.loss" },
  { "number expected, got tensor", "; the number of a tensor of one element is t:item()" },
  { "expected a callback with a class_name",
    "; functions are a callback by: cr.callbacks.LambdaCallback { on_epoch_end = f }" },
  { "argument 'layers': expected a layer, got a function",
    "; a function is a layer by: cr.layers.Lambda(f)" },
  { "expected a layer, got \"([%w_]+)\"", hint_of_activation },
  { "expected a layer, got the class ([%w_]+)",
    function(class) return string.format("; the class makes one: %s(...)", class) end },
  { "argument 'layers': expected a layer, got <Symbol",
    "; a model of symbols is cr.Model { inputs = x, outputs = y }" },
  { "When passing a list as %a+, it should have one entry",
    "; nil ends a list, an output without one is cr.null" },
  { "expected an integer or a list of integers, got <Tensor>",
    "; sizes are numbers: x.shape is a list of them" },
  { "concatenate: argument 'axis': expected an integer, got <Tensor>",
    "; several tensors go into a table: concatenate({ x, y })" },
  { "stack: argument 'axis': expected an integer, got <Tensor>",
    "; several tensors go into a table: stack({ x, y })" },
  { "(%a[%w_]*): expected no arguments", hint_of_setting },
  { "GradientTape: missing argument 'function'",
    "; gradients are taken of a function: tape = cr.GradientTape(function() ... end)" },
  { "for iterator", "; lists are gone through by: for i, x in ipairs(list) do ... end" },
  { "nil value %(field '%?'%)", "; positions in lists count from 1, the last is list[#list]" },
  { "nil value %(field 'integer index'%)",
    "; positions in lists count from 1, the last is list[#list]" },
  { "attempt to mod a 'string'", "; texts are filled in by string.format('%d of %s', n, name)" },
  { "attempt to add a 'string'", "; texts are joined by '..'" },
  { "attempt to mul a 'string'", "; a text is repeated by text:rep(n)" },
  { "attempt to concatenate a %a+ value", "; cr.show(x) makes a text of any value" },
}

local function runtime_hint(message, source)
  for _, row in ipairs(runtime_hints) do
    local captures = { message:match(row[1]) }
    if #captures > 0 then
      if type(row[2]) ~= "function" then return row[2] end
      captures[#captures + 1] = failing_line(message, source)
      return row[2](table.unpack(captures))
    end
  end
end

-- The body of cr.explained. A message that was explained before stays as it is.
return function(message, source)
  local traceback_position = message:find("\nstack traceback:", 1, true) or #message + 1
  local text = message:sub(1, traceback_position - 1)
  local hint = syntax_hint(text, source) or runtime_hint(text, source) or ""
  if text:find(hint, 1, true) then return message end
  if hint ~= "" then text = text:gsub(" %(did you mean [^\n()]*%?%)", "") end
  return text .. hint .. message:sub(traceback_position)
end

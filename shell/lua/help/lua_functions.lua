-- The functions of Lua's own library, with their signatures and one line of help each.
local lua_functions = {}

-- Lines of a signature, two spaces, and what the function does.
local texts = [[
assert(value, message)  Raises an error with the message if the value is false or nil.
collectgarbage(option, ...)  Collects garbage; "count" gives the memory in use in KiB.
dofile(path)  Runs a file of Lua and gives what it returns.
error(message, level)  Raises an error; the message begins with the line that called.
getmetatable(object)  The metatable of a value, or its field __metatable.
ipairs(list)  Goes through a list: for i, value in ipairs(list) do ... end.
load(chunk, name, mode, environment)  Compiles a text of Lua to a function, or gives nil, message.
loadfile(path, mode, environment)  Compiles a file of Lua to a function, or gives nil, message.
next(table, key)  The key and value that follow this key; nil at the end.
pairs(table)  Goes through a table: for key, value in pairs(table) do ... end.
pcall(f, ...)  Calls f: true and its results, or false and the error.
print(...)  Prints values; at the prompt and in scripts tables with their contents.
rawequal(a, b)  Whether two values are the same, without the metamethod __eq.
rawget(table, key)  The field of a table, without the metamethod __index.
rawlen(value)  The length of a table or text, without the metamethod __len.
rawset(table, key, value)  Sets the field of a table, without the metamethod __newindex.
require(name)  Loads a module once and gives what it returns.
select(n, ...)  The arguments from number n on; select("#", ...) is their number.
setmetatable(table, metatable)  Sets the metatable of a table and gives the table.
tonumber(value, base)  The value as a number; nil if it is none.
tostring(value)  The value as a text.
type(value)  The type of a value: "nil", "number", "string", "table", "function", ...
warn(message, ...)  Prints a warning to the error output.
xpcall(f, handler, ...)  Calls f as pcall does; the handler gets the error.
coroutine.close(co)  Closes a coroutine and its variables that are to be closed.
coroutine.create(f)  A coroutine with this body.
coroutine.isyieldable(co)  Whether a coroutine can yield.
coroutine.resume(co, ...)  Runs a coroutine up to its next yield: true and values, or false, error.
coroutine.running()  The running coroutine, and whether it is the main one.
coroutine.status(co)  "running", "suspended", "normal" or "dead".
coroutine.wrap(f)  A function that resumes a new coroutine each time it is called.
coroutine.yield(...)  Leaves the running coroutine; resume gives these values.
debug.getinfo(f, what)  A table about a function or a level of the stack.
debug.getlocal(f, n)  The name and value of a local variable.
debug.gethook(thread)  The hook, its mask and its count.
debug.getmetatable(value)  The metatable of a value of any type.
debug.getregistry()  The registry of Lua.
debug.getupvalue(f, n)  The name and value of an upvalue of a function.
debug.getuservalue(object, n)  A value that is stored with an object of C.
debug.debug()  Reads lines and runs them until one is cont.
debug.setcstacklimit(limit)  Does nothing; kept for compatibility.
debug.sethook(hook, mask, count)  Sets a function that is called while code runs.
debug.setlocal(level, n, value)  Sets a local variable of a level of the stack.
debug.setmetatable(value, metatable)  Sets the metatable of a value of any type.
debug.setupvalue(f, n, value)  Sets an upvalue of a function.
debug.setuservalue(object, value, n)  Stores a value with an object of C.
debug.traceback(message, level)  The calls that lead here, as a text.
debug.upvalueid(f, n)  What identifies an upvalue that functions share.
debug.upvaluejoin(f, n, g, m)  Makes an upvalue of f that of g.
io.close(file)  Closes a file.
io.flush()  Writes what the standard output has buffered.
io.input(file)  Sets or gives the file that is read by default.
io.lines(path, ...)  Goes through the lines of a file: for line in io.lines(path) do ... end.
io.open(path, mode)  Opens a file: "r" to read, "w" to write, "a" to append; or nil, message.
io.output(file)  Sets or gives the file that is written by default.
io.popen(command, mode)  Runs a program and gives a file of its output or input.
io.read(...)  Reads from the standard input: "l" a line, "n" a number, "a" all.
io.tmpfile()  A temporary file that is removed at the end.
io.type(value)  "file", "closed file", or nil for what is no file.
io.write(...)  Writes texts and numbers to the standard output, without ends of lines.
math.abs(x)  The absolute value.
math.acos(x)  The arc cosine, in radians.
math.asin(x)  The arc sine, in radians.
math.atan(y, x)  The arc tangent of y / x, in radians; x is 1 by default.
math.ceil(x)  The smallest integer not below x.
math.cosh(x)  The hyperbolic cosine.
math.cos(x)  The cosine of an angle in radians.
math.deg(x)  Radians as degrees.
math.exp(x)  The power e^x.
math.floor(x)  The largest integer not above x.
math.fmod(x, y)  The remainder of x / y, rounded towards zero.
math.frexp(x)  The fraction m and the exponent e with x = m * 2^e.
math.ldexp(m, e)  The number m * 2^e.
math.log10(x)  The logarithm to base 10.
math.log(x, base)  The logarithm, by default the natural one.
math.max(x, ...)  The largest of the arguments.
math.min(x, ...)  The smallest of the arguments.
math.modf(x)  The integral and the fractional part of x.
math.pow(x, y)  The power x^y.
math.rad(x)  Degrees as radians.
math.random(m, n)  A random number in [0, 1), or an integer from 1 to m, or from m to n.
math.randomseed(x, y)  Sets the state of math.random; tensors have cr.random.
math.sinh(x)  The hyperbolic sine.
math.sin(x)  The sine of an angle in radians.
math.sqrt(x)  The square root.
math.tanh(x)  The hyperbolic tangent.
math.tan(x)  The tangent of an angle in radians.
math.tointeger(x)  The value as an integer; nil if it is none.
math.type(x)  "integer", "float", or nil for what is no number.
math.ult(m, n)  Whether m is below n as unsigned integers.
os.clock()  The processor time of the program in seconds.
os.date(format, time)  The date and time as a text, or as a table with "*t".
os.difftime(later, earlier)  The seconds between two times.
os.execute(command)  Runs a command of the system's shell.
os.exit(code, close)  Ends the program with this status.
os.getenv(name)  The value of an environment variable, or nil.
os.remove(path)  Removes a file or an empty folder.
os.rename(old, new)  Renames a file or folder.
os.setlocale(locale, category)  Sets or gives the locale of the program.
os.time(table)  The current time, or that in the table, in seconds.
os.tmpname()  The path of a new temporary file.
package.loadlib(path, name)  Loads a function of a library of C.
package.searchpath(name, path, separator, replacement)  The file of a module in a path.
string.byte(text, first, last)  The codes of bytes of a text.
string.char(...)  The text of bytes with these codes.
string.dump(f, strip)  A function in compiled form, as a text.
string.find(text, pattern, first, plain)  Where a pattern is found: first, last, captures; or nil.
string.format(format, ...)  Fills values into a text: string.format("%d of %s", n, name).
string.gmatch(text, pattern, first)  Goes through all that matches a pattern.
string.gsub(text, pattern, replacement, n)  The text with matches replaced, and their number.
string.len(text)  The number of bytes.
string.lower(text)  The text in small letters.
string.match(text, pattern, first)  The captures of the first match of a pattern, or nil.
string.pack(format, ...)  Values in binary form, as a text.
string.packsize(format)  The number of bytes that string.pack makes.
string.rep(text, n, separator)  The text n times.
string.reverse(text)  The bytes in reverse order.
string.sub(text, first, last)  A part of a text, counted from 1; -1 is the last byte.
string.unpack(format, text, first)  The values in a binary text, and the position after them.
string.upper(text)  The text in capital letters.
table.concat(list, separator, first, last)  The texts and numbers of a list as one text.
table.insert(list, position, value)  Inserts a value, at the end without a position.
table.move(from, first, last, to, target)  Copies elements to another place or another list.
table.pack(...)  The list of the arguments, with their number in n.
table.remove(list, position)  Removes an element, by default the last, and gives it.
table.sort(list, less)  Sorts a list in place; less(a, b) is the order, by default a < b.
table.unpack(list, first, last)  The elements of a list as several values.
utf8.char(...)  The text of characters with these codes.
utf8.codepoint(text, first, last, lax)  The codes of characters.
utf8.codes(text, lax)  Goes through the characters: for position, code in utf8.codes(text) do.
utf8.len(text, first, last, lax)  The number of characters; nil, position if one is wrong.
utf8.offset(text, n, first)  The position at which character n begins.]]

local descriptions

local function read_descriptions()
  local by_function = {}
  for signature, doc in texts:gmatch "([^\n]-)  ([^\n]+)" do
    local value = _G
    for name in signature:match "^[^(]*":gmatch "[^.]+" do
      value = type(value) == "table" and rawget(value, name) or nil
    end
    if value ~= nil then
      by_function[value] = { what = "function", signature = signature, doc = doc }
    end
  end
  return by_function
end

--- The description of a function of Lua: `signature` and `doc`; nil for other values.
function lua_functions.of(value)
  descriptions = descriptions or read_descriptions()
  return descriptions[value]
end

--- The signatures of all functions.
function lua_functions.signatures()
  local signatures = {}
  for signature in texts:gmatch "([^\n]-)  [^\n]+" do signatures[#signatures + 1] = signature end
  return signatures
end

return lua_functions

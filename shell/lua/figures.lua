-- Figures, tables as the method draw of pictures takes them (crescent/io/picture.h).
local _, shell = ...
local figures = {}

--- Calls `draw` and returns its result; error messages begin with `name`, the function that the
--- user called.
function figures.call_named(name, draw, ...)
  local ok, result = pcall(draw, ...)
  if ok then return result end
  shell.fail(name, ": ", (tostring(result):gsub("^draw: ", "")
    :gsub("^convert_to_tensor: argument 'x': ", "")))
end

--- Draws the figure on the terminal or, if o.file is given, to that file. Error messages begin with
--- `name`, the function that the user called.
function figures.show(name, figure, o)
  local size = { width = o.width, height = o.height, scale = o.scale }
  if o.file then
    figures.call_named(name, shell.save_picture, o.file, figure, size)
    return o.file
  end
  io.stdout:write((figures.call_named(name, shell.draw, "terminal", figure, size)))
  io.stdout:flush()
end

return figures

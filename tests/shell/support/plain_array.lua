-- Plain arrays: a shape, and for each element its index in a list of values. Tests compare t[key]
-- of tensors with the indexing of plain arrays, which uses plain loops.
local plain_array = {}

function plain_array.size_of(shape)
  local size = 1
  for _, n in ipairs(shape) do size = size * n end
  return size
end

local function strides_of(shape)
  local strides, stride = {}, 1
  for axis = #shape, 1, -1 do strides[axis], stride = stride, stride * shape[axis] end
  return strides
end

-- An array of this shape, whose element i is values[i].
function plain_array.new(shape, values)
  local indices = {}
  for i = 1, plain_array.size_of(shape) do indices[i] = i end
  return { shape = shape, indices = indices, values = values }
end

-- A nested table of this shape; its element n, counted from 1, is get(n).
local function nested(shape, get, axis, counter)
  axis, counter = axis or 1, counter or { 0 }
  if axis > #shape then
    counter[1] = counter[1] + 1
    return get(counter[1])
  end
  local rows = {}
  for i = 1, shape[axis] do rows[i] = nested(shape, get, axis + 1, counter) end
  return rows
end

function plain_array.table_of(array)
  return nested(array.shape, function(i) return array.values[array.indices[i]] end)
end

local function index_from_zero(position, n) return position > 0 and position - 1 or position + n end

-- The positions, counted from 0, of a range on an axis of n elements.
local function range_positions(range, n)
  local first, last, step = range[1] or 1, range[2] or range[1] or -1, range[3] or 1
  local list = {}
  if n == 0 then return list end
  local from, to = index_from_zero(first, n), last == 0 and -1 or index_from_zero(last, n)
  while step > 0 and from <= to or step < 0 and from >= to do
    list[#list + 1], from = from, from + step
  end
  return list
end

-- The positions of the true elements of a mask, counted from 0.
local function true_indices(mask)
  local list = {}
  for i, value in ipairs(mask.values) do
    if value then list[#list + 1] = i - 1 end
  end
  return list
end

-- The part that a key selects, as an array that shares the values.
function plain_array.selected(array, key)
  local strides, axis, origin, axes, picked_item, axes_before = strides_of(array.shape), 1, 0, {},
    nil, 0
  for _, item in ipairs(key) do
    local offsets = {}
    if item.kind == "position" then
      origin = origin + index_from_zero(item.at, array.shape[axis]) * strides[axis]
    elseif item.kind == "range" then
      for i, position in ipairs(range_positions(item.range, array.shape[axis])) do
        offsets[i] = position * strides[axis]
      end
      axes[#axes + 1] = { shape = { #offsets }, offsets = offsets }
    else
      local last_axis = axis + (item.kind == "mask" and #item.shape or 1) - 1
      for i, position in ipairs(item.kind == "mask" and true_indices(item) or item.values) do
        offsets[i] = (item.kind == "mask" and position or index_from_zero(position,
          array.shape[axis]))
          * strides[last_axis]
      end
      if picked_item and axes_before ~= #axes then axes_before = 0 end
      if not picked_item then axes_before = #axes end
      local old_offsets, offset_sums = picked_item and picked_item.offsets, offsets
      if old_offsets then
        offset_sums = {}
        for i = 1, math.max(#old_offsets, #offsets) do
          offset_sums[i] = old_offsets[#old_offsets == 1 and 1 or i]
            + offsets[#offsets == 1 and 1 or i]
        end
      end
      picked_item = { shape = item.kind == "list" and not picked_item and item.shape
        or { #offset_sums },
        offsets = offset_sums }
    end
    axis = axis + (item.kind == "mask" and #item.shape or 1)
  end
  for axis_after = axis, #array.shape do
    local offsets = {}
    for i = 1, array.shape[axis_after] do offsets[i] = (i - 1) * strides[axis_after] end
    axes[#axes + 1] = { shape = { #offsets }, offsets = offsets }
  end
  if picked_item then table.insert(axes, axes_before + 1, picked_item) end
  local shape, indices = {}, { origin }
  for _, axis_offsets in ipairs(axes) do
    local sums = {}
    for _, index in ipairs(indices) do
      for _, offset in ipairs(axis_offsets.offsets) do sums[#sums + 1] = index + offset end
    end
    indices = sums
    for _, n in ipairs(axis_offsets.shape) do shape[#shape + 1] = n end
  end
  for i, index in ipairs(indices) do indices[i] = array.indices[index + 1] end
  return { shape = shape, indices = indices, values = array.values }
end

plain_array.nested = nested

return plain_array

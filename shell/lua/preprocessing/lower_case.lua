-- Converts UTF-8 text to lower case: Latin, Greek, Cyrillic, Armenian and Georgian letters. Other
-- characters are unchanged.

-- Ranges of capital letters and the offset to their small letters. In a range {first, last, 1, 2}
-- every second character is a capital letter.
local capital_ranges = {
  { 0x41, 0x5A, 32 }, { 0xC0, 0xD6, 32 }, { 0xD8, 0xDE, 32 },
  { 0x100, 0x12E, 1, 2 }, { 0x132, 0x136, 1, 2 }, { 0x139, 0x147, 1, 2 }, { 0x14A, 0x176, 1, 2 },
  { 0x178, 0x178, -121 },
  { 0x179, 0x17D, 1, 2 }, { 0x1CD, 0x1DB, 1, 2 }, { 0x1DE, 0x1EE, 1, 2 }, { 0x1F8, 0x21E, 1, 2 },
  { 0x222, 0x232, 1, 2 },
  { 0x386, 0x386, 38 }, { 0x388, 0x38A, 37 }, { 0x38C, 0x38C, 64 }, { 0x38E, 0x38F, 63 },
  { 0x391, 0x3A1, 32 }, { 0x3A3, 0x3AB, 32 },
  { 0x3D8, 0x3EE, 1, 2 }, { 0x400, 0x40F, 80 }, { 0x410, 0x42F, 32 }, { 0x460, 0x480, 1, 2 },
  { 0x48A, 0x4BE, 1, 2 },
  { 0x4C0, 0x4C0, 15 }, { 0x4C1, 0x4CD, 1, 2 }, { 0x4D0, 0x52E, 1, 2 }, { 0x531, 0x556, 48 },
  { 0x10A0, 0x10C5, 7264 },
  { 0x1E00, 0x1E94, 1, 2 }, { 0x1E9E, 0x1E9E, -7615 }, { 0x1EA0, 0x1EFE, 1, 2 },
}
local small_letters = {}
for _, range in ipairs(capital_ranges) do
  for code = range[1], range[2], range[4] or 1 do
    small_letters[utf8.char(code)] = utf8.char(code + range[3])
  end
end
small_letters["\u{130}"] = "i\u{307}"

return function(text)
  if not text:find "[\xC3-\xE1]" then return text:lower() end
  return (text:gsub("[\0-\x7F\xC2-\xF4][\x80-\xBF]*", small_letters))
end

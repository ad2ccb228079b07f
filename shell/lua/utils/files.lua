-- Paths of files: get_file finds downloaded files in a folder of this machine, without downloading
-- anything; writable_path returns where to write new ones.
local _, shell = ...

local function quoted(path) return "'" .. path:gsub("'", "'\\''") .. "'" end

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

local function checksum(path, algorithm)
  local pipe = assert(io.popen(algorithm .. "sum -- " .. quoted(path)))
  local sum = pipe:read "a":match "^\\?(%x+)"
  pipe:close()
  return sum
end

local function expect_checksum(path, expected_checksum, algorithm)
  if algorithm == "auto" then algorithm = #expected_checksum == 32 and "md5" or "sha256" end
  if algorithm ~= "md5" and algorithm ~= "sha256" then
    shell.fail("get_file: hash_algorithm must be auto, md5 or sha256, got ", tostring(algorithm))
  end
  local sum = checksum(path, algorithm)
  if sum ~= expected_checksum:lower() then
    shell.fail("get_file: '", path, "' is damaged or another file: its ", algorithm, " is ",
      tostring(sum), ", expected ", expected_checksum)
  end
end

--- Unpacks the archive into the folder. Returns the path of the archive without its ending, at
--- which its contents are expected.
local function unpack_archive(path, folder)
  local command = (path:match "%.zip$" and "unzip -qo %s -d %s"
    or "tar -xf %s -C %s"):format(quoted(path), quoted(folder))
  if not os.execute(command) then
    shell.fail("get_file: '", path, "' could not be unpacked by: ", command)
  end
  return (path:gsub("%.zip$", ""):gsub("%.tar%.%w+$", ""):gsub("%.tgz$", ""):gsub("%.tar$", ""))
end

local function default_folder()
  return os.getenv "KERAS_HOME" or (os.getenv "HOME" or ".") .. "/.keras"
end

--- Whether a file at this path can be written; an existing file is not changed.
local function is_writable(path)
  local was_there = exists(path)
  local file = io.open(path, "ab")
  if not file then return false end
  file:close()
  if not was_there then os.remove(path) end
  return true
end

local function temporary_folder() return (os.getenv "TMPDIR" or "/tmp"):gsub("/+$", "") end

return {
  writable_path = shell.define("writable_path -> a path",
    "A path at which a new file of this name can be written: in the current folder, else in the "
      .. "folder for temporary files.", {
    { name = "name", type = "a text", doc = "Name of the file, such as picture.png.",
      required = true },
  }, function(name)
    if is_writable(name) then return name end
    return temporary_folder() .. "/" .. name:match "[^/]*$"
  end),
  get_file = shell.define("get_file -> a path",
    "The path of a file in the cache folder. Nothing is downloaded: if the file is missing, the "
      .. "error says where to get it and where to put it.", {
    { name = "fname", type = "a text", doc = "Name of the file; nil: the last part of origin." },
    { name = "origin", type = "a text", doc = "The address of the file, for the message." },
    { name = "md5_hash", type = "a text", doc = "The MD5 checksum; the same as file_hash." },
    { name = "file_hash", type = "a text", doc = "Required checksum of the file." },
    { name = "cache_subdir", type = "a text", default = "datasets",
      doc = "Subfolder of the cache folder." },
    { name = "hash_algorithm", type = "a text", default = "auto",
      doc = "\"md5\" or \"sha256\"; by default chosen by the length of the checksum." },
    { name = "extract", type = "a boolean", default = false,
      doc = "Extract an archive beside it and return the path of its contents." },
    { name = "cache_dir", type = "a text",
      doc = "The cache folder; nil: $KERAS_HOME, or ~/.keras." },
  }, function(fname, origin, md5_hash, file_hash, cache_subdir, hash_algorithm, extract, cache_dir)
    fname = fname or origin and origin:match "([^/?#]+)[^/]*$"
    if not fname then shell.fail "get_file: expected fname, or origin" end
    local subfolder = cache_subdir ~= "" and "/" .. cache_subdir or ""
    local folder = (cache_dir or default_folder()) .. subfolder
    local path = folder .. "/" .. fname
    if not exists(path) then
      shell.fail("get_file: '", path, "' is not there and nothing is downloaded: put the file ",
        origin and "from " .. origin .. " " or "", "there")
    end
    local sum = file_hash or md5_hash
    if sum then
      expect_checksum(path, sum, md5_hash and not file_hash and "md5" or hash_algorithm)
    end
    return extract and unpack_archive(path, folder) or path
  end),
}

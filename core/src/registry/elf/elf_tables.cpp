#include "registry/elf/elf_tables.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "registry/elf/elf_image.h"

namespace crescent {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kRelativeRelocation = R_X86_64_RELATIVE,
                   kResolverRelocation = R_X86_64_IRELATIVE, kCopyRelocation = R_X86_64_COPY;
#elif defined(__aarch64__)
constexpr uint32_t kRelativeRelocation = R_AARCH64_RELATIVE,
                   kResolverRelocation = R_AARCH64_IRELATIVE, kCopyRelocation = R_AARCH64_COPY;
#endif

/// The tags of the entries of the dynamic section that give the address of a table and its size;
/// `size_tag` is DT_NULL if no entry gives the size.
struct DynamicTable {
  Elf64_Sxword address_tag, size_tag;
  Elf64_Word flags = 0;
};
constexpr DynamicTable kTables[] = {{DT_STRTAB, DT_STRSZ},
                                    {DT_RELA, DT_RELASZ},
                                    {DT_RELR, DT_RELRSZ},
                                    {DT_JMPREL, DT_PLTRELSZ},
                                    {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, PF_W},
                                    {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, PF_W},
                                    {DT_SYMTAB, DT_NULL},
                                    {DT_HASH, DT_NULL},
                                    {DT_GNU_HASH, DT_NULL},
                                    {DT_VERSYM, DT_NULL},
                                    {DT_VERNEED, DT_NULL},
                                    {DT_VERDEF, DT_NULL},
                                    {DT_PLTGOT, DT_NULL},
                                    {DT_INIT, DT_NULL, PF_X},
                                    {DT_FINI, DT_NULL, PF_X}};

/// Tags of entries of the dynamic section whose values are offsets in the string table.
constexpr Elf64_Sxword kNameTags[] = {DT_NEEDED,  DT_SONAME,    DT_RPATH,
                                      DT_RUNPATH, DT_AUXILIARY, DT_FILTER};

/// The header of the hash table to which DT_GNU_HASH points.
struct GnuHashHeader {
  uint32_t bucket_count, first_symbol, word_count, shift;
};

class ElfTables {
 public:
  explicit ElfTables(const ElfImage& image) : image_(image) {}

  void check() {
    check_addresses();
    check_names();
    check_relocations(DT_RELA, DT_RELASZ);
    check_relocations(DT_JMPREL, DT_PLTRELSZ);
    check_packed_relocations();
    symbol_count_ = std::max({symbol_count_, symbols_in_hash_table(), symbols_in_gnu_hash_table()});
    check_symbols();
    check_versions();
  }

 private:
  uint64_t value(Elf64_Sxword tag) const { return image_.dynamic_value(tag).value_or(0); }
  void require(bool is_valid, std::string_view checked_part) const {
    if (!is_valid) image_.refuse_damaged(checked_part);
  }

  void check_addresses() const;
  void check_names() const;
  void check_relocations(Elf64_Sxword table_tag, Elf64_Sxword size_tag);
  void check_relocation(const Elf64_Rela& relocation);
  void check_packed_relocations() const;
  bool is_in_function_array(uint64_t address) const;
  uint64_t symbols_in_hash_table() const;
  uint64_t symbols_in_gnu_hash_table() const;
  void check_symbols() const;
  void check_versions() const;
  Elf64_Half last_version() const;

  const ElfImage& image_;
  uint64_t symbol_count_ = 0;  // number of symbols: the largest index in the other tables plus 1
};

void ElfTables::check_addresses() const {
  for (const DynamicTable& table : kTables)
    if (const auto address = image_.dynamic_value(table.address_tag))
      image_.segment_of(*address, table.size_tag == DT_NULL ? 1 : value(table.size_tag),
                        table.flags);
  const bool has_valid_sizes =
      image_.dynamic_value(DT_SYMENT).value_or(sizeof(Elf64_Sym)) == sizeof(Elf64_Sym) &&
      image_.dynamic_value(DT_RELAENT).value_or(sizeof(Elf64_Rela)) == sizeof(Elf64_Rela) &&
      image_.dynamic_value(DT_PLTREL).value_or(DT_RELA) == DT_RELA;
  require(has_valid_sizes, "its dynamic section");
}

void ElfTables::check_names() const {
  const uint64_t name_bytes = value(DT_STRSZ);
  const bool has_tables =
      name_bytes > 0 && image_.dynamic_value(DT_STRTAB) && image_.dynamic_value(DT_SYMTAB);
  require(has_tables && image_.table<char>(value(DT_STRTAB), name_bytes).back() == '\0',
          "its table of names");
  for (const Elf64_Dyn& entry : image_.entries())
    if (std::find(std::begin(kNameTags), std::end(kNameTags), entry.d_tag) != std::end(kNameTags))
      require(entry.d_un.d_val < name_bytes, "its table of names");
}

// ---- relocations

void ElfTables::check_relocations(Elf64_Sxword table_tag, Elf64_Sxword size_tag) {
  const uint64_t count = value(size_tag) / sizeof(Elf64_Rela);
  if (count == 0) return;
  for (const auto& relocation : image_.table<Elf64_Rela>(value(table_tag), count))
    check_relocation(relocation);
}

/// Checks a relocation: it must change eight bytes of a writable segment. If the dynamic linker
/// calls a resolver function for it, the function must be code of the library.
void ElfTables::check_relocation(const Elf64_Rela& relocation) {
  const uint32_t type = ELF64_R_TYPE(relocation.r_info);
  image_.segment_of(relocation.r_offset, sizeof(uint64_t), PF_W);
  require(type != kCopyRelocation, "its relocations");
  const bool is_called = type == kResolverRelocation || is_in_function_array(relocation.r_offset);
  if (type == kRelativeRelocation || type == kResolverRelocation)
    image_.segment_of(static_cast<uint64_t>(relocation.r_addend), 0, is_called ? PF_X : 0);
  symbol_count_ = std::max<uint64_t>(symbol_count_, ELF64_R_SYM(relocation.r_info) + 1);
}

/// Checks the packed relocations of DT_RELR: an even word is an address; the bits of an odd word
/// stand for the next 63 words of memory.
void ElfTables::check_packed_relocations() const {
  const uint64_t count = value(DT_RELRSZ) / sizeof(uint64_t);
  if (count == 0) return;
  uint64_t next_address = 0;
  for (uint64_t word : image_.table<uint64_t>(value(DT_RELR), count)) {
    if (word % 2 == 0) {
      image_.segment_of(word, sizeof word, PF_W);
      next_address = word + sizeof word;
      continue;
    }
    for (uint64_t address = next_address; word >>= 1; address += sizeof word)
      if (word % 2) image_.segment_of(address, sizeof word, PF_W);
    next_address += 63 * sizeof word;
  }
}

bool ElfTables::is_in_function_array(uint64_t address) const {
  return contains_range(address, 1, value(DT_INIT_ARRAY), value(DT_INIT_ARRAYSZ)) ||
         contains_range(address, 1, value(DT_FINI_ARRAY), value(DT_FINI_ARRAYSZ));
}

// ---- symbols

uint64_t ElfTables::symbols_in_hash_table() const {
  const auto table = image_.dynamic_value(DT_HASH);
  if (!table) return 0;
  const auto counts = image_.table<uint32_t>(*table, 2);
  const uint64_t bucket_count = counts[0], symbol_count = counts[1];
  require(bucket_count > 0, "its table of symbols");
  for (uint32_t symbol :
       image_.table<uint32_t>(*table + 2 * sizeof(uint32_t), bucket_count + symbol_count))
    require(symbol < symbol_count, "its table of symbols");
  return symbol_count;
}

/// The number of symbols in the GNU hash table. The chain that begins at the largest index in a
/// bucket is the last one, and its end is that of the table.
uint64_t ElfTables::symbols_in_gnu_hash_table() const {
  const auto table = image_.dynamic_value(DT_GNU_HASH);
  if (!table) return 0;
  const auto header = image_.at<GnuHashHeader>(*table);
  require(header.bucket_count > 0 && std::has_single_bit(header.word_count) && header.shift < 64,
          "its table of symbols");
  const uint64_t bucket_table =
                     *table + sizeof header + uint64_t{header.word_count} * sizeof(uint64_t),
                 chain_table = bucket_table + uint64_t{header.bucket_count} * sizeof(uint32_t);
  image_.segment_of(*table, chain_table - *table);
  uint64_t last_symbol = 0;
  for (uint32_t symbol : image_.table<uint32_t>(bucket_table, header.bucket_count)) {
    require(symbol == 0 || symbol >= header.first_symbol, "its table of symbols");
    last_symbol = std::max<uint64_t>(last_symbol, symbol);
  }
  if (last_symbol == 0) return header.first_symbol;
  auto is_chain_end = [&](uint64_t symbol) {
    return image_.at<uint32_t>(chain_table + (symbol - header.first_symbol) * sizeof(uint32_t)) % 2;
  };
  while (!is_chain_end(last_symbol)) ++last_symbol;
  return last_symbol + 1;
}

void ElfTables::check_symbols() const {
  const uint64_t names_size = value(DT_STRSZ);
  for (const auto& symbol : image_.table<Elf64_Sym>(value(DT_SYMTAB), symbol_count_)) {
    require(symbol.st_name < names_size, "its table of symbols");
    const bool is_address = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
                            ELF64_ST_TYPE(symbol.st_info) != STT_TLS;
    if (is_address) image_.segment_of(symbol.st_value, 0);
  }
}

// ---- versions of symbols

void ElfTables::check_versions() const {
  const auto versions = image_.dynamic_value(DT_VERSYM);
  const Elf64_Half highest_version = last_version();
  if (!versions) return;
  for (Elf64_Half version : image_.table<Elf64_Half>(*versions, symbol_count_))
    require((version & 0x7fff) <= highest_version, "its table of versions");
}

Elf64_Half ElfTables::last_version() const {
  const uint64_t names_size = value(DT_STRSZ);
  Elf64_Half highest_version = 0;
  auto check_version = [&](uint64_t name, Elf64_Half version) {
    require(name < names_size, "its table of versions");
    highest_version = std::max<Elf64_Half>(highest_version, version & 0x7fff);
  };
  for (uint64_t address = value(DT_VERNEED), step = address; step; address += step) {
    const auto library = image_.at<Elf64_Verneed>(address);
    check_version(library.vn_file, 0);
    for (uint64_t entry_offset = address + library.vn_aux, next_offset = 1; next_offset;
         entry_offset += next_offset) {
      const auto version = image_.at<Elf64_Vernaux>(entry_offset);
      check_version(version.vna_name, version.vna_other);
      next_offset = version.vna_next;
    }
    step = library.vn_next;
  }
  for (uint64_t address = value(DT_VERDEF), step = address; step; address += step) {
    const auto version = image_.at<Elf64_Verdef>(address);
    check_version(image_.at<Elf64_Verdaux>(address + version.vd_aux).vda_name, version.vd_ndx);
    step = version.vd_next;
  }
  return highest_version;
}

}  // namespace

void check_tables(const ElfFile& file) { ElfTables(ElfImage(file)).check(); }

}  // namespace crescent

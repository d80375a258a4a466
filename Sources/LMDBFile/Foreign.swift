/// What a file is that is not LMDB's, by the bytes it starts with.
enum Foreign {
  /// Names the kind of file, as a phrase that follows its path.
  static func describe(_ head: [UInt8], size: Int) -> String {
    func starts(_ text: String, at offset: Int = 0) -> Bool {
      head.dropFirst(offset).starts(with: text.utf8)
    }
    if size == 0 { return "empty file; nothing has been stored in it, or a copy went wrong" }
    if starts("Standard Jet DB", at: 4) || starts("Standard ACE DB", at: 4) {
      return "Microsoft Access database, not LMDB; open it with mdbtools"
    }
    if starts("version https://git-lfs") {
      return "Git LFS pointer, not the file itself; run `git lfs pull`"
    }
    if starts("SQLite format 3\0") { return "SQLite database, not LMDB; open it with sqlite3" }
    if isMDBX(head) { return "libmdbx database, not LMDB; open it with mdbx_dump" }
    if starts("VERSION=3\n") { return "text dump of a database, not a data file; `kvdump load` makes one of it" }
    if head.starts(with: [0x1F, 0x8B]) { return "gzip file, not LMDB; unpack it first" }
    if head.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return "zstd file, not LMDB; unpack it first" }
    if head.starts(with: [0x50, 0x4B, 3, 4]) { return "zip file, not LMDB; unpack it first" }
    if size < 256 && head.contains(0) { return "not an LMDB file: it ends after \(size) bytes; copy it again" }
    if head.allSatisfy({ $0 == 0 }) {
      return
        "not an LMDB file, or one that has lost its head: it starts with zeros; `kvdump recover` looks for what is left"
    }
    if head.allSatisfy({ $0 >= 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) { return "text file, not LMDB" }
    return "not an LMDB file"
  }

  /// libmdbx puts a 56-bit magic number and a version after a page header of 20 bytes.
  private static func isMDBX(_ head: [UInt8]) -> Bool {
    head.count >= 28 && Array(head[21..<28]) == [0x11, 0x4C, 0xEF, 0xBD, 0x9D, 0x65, 0x59]
  }
}

import LMDB

/// One field of a table, found and read where it lies.
extension FieldTable {
  /// How many fields are looked through one by one; the lengths of names tell most apart, without a comparison.
  private static let scanLimit = 16

  /// The entry of a field, or `nil`. Checks the part of the table that it walks over.
  static func entry(of name: Span<UInt8>, in table: Span<UInt8>) throws(Malformed) -> Int? {
    let count = Int(clamping: try table.load(UInt32.self, at: 0))
    guard count <= (table.count - 4) / 16 else { throw Malformed("it claims more fields than it holds") }
    if count > scanLimit { return try search(name, table, count) }
    var entry = 4
    for _ in 0..<count {
      // Offset and length of the name in one word.
      let word = try table.load(UInt64.self, at: entry)
      if Int(word >> 32 & 0xFFFF) == name.count,
        try table.slice(Int(word & 0xFFFF_FFFF), name.count).elementsEqual(name)
      {
        return entry
      }
      entry += 16
    }
    return nil
  }

  private static func search(_ name: Span<UInt8>, _ table: Span<UInt8>, _ count: Int) throws(Malformed) -> Int? {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      let order = try self.name(at: 4 + 16 * middle, of: table).compare(name)
      if order == 0 { return 4 + 16 * middle }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  @_lifetime(copy table)
  private static func name(at entry: Int, of table: Span<UInt8>) throws(Malformed) -> Span<UInt8> {
    try table.slice(Int(clamping: table.load(UInt32.self, at: entry)), Int(table.load(UInt16.self, at: entry + 4)))
  }

  /// The Boolean of an entry, if it is one.
  static func bool(_ table: Span<UInt8>, _ entry: Int) throws(Malformed) -> Bool? {
    try self.bits(table, entry, .bool).map { $0 != 0 }
  }

  /// The whole number of an entry, if it is one.
  static func int(_ table: Span<UInt8>, _ entry: Int) throws(Malformed) -> Int64? {
    try self.bits(table, entry, .int).map { Int64(bitPattern: $0) }
  }

  /// The bytes of an entry that is text or bytes.
  @_lifetime(copy table)
  static func bytes(_ table: Span<UInt8>, _ entry: Int) throws(Malformed) -> Span<UInt8>? {
    let tag = try tag(table, entry)
    guard tag == .string || tag == .bytes else { return nil }
    let offset = Int(clamping: try table.load(UInt32.self, at: entry + 8))
    return try table.slice(offset, Int(clamping: table.load(UInt32.self, at: entry + 12)))
  }

  private static func bits(_ table: Span<UInt8>, _ entry: Int, _ wanted: Tag) throws(Malformed) -> UInt64? {
    guard try tag(table, entry) == wanted else { return nil }
    return try table.load(UInt64.self, at: entry + 8)
  }
}

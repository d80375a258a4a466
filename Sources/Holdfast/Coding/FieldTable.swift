import LMDB

/// The binary form of a ``FieldMap``, and of an array.
///
/// ```
/// u32  number of fields
/// then for each field, 16 bytes, sorted by name:
///   u32  offset of the name        u16  length of the name
///   u8   type of the value         u8   0
///   u64  the value itself (bool, int, double, date), or u32 offset and u32 length of its bytes
/// then names and bytes
/// ```
/// Offsets count from the start of the table. An array is a table with empty names, in order; a map inside a map is a
/// table among the bytes. So one field is found by binary search and decoded without touching the others.
enum FieldTable {
  /// How deep arrays and maps may nest; bounds the stack when a hostile record is read.
  static let depthLimit = 64
  /// The most fields of a record or a map.
  static let countLimit = Int(UInt16.max)

  enum Tag: UInt8 {
    case null, bool, int, double, string, bytes, date, array, map

    /// Whether the value itself stands in the table, and not where its bytes are.
    var isInline: Bool {
      switch self {
      case .null, .bool, .int, .double, .date: true
      case .string, .bytes, .array, .map: false
      }
    }
  }

  // MARK: Writing

  static func append(_ fields: FieldMap, to writer: inout ByteWriter, depth: Int = 0) throws(StoreError) {
    guard fields.count <= countLimit else {
      throw StoreError(.invalidValue, "A record of \(fields.count) fields is too large; use at most \(countLimit).")
    }
    if let long = fields.first(where: { $0.name.utf8.count > UInt16.max }) {
      throw StoreError(
        .invalidValue,
        "A field name of \(long.name.utf8.count) bytes is too long; use at most \(UInt16.max).")
    }
    try append(fields.fields, to: &writer, depth: depth)
  }

  private static func append(
    _ fields: [FieldMap.Field], to writer: inout ByteWriter, depth: Int
  ) throws(StoreError) {
    guard depth < depthLimit else {
      throw StoreError(.invalidValue, "Values nest deeper than \(depthLimit) levels; flatten them.")
    }
    let start = writer.count
    writer.append(zeros: 4 + 16 * fields.count)
    writer.put(UInt32(fields.count), at: start)
    for (index, field) in fields.enumerated() {
      let entry = start + 4 + 16 * index
      let (name, length) = (writer.count - start, field.name.utf8.count)
      writer.append(text: field.name)
      let tag = tag(of: field.value)
      writer.put(UInt64(truncatingIfNeeded: name | length << 32 | Int(tag.rawValue) << 48), at: entry)
      let value = writer.count
      try appendBytes(of: field.value, to: &writer, depth: depth)
      let place = UInt64(truncatingIfNeeded: value - start | (writer.count - value) << 32)
      writer.put(tag.isInline ? inlineBits(of: field.value) : place, at: entry + 8)
    }
    guard writer.count - start <= UInt32.max else {
      throw StoreError(.invalidValue, "A record is larger than 4 GiB; keep large data in a file.")
    }
  }

  private static func tag(of value: FieldValue) -> Tag {
    switch value {
    case .null: .null
    case .bool: .bool
    case .int: .int
    case .double: .double
    case .string: .string
    case .bytes: .bytes
    case .date: .date
    case .array: .array
    case .map: .map
    }
  }

  private static func inlineBits(of value: FieldValue) -> UInt64 {
    switch value {
    case .bool(let value): value ? 1 : 0
    case .int(let value), .date(let value): UInt64(bitPattern: value)
    case .double(let value): value.bitPattern
    case .null, .string, .bytes, .array, .map: 0
    }
  }

  private static func appendBytes(
    of value: FieldValue, to writer: inout ByteWriter, depth: Int
  ) throws(StoreError) {
    switch value {
    case .null, .bool, .int, .double, .date: break
    case .string(let text): writer.append(text: text)
    case .bytes(let bytes): writer.append(bytes: bytes)
    case .array(let values):
      try append(values.map { FieldMap.Field("", $0) }, to: &writer, depth: depth + 1)
    case .map(let map): try append(map, to: &writer, depth: depth + 1)
    }
  }

  // MARK: Reading

  static func decode(_ table: Span<UInt8>, depth: Int = 0) throws(Malformed) -> FieldMap {
    let fields = try decodeFields(table, depth: depth)
    for (before, after) in zip(fields, fields.dropFirst())
    where !before.name.utf8.lexicographicallyPrecedes(after.name.utf8) {
      throw Malformed("its fields are not sorted by name")
    }
    return FieldMap(sorted: fields)
  }

  private static func decodeFields(_ table: Span<UInt8>, depth: Int) throws(Malformed) -> [FieldMap.Field] {
    guard depth < depthLimit else { throw Malformed("its values nest too deep") }
    let count = Int(clamping: try table.load(UInt32.self, at: 0))
    guard count <= (table.count - 4) / 16 else { throw Malformed("it claims more fields than it holds") }
    var fields: [FieldMap.Field] = []
    fields.reserveCapacity(count)
    // Parts that overlap would let a small hostile record decode into a huge one.
    var unclaimed = table.count - 4 - 16 * count
    for index in 0..<count {
      let entry = 4 + 16 * index
      let name = try table.slice(
        Int(clamping: try table.load(UInt32.self, at: entry)), Int(try table.load(UInt16.self, at: entry + 4)))
      let (value, length) = try decodeValue(table, entry: entry, depth: depth)
      unclaimed -= name.count + length
      guard unclaimed >= 0 else { throw Malformed("its parts overlap") }
      fields.append(FieldMap.Field(try name.text(), value))
    }
    return fields
  }

  /// A value, and how many bytes it takes outside its entry.
  static func decodeValue(
    _ table: Span<UInt8>, entry: Int, depth: Int
  ) throws(Malformed) -> (FieldValue, length: Int) {
    let tag = try tag(table, entry)
    let bits = try table.load(UInt64.self, at: entry + 8)
    switch tag {
    case .null: return (.null, 0)
    case .bool: return (.bool(bits != 0), 0)
    case .int: return (.int(Int64(bitPattern: bits)), 0)
    case .double: return (.double(Double(bitPattern: bits)), 0)
    case .date: return (.date(milliseconds: Int64(bitPattern: bits)), 0)
    case .string, .bytes, .array, .map: break
    }
    let bytes = try table.slice(Int(clamping: UInt32(truncatingIfNeeded: bits)), Int(clamping: bits >> 32))
    switch tag {
    case .string: return (.string(try bytes.text()), bytes.count)
    case .array: return (.array(try decodeFields(bytes, depth: depth + 1).map(\.value)), bytes.count)
    case .map: return (.map(try decode(bytes, depth: depth + 1)), bytes.count)
    default: return (.bytes([UInt8](copying: bytes)), bytes.count)
    }
  }

  static func tag(_ table: Span<UInt8>, _ entry: Int) throws(Malformed) -> Tag {
    guard let tag = Tag(rawValue: try table.load(UInt8.self, at: entry + 6)) else {
      throw Malformed("a value in it has an unknown type")
    }
    return tag
  }
}

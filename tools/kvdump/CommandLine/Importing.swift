import Foundation
import LMDB
import LMDBFile

/// Stores what `import` reads: makes databases as a header describes them, and records as they come.
struct Importing {
  private let path: String
  private let existingMapSize: UInt64?
  private let name: [UInt8]?
  private let mode: BulkLoader.Mode
  private var mapSize: UInt64?
  private var flags: [[UInt8]?: Tree.Flags] = [:]
  private var loading: Loading?
  private var current: [UInt8]??
  /// Whether the header announced a last line.
  private(set) var expectsTrailer = false

  /// Whether nothing has come: no header, and no record.
  var isEmpty: Bool { loading == nil }
  var records: Int { loading?.records ?? 0 }
  /// How many records, and what became of those that were there.
  var summary: String { loading?.summary(mode) ?? "nothing" }
  var remark: String? { loading?.remark }

  init(_ path: String, mapSize: UInt64?, default name: [UInt8]?, _ mode: BulkLoader.Mode) {
    self.path = path
    existingMapSize = mapSize
    self.name = name
    self.mode = mode
  }

  mutating func take(header: [String: Any]) throws(Failure) {
    guard header["kvdump"] as? Int == 1 else {
      throw Failure(.damagedData, "this version of the format is not known; take a newer kvdump")
    }
    expectsTrailer = header["trailer"] as? Bool ?? false
    mapSize = (header["mapsize"] as? NSNumber)?.uint64Value
    for database in header["databases"] as? [[String: Any]] ?? [] {
      let name = try Self.name(database["db"])
      var set: Tree.Flags = []
      for word in database["flags"] as? [String] ?? [] {
        guard let flag = DumpParser.flags[word] else {
          throw Failure(.damagedData, "the flag \(printable(word)) is not known")
        }
        set.insert(flag)
      }
      flags[name] = set
      // Also one without records is there.
      try open(name)
    }
  }

  private static func name(_ value: Any?) throws(Failure) -> [UInt8]? {
    if value == nil || value is NSNull { return nil }
    return try bytes(value, "db")
  }

  mutating func take(_ object: [String: Any]) throws(Failure) {
    guard object["cut"] == nil else {
      throw Failure(.damagedData, "the value has been cut; write it without --max-value")
    }
    let database = try Self.name(object["db"])
    try put(try Self.bytes(object["k"], "k"), try Self.bytes(object["v"], "v"), in: database ?? name)
  }

  mutating func take(_ fields: [[UInt8]]) throws(Failure) {
    guard fields.count == 5 else { throw Failure(.damagedData, "it has \(fields.count) fields, not 5") }
    let database = fields[0].isEmpty ? name : fields[0]
    try put(try Self.bytes(fields[1], fields[2]), try Self.bytes(fields[3], fields[4]), in: database)
  }

  private mutating func put(_ key: [UInt8], _ value: [UInt8], in name: [UInt8]?) throws(Failure) {
    if current != .some(name) { try open(name) }
    try loading?.put(key, value, mode)
  }

  private mutating func open(_ name: [UInt8]?) throws(Failure) {
    let target: Loading
    if let loading { target = loading } else { target = try Loading(path, mapSize: existingMapSize ?? mapSize) }
    loading = target
    try target.open(name, flags[name] ?? [])
    current = .some(name)
  }

  mutating func finish() throws(Failure) {
    if loading == nil { try open(name) }
    try loading?.finish()
  }

  /// Bytes as JSON: text, or an object that says how they are written.
  private static func bytes(_ value: Any?, _ field: String) throws(Failure) -> [UInt8] {
    if let text = value as? String { return Array(text.utf8) }
    guard let object = value as? [String: Any], object.count == 1, let (form, content) = object.first else {
      throw Failure(.damagedData, "`\(field)` is neither text nor an object such as {\"b64\": …}")
    }
    switch (form, content) {
    case ("b64", let text as String):
      if let data = Data(base64Encoded: text) { return Array(data) }
    case ("hex", let text as String):
      if let bytes = try? KeyText.key(text, as: .hex, integerSize: nil, native) { return bytes }
    case ("u32", let number as NSNumber): return KeyText.integer(number.uint64Value, size: 4, native)
    case ("u64", let number as NSNumber): return KeyText.integer(number.uint64Value, size: 8, native)
    default: break
    }
    throw Failure(.damagedData, "`\(field)` cannot be read as \(printable(form))")
  }

  private static func bytes(_ text: [UInt8], _ encoding: [UInt8]) throws(Failure) -> [UInt8] {
    let form = String(decoding: encoding, as: UTF8.self)
    if form == "utf8" || form.isEmpty { return text }
    let key = form == "base64" ? "b64" : form
    return try bytes([key: String(decoding: text, as: UTF8.self)], "key or value")
  }

  /// The layout that LMDB writes here.
  static let native = Layout(wordSize: 8, isBigEndian: 1.bigEndian == 1, version: 1, pageSize: 4096)
}

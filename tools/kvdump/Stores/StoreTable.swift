import Holdfast
import LMDBFile

/// One of the package's own databases, read without the store.
struct StoreTable {
  let reading: Reading
  let snapshot: Snapshot
  private let tree: Tree

  /// - Throws: `noInput` if the file is not such a store.
  init(_ name: String, of what: String, _ reading: Reading, _ snapshot: Snapshot) throws(Failure) {
    self.reading = reading
    self.snapshot = snapshot
    do throws(ReadError) {
      tree = try snapshot.database(Array(name.utf8))
    } catch {
      guard error.code == .unknownDatabase else { throw Failure(error, reading.path) }
      throw Failure(.noInput, "\(printable(reading.path)): it has no \(what): there is no database \(name)")
    }
  }

  var count: Int { tree.entries }

  /// The directory of the store, which has the files of its rows.
  var directory: String { snapshot.file.directory ?? snapshot.file.path }

  /// Visits rows in order whose key starts so, or all of them, from the last if need be; ends when `body` says so.
  ///
  /// - Throws: What is damaged, or what `body` throws.
  func forEach(
    prefix: [UInt8] = [], reverse: Bool = false, _ body: ([UInt8], [UInt8]) throws(Failure) -> Bool
  ) throws(Failure) {
    var records = try reading.naming { () throws(ReadError) in try RecordCursor(snapshot, tree) }
    var hasRow = try reading.naming { () throws(ReadError) in
      if !prefix.isEmpty { return try records.seek(to: prefix) }
      return try reverse ? records.previous() : records.next()
    }
    while hasRow {
      let key = records.key.array
      guard key.starts(with: prefix) else { return }
      let value = try reading.naming { () throws(ReadError) in try records.value() }
      guard try body(key, value) else { return }
      hasRow = try reading.naming { () throws(ReadError) in try reverse ? records.previous() : records.next() }
    }
  }

  /// The value under a key.
  func value(_ key: [UInt8]) throws(Failure) -> [UInt8]? {
    var records = try reading.naming { () throws(ReadError) in try RecordCursor(snapshot, tree) }
    return try reading.naming { () throws(ReadError) in
      guard try records.seek(to: key), records.key.array == key else { return nil }
      return try records.value()
    }
  }
}

/// The time that ages are counted from.
enum Clock {
  static let option = Help.Option("--now", value: "TIME", "count ages from this time, in ms since 1970, not from now")

  static func now(_ arguments: Arguments) throws(Failure) -> Int64 {
    if let given = try arguments.number("--now") { return Int64(given) }
    return milliseconds()
  }
}

/// A span of time for people, to two figures: `3 d`, `12 min`.
func duration(_ milliseconds: Int64) -> String {
  let units: [(Int64, String)] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")]
  let sign = milliseconds < 0 ? "-" : ""
  let magnitude = Int64(clamping: milliseconds.magnitude)
  for (size, name) in units where magnitude >= size { return "\(sign)\(magnitude / size) \(name)" }
  return "\(sign)\(magnitude) ms"
}

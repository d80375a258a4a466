public import LMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The fields of a list of records, looked up where they lie in the mapped file; it cannot leave its closure.
///
/// A field is taken from the last record that has it, and a record is looked up when a field is first sought in it: so
/// put first the keys that matter least, and those that decide cost the most. Nothing is copied and nothing allocated
/// but what an accessor returns. Only a record that a request in flight has changed is put together for each look-up.
///
/// Each accessor throws `corruptRecord`, naming the key, for a record that is not as it was written.
public struct MergedFields: ~Copyable, ~Escapable {
  /// Where a field is.
  private enum Place {
    /// In a record, at an entry of its table.
    case entry(Int, record: Int)
    /// In no record as it is.
    case value(FieldValue)
  }

  private let store: StateStore
  private let keys: [StateKey]
  private let values: ValueList
  /// The fields of the session for each key, if it has any for one of them.
  private let session: [FieldMap?]
  /// When it is for a look-up that is about one time; for others, the clock tells.
  private let now: Int64?

  @_lifetime(copy values)
  init(
    _ store: StateStore, _ keys: [StateKey], _ values: consuming ValueList, session: [FieldMap?], at now: Int64?
  ) {
    self.store = store
    self.keys = keys
    self.values = values
    self.session = session
    self.now = now
  }

  /// Whether a field is there, whatever its type.
  ///
  /// - Parameter name: The field.
  /// - Returns: Whether one of the records has it.
  /// - Throws: `corruptRecord`.
  public borrowing func contains(_ name: String) throws(StoreError) -> Bool { try place(of: name) != nil }

  /// A field, or `nil`.
  ///
  /// - Parameter name: The field.
  /// - Returns: A copy of its value.
  /// - Throws: `corruptRecord`.
  public borrowing func value(_ name: String) throws(StoreError) -> FieldValue? {
    try read(name) { (table, entry) throws(Malformed) in
      try FieldTable.decodeValue(table, entry: entry, depth: 0).0
    } or: {
      $0
    }
  }

  /// A field that is a Boolean; `nil` if it is not, or is not there.
  ///
  /// - Parameter name: The field.
  /// - Returns: Its value.
  /// - Throws: `corruptRecord`.
  public borrowing func bool(_ name: String) throws(StoreError) -> Bool? {
    try read(name) { (table, entry) throws(Malformed) in
      try FieldTable.bool(table, entry)
    } or: {
      $0.boolValue
    }
  }

  /// A field that is a whole number; `nil` if it is not, or is not there.
  ///
  /// - Parameter name: The field.
  /// - Returns: Its value.
  /// - Throws: `corruptRecord`.
  public borrowing func int(_ name: String) throws(StoreError) -> Int64? {
    try read(name) { (table, entry) throws(Malformed) in
      try FieldTable.int(table, entry)
    } or: {
      $0.intValue
    }
  }

  /// A field that is a number, as ``FieldValue/doubleValue``; `nil` if it is none, or is not there.
  ///
  /// - Parameter name: The field.
  /// - Returns: Its value.
  /// - Throws: `corruptRecord`.
  public borrowing func double(_ name: String) throws(StoreError) -> Double? { try value(name)?.doubleValue }

  /// A field that is text; `nil` if it is not, or is not there.
  ///
  /// - Parameter name: The field.
  /// - Returns: A copy of the text.
  /// - Throws: `corruptRecord`.
  public borrowing func string(_ name: String) throws(StoreError) -> String? { try value(name)?.stringValue }

  /// A field that is a date; `nil` if it is not, or is not there.
  ///
  /// - Parameter name: The field.
  /// - Returns: Its value; ``FieldValue/millisecondsValue`` has it as it is stored.
  /// - Throws: `corruptRecord`.
  public borrowing func date(_ name: String) throws(StoreError) -> Date? { try value(name)?.dateValue }

  /// Runs `body` on the bytes of a field that is bytes or text, without a copy.
  ///
  /// - Parameters:
  ///   - name: The field.
  ///   - body: Gets the bytes, text as UTF-8 that has not been checked.
  /// - Returns: What `body` returns; `nil` if the field is neither, or is not there.
  /// - Throws: What `body` throws; `corruptRecord`.
  public borrowing func withBytes<R>(_ name: String, _ body: (Span<UInt8>) throws -> R) throws -> R? {
    switch try place(of: name) {
    case nil: return nil
    case .value(.bytes(let bytes)): return try body(bytes.span)
    case .value(.string(let text)): return try text.withBytes(body)
    case .value: return nil
    case .entry(let entry, let index):
      guard let record = values[index] else { return nil }
      let bytes: Span<UInt8>?
      do throws(Malformed) {
        bytes = try FieldTable.bytes(RecordHeader.table(of: record), entry)
      } catch {
        throw keys[index].unreadable(error)
      }
      guard let bytes else { return nil }
      return try body(bytes)
    }
  }

  /// All fields in one map.
  ///
  /// - Returns: A copy of every field; empty if there is no record.
  /// - Throws: `corruptRecord`.
  public borrowing func fields() throws(StoreError) -> FieldMap {
    for index in stride(from: keys.count - 1, through: 0, by: -1) { try load(index) }
    var fields = FieldMap()
    for index in keys.indices {
      if let own = try own(index) { fields.merge(own) }
    }
    return fields
  }

  /// Notes when the records looked up so far expire, and counts their bytes.
  borrowing func extent(_ times: inout StateTimes, at now: Int64) -> Int {
    var byteCount = 0
    for index in keys.indices {
      guard let record = values[index] else { continue }
      times.note(RecordHeader.expiresAt(record), at: now)
      byteCount += record.count
    }
    return byteCount
  }

  // MARK: Looking up

  /// The fields of one key, with everything that lies over its record; `nil` if there is nothing.
  private borrowing func own(_ index: Int) throws(StoreError) -> FieldMap? {
    let over = session.isEmpty ? nil : session[index]
    guard let record = values[index] else { return over }
    var fields = FieldMap()
    do throws(Malformed) {
      if isCurrent(record) { fields = try FieldTable.decode(RecordHeader.table(of: record)) }
    } catch {
      throw keys[index].unreadable(error)
    }
    if RecordHeader.isLayered(record) {
      for layer in try store.layers.layers(over: keys[index], in: values.reader) { layer.changes.apply(to: &fields) }
    }
    if let over { fields.merge(over) }
    return fields
  }

  /// The last record that has a field, and the field's entry in its table.
  private borrowing func place(of name: String) throws(StoreError) -> Place? {
    try name.withBytes { (bytes) throws(StoreError) in
      for index in stride(from: keys.count - 1, through: 0, by: -1) {
        try load(index)
        if !session.isEmpty, let value = session[index]?[name] { return .value(value) }
        guard let record = values[index] else { continue }
        if RecordHeader.isLayered(record) {
          if let value = try own(index)?[name] { return .value(value) }
          continue
        }
        do throws(Malformed) {
          let table = try RecordHeader.table(of: record)
          if let entry = try FieldTable.entry(of: bytes, in: table), isCurrent(record) {
            return .entry(entry, record: index)
          }
        } catch {
          throw keys[index].unreadable(error)
        }
      }
      return nil
    }
  }

  private borrowing func read<R>(
    _ name: String, _ body: (Span<UInt8>, Int) throws(Malformed) -> R?, or other: (FieldValue) -> R?
  ) throws(StoreError) -> R? {
    switch try place(of: name) {
    case nil: return nil
    case .value(let value): return other(value)
    case .entry(let entry, let index):
      guard let record = values[index] else { return nil }
      do throws(Malformed) {
        return try body(RecordHeader.table(of: record), entry)
      } catch {
        throw keys[index].unreadable(error)
      }
    }
  }

  /// Looks up a record and checks it, unless that has been done.
  @inline(__always)
  private borrowing func load(_ index: Int) throws(StoreError) {
    if values.isKnown(index) { return }
    // Not as elements of the array, which would be copied: counting a reference costs as much as comparing a key.
    let keys = keys.span
    try keys[index].withStoredBytes { (bytes) throws(StoreError) in try values.find(index, bytes) }
    guard let record = values[index] else { return }
    do throws(Malformed) {
      if keys[index].form == .plain {
        try RecordHeader.check(record, isPlain: true)
      } else {
        try RecordHeader.check(record, of: keys[index])
      }
    } catch {
      throw keys[index].unreadable(error)
    }
  }

  /// Whether the fields of a record have not expired.
  private borrowing func isCurrent(_ record: Span<UInt8>) -> Bool {
    let end = RecordHeader.expiresAt(record)
    return end == 0 || !StateExpiry.isOver(end, at: now ?? store.time.now())
  }
}

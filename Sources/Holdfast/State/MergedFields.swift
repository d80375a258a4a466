public import LMDB

/// The fields of a list of records, looked up where they lie in the mapped file; it cannot leave its closure.
///
/// A field is taken from the last record that has it. Nothing is copied and nothing allocated but what an accessor
/// returns; a look-up costs about 30 instructions for each record that does not have the field. Only where requests in
/// flight or the session have changed one of the records, the fields are put together first.
///
/// Each accessor throws `corruptRecord`, naming the key, for a record that it cannot walk through.
public struct MergedFields: ~Copyable, ~Escapable {
  private let keys: [StateKey]
  private let values: ValueList
  /// The fields, if they do not lie in the records alone.
  private let overlaid: FieldMap?

  @_lifetime(copy values)
  init(_ keys: [StateKey], _ values: consuming ValueList, overlaid: FieldMap?) {
    self.keys = keys
    self.values = values
    self.overlaid = overlaid
  }

  /// Whether a field is there, whatever its type.
  ///
  /// - Parameter name: The field.
  /// - Returns: Whether one of the records has it.
  /// - Throws: `corruptRecord`.
  public borrowing func contains(_ name: String) throws(StoreError) -> Bool {
    if let overlaid { return overlaid[name] != nil }
    return try place(of: name) != nil
  }

  /// A field, or `nil`.
  ///
  /// - Parameter name: The field.
  /// - Returns: A copy of its value.
  /// - Throws: `corruptRecord`.
  public borrowing func value(_ name: String) throws(StoreError) -> FieldValue? {
    if let overlaid { return overlaid[name] }
    return try read(name) { (table, entry) throws(Malformed) in
      try FieldTable.decodeValue(table, entry: entry, depth: 0).0
    }
  }

  /// A field that is a Boolean; `nil` if it is not, or is not there.
  ///
  /// - Parameter name: The field.
  /// - Returns: Its value.
  /// - Throws: `corruptRecord`.
  public borrowing func bool(_ name: String) throws(StoreError) -> Bool? {
    if let overlaid { return overlaid[name]?.boolValue }
    return try read(name) { (table, entry) throws(Malformed) in try FieldTable.bool(table, entry) }
  }

  /// A field that is a whole number; `nil` if it is not, or is not there.
  ///
  /// - Parameter name: The field.
  /// - Returns: Its value.
  /// - Throws: `corruptRecord`.
  public borrowing func int(_ name: String) throws(StoreError) -> Int64? {
    if let overlaid { return overlaid[name]?.intValue }
    return try read(name) { (table, entry) throws(Malformed) in try FieldTable.int(table, entry) }
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
  /// - Returns: Milliseconds since 1970.
  /// - Throws: `corruptRecord`.
  public borrowing func date(_ name: String) throws(StoreError) -> Int64? { try value(name)?.dateValue }

  /// Runs `body` on the bytes of a field that is bytes or text, without a copy.
  ///
  /// - Parameters:
  ///   - name: The field.
  ///   - body: Gets the bytes, text as UTF-8 that has not been checked.
  /// - Returns: What `body` returns; `nil` if the field is neither, or is not there.
  /// - Throws: What `body` throws; `corruptRecord`.
  public borrowing func withBytes<R>(_ name: String, _ body: (Span<UInt8>) throws -> R) throws -> R? {
    if let overlaid {
      switch overlaid[name] {
      case .bytes(let bytes)?: return try body(bytes.span)
      case .string(let text)?: return try text.withBytes(body)
      default: return nil
      }
    }
    guard let place = try place(of: name), let record = values[place.index] else { return nil }
    let bytes: Span<UInt8>?
    do throws(Malformed) {
      bytes = try FieldTable.bytes(RecordHeader.table(of: record), place.entry)
    } catch {
      throw keys[place.index].unreadable(error)
    }
    guard let bytes else { return nil }
    return try body(bytes)
  }

  /// All fields in one map.
  ///
  /// - Returns: A copy of every field; empty if there is no record.
  /// - Throws: `corruptRecord`.
  public borrowing func fields() throws(StoreError) -> FieldMap {
    if let overlaid { return overlaid }
    var fields = FieldMap()
    for index in 0..<values.count {
      guard let record = values[index] else { continue }
      do throws(Malformed) {
        fields.merge(try FieldTable.decode(RecordHeader.table(of: record)))
      } catch {
        throw keys[index].unreadable(error)
      }
    }
    return fields
  }

  private borrowing func read<R>(
    _ name: String, _ body: (Span<UInt8>, Int) throws(Malformed) -> R?
  ) throws(StoreError) -> R? {
    guard let place = try place(of: name), let record = values[place.index] else { return nil }
    do throws(Malformed) {
      return try body(RecordHeader.table(of: record), place.entry)
    } catch {
      throw keys[place.index].unreadable(error)
    }
  }

  /// The last record that has a field, and the field's entry in its table.
  private borrowing func place(of name: String) throws(StoreError) -> (index: Int, entry: Int)? {
    try name.withBytes { (name) throws(StoreError) in
      for index in stride(from: values.count - 1, through: 0, by: -1) {
        guard let record = values[index] else { continue }
        do throws(Malformed) {
          let table = try RecordHeader.table(of: record)
          if let entry = try FieldTable.entry(of: name, in: table) { return (index, entry) }
        } catch {
          throw keys[index].unreadable(error)
        }
      }
      return nil
    }
  }
}

import LMDB

/// A row of `state.record` as a tool finds it that reads the file on its own.
package struct StateRow: Sendable {
  package let key: StateKey
  /// What is stored; changes of requests in flight lie over it and are not in it.
  package let fields: FieldMap
  /// The number of the update that wrote it.
  package let stamp: UInt64
  /// When that was, in milliseconds since 1970.
  package let updatedAt: Int64
  /// When it ends, in milliseconds since 1970; 0 for never.
  package let expiresAt: Int64
  /// Whether requests in flight have changed it.
  package let isLayered: Bool

  /// Reads a row.
  ///
  /// - Throws: `corruptRecord`.
  package init(_ stored: [UInt8], _ value: [UInt8]) throws(StoreError) {
    let (storedSpan, valueSpan) = (stored.span, value.span)
    do throws(Malformed) {
      let key = try StateKey(stored: storedSpan, record: valueSpan)
      let record = try StateRecord(decoding: valueSpan, of: key)
      self.key = key
      fields = record.fields
      stamp = record.stamp
      updatedAt = record.updatedAt
      expiresAt = record.expiresAt
      isLayered = record.isLayered
    } catch {
      let text = String(decoding: stored, as: UTF8.self)
      throw StoreError(.corruptRecord, "The state record \(text) cannot be read: \(error.reason).")
    }
  }

  /// The text of the key, `type:id`.
  package var text: String { key.text }

  /// The key of the row for a key of the state.
  package static func stored(_ key: StateKey) throws(StoreError) -> [UInt8] {
    try key.check()
    return key.storedBytes
  }
}

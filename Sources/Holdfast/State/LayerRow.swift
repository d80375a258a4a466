import LMDB

/// A row of `state.layer` as a tool finds it that reads the file on its own: fields that lie over a record until a
/// request is settled.
package struct LayerRow: Sendable {
  /// The entry of the outbox it belongs to.
  package let entry: EntryID
  /// The record it lies over.
  package let key: StateKey
  /// Whether it is dropped when the entry is delivered, and does not go into the record.
  package let isDropped: Bool
  /// What it sets and removes.
  package let changes: FieldChanges

  /// Where the rows of the layers over a record start.
  package static func prefix(over key: StateKey) -> [UInt8] { [1] + key.hash }

  /// Where the rows start that lead to the layers of an entry.
  package static func prefix(of entry: EntryID) -> [UInt8] { [2] + entry.rawValue.bigEndianBytes }

  /// The row of the layer to which a row of an entry leads.
  package static func stored(by row: [UInt8], of entry: EntryID) -> [UInt8] {
    [1] + row.dropFirst(9) + entry.rawValue.bigEndianBytes
  }

  /// Reads a row.
  ///
  /// - Throws: `corruptRecord`.
  package init(_ stored: [UInt8], _ value: [UInt8]) throws(StoreError) {
    let (storedSpan, valueSpan) = (stored.span, value.span)
    do throws(Malformed) {
      let number = try storedSpan.loadBigEndian(UInt64.self, at: 17)
      let layer = try OptimisticLayers.Layer(decoding: valueSpan, entry: number)
      entry = EntryID(rawValue: number)
      key = layer.key
      isDropped = layer.policy == .drop
      changes = layer.changes
    } catch {
      throw StoreError(.corruptRecord, "A layer over the state cannot be read: \(error.reason).")
    }
  }

  /// The text of the record's key, `type:id`.
  package var text: String { key.text }
}

import LMDB

/// Rows of the outbox as a tool finds them that reads the file on its own.
package enum OutboxRow {
  /// What an entry is doing, and how often it has been tried.
  package struct Delivery: Sendable {
    package let phase: PendingEntry.Phase
    package let attempts: Int
    /// The earliest time of its next attempt, in milliseconds since 1970.
    package let notBefore: Int64
    /// Why the last attempt failed; empty if none has.
    package let lastError: String
  }

  /// The number that a key is.
  package static func id(_ key: [UInt8]) -> EntryID? {
    key.count == 8 ? EntryID(rawValue: key.reduce(0) { $0 << 8 | UInt64($1) }) : nil
  }

  /// The key under which the entry of a number is stored.
  package static func key(_ id: EntryID) -> [UInt8] { id.rawValue.bigEndianBytes }

  /// A row of `outbox.entry`; `store` is the directory, for the paths of attachments.
  ///
  /// - Throws: `corruptRecord`.
  package static func entry(_ value: [UInt8], _ id: EntryID, in store: String) throws(StoreError) -> OutboxEntry {
    let span = value.span
    return try OutboxEntry(decoding: span, id: id, attachmentsIn: AttachmentFolder(path: "\(store)/attachments"))
  }

  /// A row of `outbox.state`.
  ///
  /// - Throws: `corruptRecord`.
  package static func delivery(_ value: [UInt8], _ id: EntryID) throws(StoreError) -> Delivery {
    let span = value.span
    do throws(Malformed) {
      let state = try DeliveryState(decoding: span)
      let phase: PendingEntry.Phase =
        switch state.phase {
        case .waiting: .waiting
        case .inFlight: .inFlight
        case .held: .held
        }
      return Delivery(
        phase: phase, attempts: Int(state.attempts), notBefore: state.notBefore, lastError: state.lastError)
    } catch {
      throw StoreError(.corruptRecord, "The state of the outbox entry \(id) cannot be read: \(error.reason).")
    }
  }

  /// A row of `outbox.dead`.
  ///
  /// - Throws: `corruptRecord`.
  package static func dead(_ value: [UInt8], _ id: EntryID, in store: String) throws(StoreError) -> DeadEntry {
    let span = value.span
    return try DeadEntry(decoding: span, id: id, attachmentsIn: AttachmentFolder(path: "\(store)/attachments"))
  }

  /// A row of `outbox.log`.
  ///
  /// - Throws: `corruptRecord`.
  package static func journal(_ value: [UInt8], _ id: EntryID) throws(StoreError) -> JournalRecord {
    let span = value.span
    do throws(Malformed) {
      return try JournalRecord(id.rawValue, decoding: span)
    } catch {
      throw StoreError(.corruptRecord, "The record \(id) of the journal cannot be read: \(error.reason).")
    }
  }
}

import LMDB

/// Rows of the outbox as a tool finds them that reads the file on its own.
package enum OutboxRow {
  /// What an entry is doing, and how often it has been tried.
  package struct Delivery: Sendable {
    package let phase: PendingEntry.Phase
    package let attempts: Int
    /// The earliest time of its next attempt, by ``Clock``.
    package let notBefore: Int64
    /// When it is given up if it has not been delivered, as an age by ``Clock``; 0 for never.
    package let expiresAt: Int64
    /// When an attempt ended of which nobody knows whether it reached the server, by ``Clock``; 0 if there is none.
    package let ambiguousSince: Int64
    /// Whether it leaves as soon as its attempt has come back.
    package let isCancelRequested: Bool
    /// Why the last attempt failed; empty if none has.
    package let lastError: String
  }

  /// The version of the layout of the outbox's databases: the row `layout` of `outbox.meta`. 1 had no number, and one
  /// queue of what is due; 2 had hashes for the names of lanes, and field tables for entries, which this version reads
  /// and does not write; 3 had the highest number of an entry in `outbox.meta` and not in the journal.
  package static let layout: UInt64 = 4
  package static let layoutKey = Array(layoutName.utf8)
  static let layoutName = "layout"

  /// Reads a number of `outbox.meta`; `nil` if it cannot be read.
  package static func number(_ value: [UInt8]) -> UInt64? { try? value.span.load(UInt64.self, at: 0) }

  /// The outbox's own clock, which is near that of the wall and never goes back: the row `clock` of `outbox.meta`.
  package struct Clock: Sendable {
    package static let key = Array("clock".utf8)
    private let clock: OutboxClock

    /// Reads the row; `nil` if it cannot be read.
    package init?(_ value: [UInt8]) {
      guard let clock = try? OutboxClock(decoding: value.span) else { return nil }
      self.clock = clock
    }

    /// A time of this clock in milliseconds since 1970.
    package func wall(of time: Int64) -> Int64 { clock.wall(of: time) }

    /// A time on the scale of ages in milliseconds since 1970.
    package func wall(ofAge age: Int64) -> Int64 {
      clock.wall(of: age.addingReportingOverflow(clock.time - clock.age).0)
    }
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
        phase: phase, attempts: Int(state.attempts), notBefore: state.notBefore, expiresAt: state.expiresAt,
        ambiguousSince: state.ambiguousSince, isCancelRequested: state.isCancelRequested, lastError: state.lastError)
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

  /// A row of `outbox.pause`; `nil` if it cannot be read.
  package static func pause(_ key: [UInt8], _ value: [UInt8]) -> OutboxScope? {
    key.first.flatMap { OutboxScope(kind: $0, name: String(decoding: value, as: UTF8.self)) }
  }

  /// A row of `outbox.gate`: what is closed, and the time by ``Clock`` after which one may try. `nil` if it cannot be
  /// read.
  package static func gate(_ key: [UInt8], _ value: [UInt8]) -> (kind: SendGate, name: String, until: Int64)? {
    let span = value.span
    guard let kind = key.first.flatMap(SendGate.init(rawValue:)), let gate = try? Gate(decoding: span) else {
      return nil
    }
    return (kind, gate.name, gate.until)
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

import LMDB

/// One thing that happened to an entry of the outbox, as the journal tells it.
public struct JournalRecord: Sendable, Hashable {
  /// What happened.
  public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    /// It was added.
    case enqueued = 1
    /// An attempt was begun.
    case claimed = 2
    /// The server has it.
    case delivered = 3
    /// An attempt failed, and another will be made.
    case retrying = 4
    /// It was given up.
    case died = 5
    /// It was set aside.
    case held = 6
    /// It was taken back by the app; with an attempt above zero, the server may have it.
    case cancelled = 7
    /// A newer entry of the same key took its place.
    case superseded = 8
    /// It was given up because it was too old.
    case expired = 9
    /// It waits again: a dead letter under this new number, or an entry that was held or left in flight.
    case requeued = 10
    /// A dead letter was removed.
    case discarded = 11
    /// The outcome of an attempt that had been given up came late, and changed nothing.
    case late = 12
    /// A replay cursor was moved by the app; the reason says which and where, and the entry is none (0).
    case cursorMoved = 13
  }

  /// Its place: records are numbered from 1, in the order of commits, without gaps.
  public let sequence: UInt64
  /// What happened.
  public let kind: Kind
  /// The entry to which it happened.
  public let entry: EntryID
  /// How many attempts may have reached the server by then.
  public let attempt: Int
  /// Why; empty where the kind says it all.
  public let reason: String
  /// When, in milliseconds since 1970 by the wall clock.
  public let time: Int64
}

/// The append-only record of everything that happens in the outbox; each record is written in the transaction that makes
/// it true.
///
/// A row has the sequence number, big-endian, as its key, and as its value
/// ```
/// u8   format, 1          u8   kind         u16  attempts that may have reached the server
/// u64  entry              i64  time, in milliseconds since 1970
/// the reason, in UTF-8, at most 1000 bytes
/// ```
/// The next number is derived from the last row, so whoever trims must leave that one.
struct Journal: Sendable {
  private static let format: UInt8 = 1
  /// No record has this number or a later one.
  static let end: UInt64 = 1 << 63
  let rows: Database

  /// Costs one put, and for the first record of a transaction a step to the last row.
  @discardableResult
  func append(
    _ kind: JournalRecord.Kind, _ entry: EntryID, attempt: UInt16 = 0, reason: String = "", at time: Int64,
    in transaction: inout WriteTransaction
  ) throws(StoreError) -> UInt64 {
    let last =
      if let known = transaction.lastNumber(of: rows) { known } else { try lastSequence(in: transaction.reader) }
    guard last + 1 < Self.end else { throw notANumber }
    var writer = ShortBytes()
    writer.append(Self.format)
    writer.append(kind.rawValue)
    writer.append(attempt)
    writer.append(entry.rawValue)
    writer.append(time)
    try transaction.set(
      writer, followedBy: reason.cut(toBytes: 1000), forKey: ShortBytes(bigEndian: last + 1), in: rows)
    transaction.rememberLastNumber(last + 1, of: rows)
    return last + 1
  }

  /// The number of the newest record; zero if there has been none.
  func lastSequence(in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    guard let key = try transaction.lastKey(in: rows) else { return 0 }
    return try number(of: key)
  }

  /// The number of the oldest record that is kept; `nil` if there is none.
  func firstSequence(in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64? {
    var cursor = try transaction.cursor(in: rows)
    return try cursor.next() ? try number(of: cursor.key) : nil
  }

  /// The records after a number, in order; each is copied out of the file.
  ///
  /// - Throws: `corruptRecord` if one cannot be read.
  func records(
    after sequence: UInt64, limit: Int, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [JournalRecord] {
    var found: [JournalRecord] = []
    var cursor = try transaction.cursor(in: rows, over: KeyRange(lower: .excluded(sequence.bigEndianBytes)))
    while found.count < limit, try cursor.next() {
      found.append(try record(try number(of: cursor.key), cursor.value))
    }
    return found
  }

  func record(_ sequence: UInt64, _ bytes: Span<UInt8>) throws(StoreError) -> JournalRecord {
    do throws(Malformed) {
      return try JournalRecord(sequence, decoding: bytes)
    } catch {
      throw StoreError(
        .corruptRecord, "The record \(sequence) of \(rows.name) cannot be read: \(error.reason); skip it.")
    }
  }

  private func number(of key: Span<UInt8>) throws(StoreError) -> UInt64 {
    guard let number = Self.number(of: key) else { throw notANumber }
    return number
  }

  private var notANumber: StoreError {
    StoreError(
      .corruptRecord, "A key of \(rows.name) is no number of a record; repair it with `Outbox.verify(repair:)`.")
  }

  /// The number that a key stands for; `nil` for what can be none. No journal gets so far that sums could overflow.
  static func number(of key: Span<UInt8>) -> UInt64? {
    guard key.count == 8, let number = try? key.loadBigEndian(UInt64.self, at: 0), number > 0, number < end else {
      return nil
    }
    return number
  }

  fileprivate static func check(_ bytes: Span<UInt8>) throws(Malformed) {
    guard try bytes.load(UInt8.self, at: 0) == format else { throw Malformed("its format is unknown") }
  }
}

extension JournalRecord {
  init(_ sequence: UInt64, decoding bytes: Span<UInt8>) throws(Malformed) {
    try Journal.check(bytes)
    guard let kind = Kind(rawValue: try bytes.load(UInt8.self, at: 1)) else { throw Malformed("its kind is unknown") }
    self.sequence = sequence
    self.kind = kind
    attempt = Int(try bytes.load(UInt16.self, at: 2))
    entry = EntryID(rawValue: try bytes.load(UInt64.self, at: 4))
    time = try bytes.load(Int64.self, at: 12)
    reason = String(repairing: try bytes.slice(20, bytes.count - 20))
  }
}

extension String {
  /// As much of the text as fits into a number of bytes of UTF-8, without a part of a character at the end.
  func cut(toBytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    var end = utf8.index(utf8.startIndex, offsetBy: limit)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}

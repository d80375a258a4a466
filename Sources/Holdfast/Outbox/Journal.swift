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

  /// Makes a record that is in no journal, so that what follows one can be tested.
  ///
  /// - Parameters:
  ///   - sequence: Its place.
  ///   - kind: What happened.
  ///   - entry: The entry to which it happened.
  ///   - attempt: How many attempts may have reached the server by then.
  ///   - reason: Why.
  ///   - time: When, in milliseconds since 1970.
  public init(sequence: UInt64, kind: Kind, entry: EntryID, attempt: Int = 0, reason: String = "", time: Int64 = 0) {
    self.sequence = sequence
    self.kind = kind
    self.entry = entry
    self.attempt = attempt
    self.reason = reason
    self.time = time
  }
}

/// The append-only record of everything that happens in the outbox; each record is written in the transaction that makes
/// it true.
///
/// A row has the sequence number, big-endian, as its key, and as its value
/// ```
/// u8   format, 2          u8   kind         u16  attempts that may have reached the server
/// u64  entry              i64  time, in milliseconds since 1970
/// u64  the highest number that an entry had been given by then
/// the reason, in UTF-8, at most 1000 bytes
/// ```
/// The next number of a record, and that of an entry, are derived from the last row, so whoever trims must leave that
/// one. Format 1 did not have the highest number, and is still read.
struct Journal: Sendable {
  private static let format: UInt8 = 2
  /// No record has this number or a later one.
  static let end: UInt64 = 1 << 63
  let rows: Database

  /// Where the journal, and the numbers of entries, have come to.
  struct End {
    /// The number of the newest record; zero if there has been none.
    var record: UInt64 = 0
    /// The highest number that an entry has been given; `nil` if the newest record does not say.
    var entry: UInt64?
  }

  /// Costs one put, and for the first record of a transaction a step to the last row.
  ///
  /// For an entry that has just been given its number, `isNew` is set.
  @discardableResult
  func append(
    _ kind: JournalRecord.Kind, _ entry: EntryID, attempt: UInt16 = 0, reason: String = "", isNew: Bool = false,
    at time: Int64, in transaction: inout WriteTransaction
  ) throws(StoreError) -> UInt64 {
    let last = try end(in: transaction)
    guard last.record + 1 < Self.end else { throw notANumber }
    let highest = isNew ? entry.rawValue : last.entry ?? 0
    try transaction.set(
      Self.head(kind, entry, attempt, time, highest), followedBy: reason.cut(toBytes: 1000),
      forKey: ShortBytes(bigEndian: last.record + 1), in: rows)
    transaction.remember((last.record + 1, highest), of: rows)
    return last.record + 1
  }

  private static func head(
    _ kind: JournalRecord.Kind, _ entry: EntryID, _ attempt: UInt16, _ time: Int64, _ highest: UInt64
  ) -> ShortBytes {
    var head = ShortBytes()
    head.append(format)
    head.append(kind.rawValue)
    head.append(attempt)
    head.append(entry.rawValue)
    head.append(time)
    head.append(highest)
    return head
  }

  /// Where the journal has come to, as the transaction remembers it or the last row says.
  func end(in transaction: borrowing WriteTransaction) throws(StoreError) -> End {
    if let known = transaction.remembered(of: rows) {
      return End(record: known.0, entry: known.1 == 0 ? nil : known.1)
    }
    return try end(in: transaction.reader)
  }

  /// Where the journal has come to.
  func end(in transaction: borrowing ReadTransaction) throws(StoreError) -> End {
    let record = try lastSequence(in: transaction)
    guard record > 0, let value = try transaction.value(forKey: ShortBytes(bigEndian: record), in: rows) else {
      return End(record: record)
    }
    return End(record: record, entry: Self.highest(in: value))
  }

  /// The highest number of an entry that any record tells; zero if none does.
  func highestEntry(in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    var cursor = try transaction.cursor(in: rows)
    while try cursor.previous() {
      if let number = Self.highest(in: cursor.value) { return number }
    }
    return 0
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

  /// The highest number of an entry that a record tells; `nil` if it does not.
  private static func highest(in record: Span<UInt8>) -> UInt64? {
    guard record.count >= length(ofFormat: format), record[0] == format,
      let number = record.littleEndian(UInt64.self, at: 20), number > 0
    else { return nil }
    return number
  }

  /// The row with which a record of format 1, or one that is behind, tells the highest number of an entry; `nil` if the
  /// record cannot be read.
  func row(_ sequence: UInt64, _ bytes: Span<UInt8>, telling highest: UInt64) -> [UInt8]? {
    guard let record = try? JournalRecord(sequence, decoding: bytes) else { return nil }
    let head = Self.head(record.kind, record.entry, UInt16(clamping: record.attempt), record.time, highest)
    return head.array + Array(record.reason.utf8)
  }

  /// Where the reason begins.
  fileprivate static func length(ofFormat found: UInt8) -> Int { found == format ? 28 : 20 }

  fileprivate static func format(of bytes: Span<UInt8>) throws(Malformed) -> UInt8 {
    let found = try bytes.load(UInt8.self, at: 0)
    guard (1...format).contains(found) else { throw Malformed("its format is unknown") }
    return found
  }
}

extension JournalRecord {
  init(_ sequence: UInt64, decoding bytes: Span<UInt8>) throws(Malformed) {
    let start = Journal.length(ofFormat: try Journal.format(of: bytes))
    guard let kind = Kind(rawValue: try bytes.load(UInt8.self, at: 1)) else { throw Malformed("its kind is unknown") }
    self.sequence = sequence
    self.kind = kind
    attempt = Int(try bytes.load(UInt16.self, at: 2))
    entry = EntryID(rawValue: try bytes.load(UInt64.self, at: 4))
    time = try bytes.load(Int64.self, at: 12)
    reason = String(repairing: try bytes.slice(start, bytes.count - start))
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

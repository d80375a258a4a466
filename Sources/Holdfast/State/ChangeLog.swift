import LMDB

/// The last changes of the state, in order; its last number is the stamp of the last change.
///
/// A stamp is given inside the write transaction, so stamps have no gaps and follow the order of commits. The log keeps
/// 4,096 changes and up to 63 more, and is what tells other processes.
/// ```
/// u8   what: 0 = a record, 1 = a type, 2 = everything,     u8   1 = too many names to list
///      3 = not known, since the row was lost
/// u16  length of the key or type, then its bytes
/// then for each changed field: u16 length of its name, its bytes
/// ```
struct ChangeLog: Sendable {
  /// How many changes are kept.
  static let limit: UInt64 = 4096
  /// How many are removed at once: each on its own would write a page at the start for each change.
  static let trimming: UInt64 = 64
  /// Those above are only reached by damage.
  static let highestStamp = UInt64.max / 2
  /// How many bytes of names are listed.
  private static let nameLimit = 1024

  let changes: Database

  /// The stamp of the last change; 0 if there has been none.
  func lastStamp(in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    guard let key = try transaction.lastKey(in: changes) else { return 0 }
    return try stamp(key)
  }

  /// Notes a change of a record, and gives it its stamp.
  @discardableResult
  func append(
    _ key: StateKey, fields names: some Sequence<String>, in transaction: inout WriteTransaction
  ) throws(StoreError) -> UInt64 {
    var listed: [String] = []
    var room = Self.nameLimit
    for name in names {
      room -= name.utf8.count + 2
      if room < 0 { break }
      listed.append(name)
    }
    return try append(.record(key, fields: room < 0 ? nil : listed, stamp: 0), in: &transaction)
  }

  /// Notes a change, and gives it its stamp.
  @discardableResult
  func append(_ change: StateChange, in transaction: inout WriteTransaction) throws(StoreError) -> UInt64 {
    let last = try lastStamp(in: transaction.reader)
    guard last < .max else { throw damaged("its last number is the highest there is") }
    let stamp = last + 1
    try transaction.set(change.encoded, forKey: ShortBytes(bigEndian: stamp), in: changes)
    if stamp > Self.limit, stamp % Self.trimming == 0 {
      let end = stamp - Self.limit
      for old in end - (Self.trimming - 1)...end { try transaction.remove(ShortBytes(bigEndian: old), in: changes) }
    }
    return stamp
  }

  /// The changes after a stamp, oldest first, with a marker in front if some are no longer there.
  func changes(
    after last: UInt64, limit: Int, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> (changes: [StateChange], last: UInt64) {
    var found: [StateChange] = []
    var last = last
    let newest = try lastStamp(in: transaction)
    if last > newest {
      // Known from a store that is no more: this one was restored, or begun anew.
      if newest > 0 { found = [.lagged(missed: newest)] }
      last = newest
    }
    guard last < .max else { return (found, last) }
    var cursor = try transaction.cursor(in: changes, over: KeyRange(lower: .included((last + 1).bigEndianBytes)))
    while found.count < limit, try cursor.next() {
      let stamp = try stamp(cursor.key)
      if stamp > last + 1 { add(.lagged(missed: stamp - last - 1), to: &found) }
      do throws(Malformed) {
        add(try StateChange(decoding: cursor.value, stamp: stamp), to: &found)
      } catch {
        throw damaged(error.reason)
      }
      last = stamp
    }
    return (found, last)
  }

  /// Adds a change; what is missed in a row is one thing to tell.
  private func add(_ change: StateChange, to changes: inout [StateChange]) {
    if case .lagged(let missed) = change, case .lagged(let before) = changes.last {
      changes[changes.count - 1] = .lagged(missed: before + missed)
    } else {
      changes.append(change)
    }
  }

  func stamp(_ key: Span<UInt8>) throws(StoreError) -> UInt64 {
    do throws(Malformed) {
      return try key.loadBigEndian(UInt64.self, at: 0)
    } catch {
      throw damaged(error.reason)
    }
  }

  private func damaged(_ reason: String) -> StoreError {
    StoreError(
      .corruptRecord, "A row of \(changes.name) cannot be read: \(reason); repair it with `StateStore.verify(repair:)`."
    )
  }
}

extension StateChange {
  var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 128)
    switch self {
    case .record(let key, let fields, _):
      append(0, isComplete: fields != nil, key.text, &writer)
      for name in fields ?? [] { append(name, &writer) }
    case .removedAll(let type, _): append(1, isComplete: true, type, &writer)
    case .removedEverything: append(2, isComplete: true, "", &writer)
    case .lagged: append(3, isComplete: true, "", &writer)
    }
    return writer.bytes
  }

  private func append(_ kind: UInt8, isComplete: Bool, _ text: String, _ writer: inout ByteWriter) {
    writer.append(kind)
    writer.append(UInt8(isComplete ? 0 : 1))
    append(text, &writer)
  }

  private func append(_ text: String, _ writer: inout ByteWriter) {
    writer.append(UInt16(text.utf8.count))
    writer.append(text: text)
  }

  init(decoding bytes: Span<UInt8>, stamp: UInt64) throws(Malformed) {
    let kind = try bytes.load(UInt8.self, at: 0)
    let isComplete = try bytes.load(UInt8.self, at: 1) == 0
    var offset = 2
    var texts: [String] = []
    while offset < bytes.count {
      let length = Int(try bytes.load(UInt16.self, at: offset))
      texts.append(try bytes.slice(offset + 2, length).text())
      offset += 2 + length
    }
    guard let name = texts.first else { throw Malformed.endsEarly }
    switch kind {
    case 0: self = .record(StateKey(name), fields: isComplete ? Array(texts.dropFirst()) : nil, stamp: stamp)
    case 1: self = .removedAll(type: name, stamp: stamp)
    case 2: self = .removedEverything(stamp: stamp)
    case 3: self = .lagged(missed: 1)
    default: throw Malformed("it tells of an unknown change")
    }
  }
}

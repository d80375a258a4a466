import LMDB
import Synchronization

extension DiskCache {
  /// The bytes stored under a key.
  ///
  /// Costs one walk down the tree and one copy; writes nothing. That the entry was used is noted in memory, and goes to
  /// disk with later writes. The checksum is computed when this process reads the entry for the first time, and again
  /// after the entry has moved in the file or some ten thousand others have been read.
  ///
  /// - Parameter key: Any text, compared by its bytes.
  /// - Returns: The bytes; `nil` if there is no entry, it has expired, or it is damaged.
  /// - Throws: `readersFull`, `closed`, `poisoned`, `damaged` if the file itself is broken, `io`.
  public func value(forKey key: String) throws -> [UInt8]? {
    var bytes: [UInt8]?
    let file = try look(for: key) { _, value, tail in bytes = Array(joining: value, tail) }
    // Not the same closure: one that is used twice costs an allocation.
    if let file { try finish(file, key) { _, value, tail in bytes = Array(joining: value, tail) } }
    return bytes
  }

  /// Runs `body` with the bytes stored under a key, without copying them where they lie in one piece.
  ///
  /// They are in the file's memory map, and a snapshot is held meanwhile: keep `body` short, and do not write to this
  /// cache in it. A value of its own file, and one whose last bytes lie apart (some between 4 and 64 KiB), is copied.
  ///
  /// - Parameters:
  ///   - key: Any text, compared by its bytes.
  ///   - body: Gets the bytes.
  /// - Returns: What `body` returns; `nil` if there is no entry, it has expired, or it is damaged.
  /// - Throws: What `body` throws; otherwise as ``value(forKey:)``.
  public func withValue<R>(forKey key: String, _ body: (Span<UInt8>) throws -> R) throws -> R? {
    var result: R?
    let file = try look(for: key) { _, value, tail in result = try join(value, tail, body) }
    if let file { try finish(file, key) { _, value, tail in result = try join(value, tail, body) } }
    return result
  }

  @inline(__always)
  private func join<R>(_ value: Span<UInt8>, _ tail: Span<UInt8>, _ body: (Span<UInt8>) throws -> R) rethrows -> R {
    if tail.isEmpty { return try body(value) }
    let joined = Array(joining: value, tail)
    return try body(joined.span)
  }

  /// Whether there is an entry that has not expired. Its use is not noted.
  ///
  /// - Parameter key: Any text, compared by its bytes.
  /// - Returns: Whether there is one; its bytes are not looked at.
  /// - Throws: As ``value(forKey:)``.
  public func containsObject(forKey key: String) throws -> Bool {
    var isThere = false
    try withRecord(key) { _, _ in isThere = true }
    return isThere
  }

  /// The bytes under several keys, all from one snapshot.
  ///
  /// - Parameter keys: Any texts.
  /// - Returns: What was found, by key.
  /// - Throws: As ``value(forKey:)``.
  public func values(forKeys keys: [String]) throws -> [String: [UInt8]] {
    try contents(forKeys: keys).mapValues(\.bytes)
  }

  /// The values under several keys, decoded, all from one snapshot.
  ///
  /// - Parameters:
  ///   - keys: Any texts.
  ///   - codec: How they were stored.
  /// - Returns: What was found, by key; an entry of another codec is missing, and so is what cannot be decoded.
  /// - Throws: As ``value(forKey:)``.
  public func objects<Value>(forKeys keys: [String], as codec: some CacheCodec<Value>) throws -> [String: Value] {
    var objects: [String: Value] = [:]
    for (key, found) in try contents(forKeys: keys) {
      if let object = decode(found.bytes, found.record, key, codec) { objects[key] = object }
    }
    return objects
  }

  private func contents(forKeys keys: [String]) throws -> [String: (record: DiskCacheRecord, bytes: [UInt8])] {
    while true {
      if let found = try contentsAtOnce(forKeys: keys) { return found }
    }
  }

  /// What is under several keys; `nil` if a file was gone that belongs to the snapshot.
  private func contentsAtOnce(
    forKeys keys: [String]
  ) throws -> [String: (record: DiskCacheRecord, bytes: [UInt8])]? {
    var found: [String: (record: DiskCacheRecord, bytes: [UInt8])] = [:]
    var rest: [(String, FileOfEntry)] = []
    try environment.read { transaction in
      for key in keys {
        let file = try find(key, in: transaction) { record, value, tail in
          found[key] = (record, Array(joining: value, tail))
        }
        if let file { rest.append((key, file)) }
      }
    }
    for (key, file) in rest {
      if let bytes = try contents(of: file.name, file.record, key) {
        found[key] = (file.record, bytes)
      } else if try version(forKey: key) != file.record.version {
        return nil
      }
    }
    return found
  }

  /// What is done with a value: its record, and its bytes in one or two pieces.
  typealias Use = (DiskCacheRecord, _ value: Span<UInt8>, _ tail: Span<UInt8>) throws -> Void

  /// Reads an entry and notes its use.
  ///
  /// Not generic over a result, and neither is what it calls: the engine is another module, to which a type that it does
  /// not know costs thousands of instructions a read.
  ///
  /// - Returns: The number of the commit that was read.
  @discardableResult
  func read(_ key: String, _ body: Use) throws -> Int {
    var file: FileOfEntry?
    var commit = 0
    try environment.read { transaction in
      commit = transaction.id
      file = try find(key, in: transaction, body)
    }
    if let file, let newer = try finish(file, key, body) { commit = newer }
    return commit
  }

  /// The number of a commit in which the entry of a key is still of a version; the newest. `nil` if it is not.
  func commit(with version: UInt64, forKey key: String) throws -> Int? {
    var commit: Int?
    try environment.read { transaction in
      try withEntry(key, in: transaction) { record, _, _ in
        if record.version == version { commit = transaction.id }
      }
    }
    return commit
  }

  /// What a look into a snapshot leaves to read after it.
  struct FileOfEntry {
    let record: DiskCacheRecord
    let name: DiskCacheFileName

    init(_ record: DiskCacheRecord, in bytes: Span<UInt8>) {
      self.record = record
      name = DiskCacheFileName(record, in: bytes)
    }
  }

  /// The file of an entry that has one, whose use is noted.
  func file(forKey key: String) throws -> FileOfEntry? {
    var file: FileOfEntry?
    try environment.read { transaction in
      try withEntry(key, in: transaction) { record, found, known in
        guard record.flags == .file, isIntact(record, found, known, key) else { return }
        hits.increase()
        note(record)
        file = FileOfEntry(record, in: found.head)
      }
    }
    return file
  }

  /// As ``read(_:_:)``, compiled into its caller: what happens on a hit is in one function.
  @inline(__always)
  private func look(for key: String, _ body: Use) throws -> FileOfEntry? {
    var file: FileOfEntry?
    try environment.read { transaction in file = try find(key, in: transaction, body) }
    return file
  }

  @inline(__always)
  private func find(_ key: String, in transaction: borrowing ReadTransaction, _ body: Use) throws -> FileOfEntry? {
    var file: FileOfEntry?
    var isFound = false
    try withEntry(key, in: transaction) { record, found, known in
      guard isIntact(record, found, known, key) else { return }
      isFound = true
      // After the copy: to count what other threads count too makes the processor wait for all that it has begun.
      defer {
        hits.increase()
        note(record)
      }
      if record.flags == .file {
        file = FileOfEntry(record, in: found.head)
      } else {
        let head = found.head
        try body(record, head.extracting(record.valueOffset..<head.count), found.tail)
      }
    }
    if !isFound { misses.increase() }
    return file
  }

  /// Reads the file of an entry.
  ///
  /// - Returns: The number of a later commit, if that was read.
  @discardableResult
  private func finish(_ file: FileOfEntry, _ key: String, _ body: Use) throws -> Int? {
    if let bytes = try contents(of: file.name, file.record, key) {
      try body(file.record, bytes.span, Span())
    } else if let newer = try version(forKey: key), newer != file.record.version {
      // Replaced between the look at its name and that at its content: the value that is there now counts.
      return try read(key, body)
    }
    return nil
  }

  /// Runs `body` with the record of an entry that has not expired, if there is one, with its rows, and with the version
  /// that was known where they lie.
  @inline(__always)
  private func withEntry(
    _ key: String, in transaction: borrowing ReadTransaction,
    _ body: (DiskCacheRecord, borrowing SplitValue, _ known: UInt64) throws -> Void
  ) throws {
    if DiskCacheKey.isPlain(key) {
      // As it is, without another key of it: most reads take this way.
      let found = try transaction.value(
        forKey: key, with: cursors, splitBy: DiskCacheRecord.splitMark, fetching: known.versions)
      if let found { try use(found, key, [], in: transaction, body) }
    } else {
      let other = try DiskCacheKey(key)
      let found = try transaction.value(
        forKey: other.bytes.span, with: cursors, splitBy: DiskCacheRecord.splitMark, fetching: known.versions)
      if let found { try use(found, key, other.full, in: transaction, body) }
    }
  }

  @inline(__always)
  private func use(
    _ found: borrowing SplitValue, _ key: String, _ full: [UInt8], in transaction: borrowing ReadTransaction,
    _ body: (DiskCacheRecord, borrowing SplitValue, _ known: UInt64) throws -> Void
  ) throws {
    let known = known.version(at: found.place)
    guard let record = try record(found.head, key, full, in: transaction) else { return }
    entryHits.prepare(record.version)
    if found.isTailMissing { return reportDamage(key, record.version) }
    try body(record, found, known)
  }

  /// Runs `body` with the record and the row of an entry that has not expired, if there is one, in a snapshot of its own.
  func withRecord(_ key: String, _ body: (DiskCacheRecord, Span<UInt8>) throws -> Void) throws {
    try environment.read { transaction in
      try withEntry(key, in: transaction) { record, found, _ in try body(record, found.head) }
    }
  }

  /// The record in some bytes, if it is of this key and alive.
  @inline(__always)
  private func record(
    _ bytes: Span<UInt8>, _ key: String, _ full: [UInt8], in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> DiskCacheRecord? {
    guard let record = DiskCacheRecord(bytes) else {
      reportDamage(key, 0)
      return nil
    }
    if !full.isEmpty {
      let extra = try? DiskCacheExtra(record, in: bytes)
      // Another key with the same hash.
      if extra?.fullKey != full { return nil }
    }
    if record.expiresAt == 0 && ageLimit.load(ordering: .relaxed) == .max { return record }
    return try isOver(record, at: system.time.now(), in: transaction) ? nil : record
  }

  /// Whether the time of an entry is over.
  @inline(never)
  func isOver(
    _ record: DiskCacheRecord, at now: Int64, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Bool {
    try tables.isOver(
      record, at: now, ageLimit: ageLimit.load(ordering: .relaxed), noted: touches.time(of: record.version),
      in: transaction)
  }

  /// Whether the bytes of an entry are those that were written: checked when it is read for the first time.
  @inline(__always)
  private func isIntact(
    _ record: DiskCacheRecord, _ found: borrowing SplitValue, _ known: UInt64, _ key: String
  ) -> Bool {
    known == record.version || check(record, found.head, found.tail, found.place, key)
  }

  @inline(never)
  private func check(
    _ record: DiskCacheRecord, _ head: Span<UInt8>, _ tail: Span<UInt8>, _ place: UInt64, _ key: String
  ) -> Bool {
    let tree = try? DiskCacheKey(key).bytes
    guard let tree, record.isIntact(head, tail: tail, under: tree.span) else {
      reportDamage(key, record.version)
      return false
    }
    known.remember(record.version, at: place)
    return true
  }

  /// Notes that a value was used, from whichever half.
  @inline(__always)
  func note(_ record: DiskCacheRecord) {
    entryHits.count(record.version)
    let now = system.time.roughNow()
    let interval = touchInterval
    if now - Int64(clamping: record.stamp / 1000) >= interval {
      touches.note(
        DiskCacheTouches.Touch(version: record.version, stamp: record.stamp, priority: record.priority, time: now),
        every: interval / 2)
    }
  }

  /// How old an entry's place in the order of use must be before a read moves it, in ms.
  var touchInterval: Int64 { Limits.touchInterval(ageLimit.load(ordering: .relaxed)) }

  /// The bytes of a file.
  private func contents(
    of file: DiskCacheFileName, _ record: DiskCacheRecord, _ key: String
  ) throws(StoreError) -> [UInt8]? {
    if let bytes = try folder.read(file.name, length: record.length, checksum: file.checksum) { return bytes }
    // It may have been replaced between the look at its name and that at its content: then it is not damaged.
    if try version(forKey: key) == record.version { reportDamage(key, record.version) }
    return nil
  }

  /// The version of an entry in a snapshot.
  func version(forKey key: String, in transaction: borrowing ReadTransaction) throws -> UInt64? {
    var version: UInt64?
    try withEntry(key, in: transaction) { record, _, _ in version = record.version }
    return version
  }

  /// The version of an entry, unless a read has found it damaged: such an entry counts as none.
  func soundVersion(of key: DiskCacheKey, in transaction: borrowing ReadTransaction) throws -> UInt64? {
    guard let version = try version(forKey: key.text, in: transaction) else { return nil }
    return state.update { $0.damaged[key] == version } ? nil : version
  }

  /// The version of the entry that is there now.
  func version(forKey key: String) throws(StoreError) -> UInt64? {
    do {
      var version: UInt64?
      try environment.read { transaction in version = try self.version(forKey: key, in: transaction) }
      return version
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.io, "The entry \(key) of \(path) could not be read: \(error); try again.")
    }
  }

  /// Has the next write remove an entry that is damaged, unless it has been written anew by then.
  func reportDamage(_ key: String, _ version: UInt64) {
    guard let stored = try? DiskCacheKey(key) else { return }
    let isNew = state.update { state in
      if state.damaged.count >= 256 { state.damaged.removeAll() }
      return state.damaged.updateValue(version, forKey: stored) != version
    }
    if isNew { eventStreams.send([.damagedEntry(key: key)]) }
  }
}

/// What the record of an entry says of its file.
struct DiskCacheFileName: Sendable, Hashable {
  let name: UInt64
  let checksum: UInt64

  init(_ record: DiskCacheRecord, in bytes: Span<UInt8>) {
    name = bytes.littleEndian(UInt64.self, at: record.valueOffset) ?? 0
    checksum = bytes.littleEndian(UInt64.self, at: record.valueOffset + 8) ?? 0
  }
}

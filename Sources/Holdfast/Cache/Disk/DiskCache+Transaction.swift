import LMDB

extension DiskCache {
  /// Reads and changes several entries as one: nobody, in whatever process, sees a part of the changes, and no other
  /// change of what was read comes in between.
  ///
  /// ```swift
  /// let cache = try DiskCache.open(at: "/var/lib/app/cache")
  /// try cache.transaction { transaction in
  ///   guard let draft = try transaction.value(forKey: "draft") else { return }
  ///   try transaction.setValue(draft, forKey: "sent")
  ///   try transaction.removeObject(forKey: "draft")
  /// }
  /// ```
  ///
  /// `body` runs outside every lock, and again if somebody else has changed what it read; so it should do nothing but
  /// this. What it reads is of one moment. The changes are one commit, and without any there is none. The limits hold
  /// after it, as after any other write, and may take the least recently used entries away.
  ///
  /// - Parameter body: Reads and changes; lets the errors of its reads through.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or `invalidValue` if the limits do not admit one of the values; then nothing has
  ///   changed. Otherwise as `setValue(_:forKey:options:)`.
  public func transaction<R>(_ body: (inout Transaction) throws -> R) throws -> R {
    while true {
      var transaction = Transaction(self)
      let result: Result<R, any Error>
      do {
        result = .success(try body(&transaction))
      } catch {
        result = .failure(error)
      }
      // Whatever came of what was never so is nothing.
      if transaction.isOutdated { continue }
      let value = try result.get()
      if try commit(transaction) { return value }
    }
  }

  /// As the synchronous form, on another thread.
  ///
  /// - Parameter body: Reads and changes; lets the errors of its reads through.
  /// - Returns: What `body` returns.
  /// - Throws: As the synchronous form.
  public func transaction<R: Sendable>(
    _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    try await Background.run { [self] in try transaction(body) }
  }

  /// Stores the changes, if what was read is still there.
  ///
  /// - Returns: Whether it was.
  private func commit(_ changed: Transaction) throws -> Bool {
    if changed.changes.isEmpty { return true }
    try prepareToWrite()
    return try write { edit, transaction in
      for (key, version) in changed.reads {
        let found = try edit.record(key.bytes, in: transaction.reader).record
        let expected = version.map { DiskCacheEdit.NewEntry.Expected.version($0) } ?? .nothing
        guard try edit.isExpected(found, expected, in: transaction.reader) else { return false }
      }
      for (key, change) in changed.changes {
        guard let pending = change.pending else {
          try edit.remove(key.bytes, as: .removed, in: &transaction)
          continue
        }
        if try pending.set(&edit, &transaction).result == .rejected {
          throw StoreError(
            .invalidValue,
            "The limits of the cache do not admit the value of \(key.text); raise them, or leave it out.")
        }
      }
      return true
    }
  }

  /// What a transaction has read, and is going to change.
  public struct Transaction {
    private let cache: DiskCache
    /// The version of each entry that was read; `nil` where there was none.
    fileprivate private(set) var reads: [DiskCacheKey: UInt64?] = [:]
    /// In the order in which the keys were first changed.
    fileprivate private(set) var changes: [(key: DiskCacheKey, change: Change)] = []
    private var places: [DiskCacheKey: Int] = [:]
    /// The commit of which all that was read is.
    private var commit: Int?
    /// Whether two things were read that were never there together.
    fileprivate private(set) var isOutdated = false

    /// A value, or nothing, in place of what is there.
    fileprivate struct Change {
      var bytes: [UInt8] = []
      var codec = CacheCodecID.bytes
      var pending: PendingEntry?
    }

    /// Ends a run of a body.
    private struct Outdated: Error {}

    fileprivate init(_ cache: DiskCache) { self.cache = cache }

    /// The keys that are changed.
    var changedKeys: [String] { changes.map(\.key.text) }

    /// The bytes under a key, as they are after the changes so far.
    ///
    /// - Parameter key: Any text.
    /// - Returns: The bytes; `nil` if there is no entry.
    /// - Throws: As ``DiskCache/value(forKey:)``, and if somebody has changed what was read before: then `body` is to
    ///   end, and runs again.
    public mutating func value(forKey key: String) throws -> [UInt8]? { try content(key)?.bytes }

    /// The value under a key, decoded, as it is after the changes so far.
    ///
    /// - Parameters:
    ///   - key: Any text.
    ///   - codec: How it is stored.
    /// - Returns: The value; `nil` if there is no entry, another codec wrote it, or it cannot be decoded.
    /// - Throws: As ``value(forKey:)``.
    public mutating func object<C: CacheCodec>(forKey key: String, as codec: C) throws -> C.Value? {
      try content(key).flatMap { try? codec.value(of: $0.bytes, storedAs: $0.codec) }
    }

    /// Has bytes stored under a key, in place of what is there.
    ///
    /// - Parameters:
    ///   - value: The bytes. Those beyond ``DiskCache/Configuration/inlineThreshold`` go to a file right away, which stays
    ///     open until the commit.
    ///   - key: Any text.
    ///   - options: Expiry, cost, tags and the like.
    /// - Throws: `invalidKey` or `invalidValue` for what cannot be stored; `diskFull` or `io` from a file.
    public mutating func setValue(
      _ value: [UInt8], forKey key: String, options: CacheEntryOptions = CacheEntryOptions()
    ) throws {
      try set(value, .bytes, key, options)
    }

    /// Has a value encoded and stored under a key, in place of what is there; `nil` removes the entry.
    ///
    /// - Parameters:
    ///   - object: The value.
    ///   - key: Any text.
    ///   - codec: How to store it.
    ///   - options: Expiry, cost, tags and the like.
    /// - Throws: What the codec throws; otherwise as `setValue(_:forKey:options:)`.
    public mutating func setObject<C: CacheCodec>(
      _ object: C.Value?, forKey key: String, as codec: C, options: CacheEntryOptions = CacheEntryOptions()
    ) throws {
      guard let object else { return try removeObject(forKey: key) }
      try set(try codec.encode(object), codec.id, key, options)
    }

    /// Has the entry of a key removed.
    ///
    /// - Parameter key: Any text.
    /// - Throws: `invalidKey` for one that is too long.
    public mutating func removeObject(forKey key: String) throws { change(try DiskCacheKey(key), Change()) }

    private mutating func set(
      _ value: [UInt8], _ codec: CacheCodecID, _ key: String, _ options: CacheEntryOptions
    ) throws {
      let pending = try cache.pendingEntry(value, key, codec, options)
      change(pending.entry.key, Change(bytes: value, codec: codec, pending: pending))
    }

    private mutating func change(_ key: DiskCacheKey, _ change: Change) {
      if let place = places[key] {
        changes[place].change = change
      } else {
        places[key] = changes.count
        changes.append((key, change))
      }
    }

    private mutating func content(_ key: String) throws -> (bytes: [UInt8], codec: CacheCodecID)? {
      let stored = try DiskCacheKey(key)
      if let place = places[stored] {
        let change = changes[place].change
        return change.pending == nil ? nil : (change.bytes, change.codec)
      }
      var found: (bytes: [UInt8], codec: CacheCodecID)?
      var version: UInt64?
      let commit = try cache.read(key) { record, bytes, tail in
        found = (Array(joining: bytes, tail), record.codec)
        version = record.version
      }
      let first = reads[stored] ?? version
      reads[stored] = .some(first)
      if first != version { throw outdated() }
      if self.commit ?? commit != commit { try check() } else { self.commit = commit }
      return found
    }

    /// Sees to it that all that was read is of one moment.
    private mutating func check() throws {
      commit = nil
      try cache.environment.read { transaction in
        for (key, version) in reads where try cache.soundVersion(of: key, in: transaction) != version { return }
        commit = transaction.id
      }
      if commit == nil { throw outdated() }
    }

    private mutating func outdated() -> Outdated {
      isOutdated = true
      return Outdated()
    }
  }
}

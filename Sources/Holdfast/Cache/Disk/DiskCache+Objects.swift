extension DiskCache {
  /// The value stored under a key, decoded.
  ///
  /// It is decoded outside every lock and transaction. An entry that another codec wrote counts as missing, unless
  /// ``CacheCodec/migrate(_:from:)`` knows better; so does one that cannot be decoded, which is reported as an event and
  /// removed with the next write.
  ///
  /// - Parameters:
  ///   - key: Any text, compared by its bytes.
  ///   - codec: How it was stored.
  /// - Returns: The value, or `nil`.
  /// - Throws: As ``value(forKey:)``.
  public func object<C: CacheCodec>(forKey key: String, as codec: C) throws -> C.Value? {
    guard let found = try stored(key) else { return nil }
    return decode(found.bytes, found.record, key, codec)
  }

  /// The bytes of an entry, what is known of it, and the commit that was read.
  func stored(_ key: String) throws -> (bytes: [UInt8], record: DiskCacheRecord, commit: Int)? {
    var found: (bytes: [UInt8], record: DiskCacheRecord)?
    let commit = try read(key) { record, value, tail in found = (Array(joining: value, tail), record) }
    return found.map { ($0.bytes, $0.record, commit) }
  }

  /// The value of some bytes; `nil` if they are not of that codec, or damaged, which is reported.
  func decode<Value>(
    _ bytes: [UInt8], _ record: DiskCacheRecord, _ key: String, _ codec: some CacheCodec<Value>
  ) -> Value? {
    do {
      return try codec.value(of: bytes, storedAs: record.codec)
    } catch {
      reportDamage(key, record.version)
      return nil
    }
  }

  /// Encodes a value and stores it under a key, in place of what is there; `nil` removes the entry.
  ///
  /// - Parameters:
  ///   - object: The value.
  ///   - key: Any text.
  ///   - codec: How to store it.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it is there.
  /// - Throws: What the codec throws, and then nothing has changed; otherwise as
  ///   `setValue(_:forKey:options:)`.
  @discardableResult
  public func setObject<C: CacheCodec>(
    _ object: C.Value?, forKey key: String, as codec: C, options: CacheEntryOptions = CacheEntryOptions()
  ) throws -> CacheStoreResult {
    guard let object else {
      try removeObject(forKey: key)
      return .stored
    }
    return try setValue(try codec.encode(object), forKey: key, codec: codec.id, options: options).result
  }

  /// What is known of an entry, without its value.
  public struct EntryInfo: Sendable, Hashable {
    /// The length of the value in bytes.
    public let length: Int
    /// Which write made it: no other of this cache has the same; see `replaceValue(_:forKey:ifVersion:options:)`.
    public let version: UInt64
    /// What it counts against ``Limits/costLimit``.
    public let cost: Int
    /// When it expires, in ms since 1970; `nil` is never.
    public let expiresAt: Int64?
    /// When it was last used, in ms since 1970, to about a minute.
    public let lastUsedAt: Int64
    /// When it was written, in ms since 1970.
    public let writtenAt: Int64
    /// How often its value was read since it was written, from either half; there may have been more hits, not fewer.
    ///
    /// Those of this process count at once, for some ten thousand entries at a time. Those of other processes, and from
    /// before the cache was opened, count as far as later writes have brought them to disk, which they do together with
    /// the order of use: at most once a minute for an entry, and not in the first minute after it was written.
    public let hits: Int
    /// Its tags.
    public let tags: [String]
    /// What was stored beside the value.
    public let extendedData: [UInt8]
    /// How long it stays when the cache is full.
    public let priority: CachePriority
    /// In which form it is stored.
    public let codec: CacheCodecID
    /// Whether it has a file of its own.
    public let isFile: Bool
  }

  /// What is known of the entry of a key. Its use is not noted, and its value is not checked.
  ///
  /// - Parameter key: Any text.
  /// - Returns: The facts; `nil` if there is no entry or it has expired.
  /// - Throws: As ``value(forKey:)``.
  public func info(forKey key: String) throws -> EntryInfo? {
    var found: (DiskCacheRecord, DiskCacheExtra?)?
    try withRecord(key) { record, bytes in found = (record, try? DiskCacheExtra(record, in: bytes)) }
    guard let (record, extra) = found else { return nil }
    let use = try environment.read { transaction in try tables.use(of: record, in: transaction) }
    return EntryInfo(
      length: record.length, version: record.version, cost: Int(record.cost),
      expiresAt: record.expiresAt == 0 ? nil : record.expiresAt,
      lastUsedAt: max(Int64(clamping: use.last / 1000), touches.time(of: record.version) ?? 0),
      writtenAt: Int64(clamping: record.version / 1000),
      hits: Int(clamping: use.hits(of: record.version) &+ entryHits.number(record.version)),
      tags: (extra?.tags ?? []).map { String(decoding: $0, as: UTF8.self) }, extendedData: extra?.extendedData ?? [],
      priority: record.priority, codec: record.codec, isFile: record.flags == .file)
  }
}

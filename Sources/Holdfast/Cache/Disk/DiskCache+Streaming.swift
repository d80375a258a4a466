import LMDB

extension DiskCache {
  /// Runs `body` with the value of a key as an open file.
  ///
  /// A value that has no file of its own is written to one first, which has no name and is gone with `body`. Of a
  /// value that has one only the length is checked here, not every byte.
  ///
  /// - Parameters:
  ///   - key: Any text, compared by its bytes.
  ///   - body: Gets the file; it may take long, and may use the cache.
  /// - Returns: What `body` returns; `nil` if there is no entry, it has expired, or its file is gone.
  /// - Throws: What `body` throws; `diskFull`, `io`; otherwise as ``value(forKey:)``.
  public func withFile<R>(forKey key: String, _ body: (borrowing DiskCacheFile) throws -> R) throws -> R? {
    // Between the look at the name and the opening, the value may be replaced; then there is another file.
    for _ in 0..<3 {
      guard let found = try file(forKey: key) else { return try withCopy(forKey: key, body) }
      let (record, name) = (found.record, found.name)
      guard let file = try folder.open(name.name) else { continue }
      guard try file.size() == record.length else {
        reportDamage(key, record.version)
        return nil
      }
      return try body(DiskCacheFile(file, count: record.length))
    }
    if let version = try version(forKey: key) { reportDamage(key, version) }
    return nil
  }

  /// Stores a value that is written in parts, in a file of its own, whatever its length: memory does not grow with it.
  ///
  /// Until it is complete, readers see what was there before.
  ///
  /// - Parameters:
  ///   - key: Any text up to 65,535 bytes.
  ///   - options: Expiry, cost, tags and the like.
  ///   - body: Writes the value. If it throws, nothing is stored.
  /// - Returns: Whether it is there.
  /// - Throws: What `body` throws; otherwise as `setValue(_:forKey:options:)`.
  @discardableResult
  public func setFile(
    forKey key: String, options: CacheEntryOptions = CacheEntryOptions(),
    _ body: (inout DiskCacheWriter) throws -> Void
  ) throws -> CacheStoreResult {
    try options.validate()
    let key = try DiskCacheKey(key)
    try prepareToWrite()
    var writer = DiskCacheWriter(file: try folder.begin())
    try body(&writer)
    let file = writer.file
    try file.finish()
    let entry = DiskCacheEdit.NewEntry(
      key: key, options: options, file: file.reference, standardExpiration: configuration.expiresAfter)
    let pending = PendingEntry(value: [], entry: entry, file: file)
    return try write { edit, transaction in try pending.set(&edit, &transaction).result }
  }

  private func withCopy<R>(forKey key: String, _ body: (borrowing DiskCacheFile) throws -> R) throws -> R? {
    guard let bytes = try value(forKey: key) else { return nil }
    let staged = try folder.begin()
    try staged.write(bytes.span)
    guard let file = try folder.open(staged.name) else { return nil }
    folder.remove([staged.name])
    return try body(DiskCacheFile(file, count: bytes.count))
  }
}

import LMDB
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A cache of values by key: decoded ones in memory, all of them on disk.
///
/// ```swift
/// let cache = try Cache(at: "/var/lib/app/names", codec: StringCodec())
/// try await cache.setObject("Ada", forKey: "user:42")
/// let name = try await cache.object(forKey: "user:43", policy: .init(freshFor: .seconds(600))) { "Grace" }
/// ```
///
/// The content is that of ``diskCache``; ``memoryCache`` saves reading and decoding it again. A value from memory is
/// given out only if it is still the one on disk: for that a hit compares the number of the newest commit, and looks the
/// entry up only after other commits. So nothing that was replaced, removed or evicted comes back, however gets, sets
/// and removals race, also with ``diskCache`` itself, with other caches on the same directory and with other processes.
///
/// Thread-safe. Reads are synchronous, also in tasks: they wait for no writer.
public final class Cache<Value: Sendable>: Sendable {
  /// The decoded values; for its limits, trims and figures. What it is given by others than this cache, nobody sees.
  /// What the disk half evicts or loses otherwise is not taken out of here at once: it is never given out again, and goes
  /// when it is asked for or when this half needs the room.
  public let memoryCache: MemoryCache<CacheKey, CachedObject<Value>>
  /// The bytes; for its limits, trims, figures and events. It may be changed directly.
  public let diskCache: DiskCache
  /// How values are stored.
  public let codec: any CacheCodec<Value>

  let flights = Monitor<[CacheKey: CacheFlight<Value>]>([:])
  let counts = Guarded(CacheStatistics())

  /// Puts a memory cache before a disk cache.
  ///
  /// A value that the codec cannot decode is taken for damaged: it counts as missing, and the next write removes it. So
  /// change the version of the codec's ``CacheCodec/id`` together with the type, as ``JSONCodec/init(version:)`` allows:
  /// what the older version stored then is only missing, and stays for those who can read it until it is replaced.
  ///
  /// - Parameters:
  ///   - diskCache: An open disk cache.
  ///   - codec: How values are stored.
  ///   - memoryCache: An empty memory cache; the default takes 15 % of the memory, at most 256 MB.
  public init(
    _ diskCache: DiskCache, codec: some CacheCodec<Value>,
    memoryCache: MemoryCache<CacheKey, CachedObject<Value>> = MemoryCache()
  ) {
    self.diskCache = diskCache
    self.memoryCache = memoryCache
    self.codec = codec
  }

  /// Opens the cache in a directory, or makes a new one.
  ///
  /// - Parameters:
  ///   - path: A directory for this cache alone; it is made if it is missing, its parent is not.
  ///   - codec: How values are stored.
  ///   - configuration: Limits, durability and the like of the disk half.
  ///   - memoryCache: An empty memory cache; the default takes 15 % of the memory, at most 256 MB.
  /// - Throws: As ``DiskCache/open(at:configuration:)``.
  public convenience init(
    at path: String, codec: some CacheCodec<Value>,
    configuration: DiskCache.Configuration = DiskCache.Configuration(),
    memoryCache: MemoryCache<CacheKey, CachedObject<Value>> = MemoryCache()
  ) throws(StoreError) {
    self.init(
      try DiskCache.open(at: path, configuration: configuration), codec: codec, memoryCache: memoryCache)
  }

  /// Opens the cache of a name in the user's folder for caches, or makes a new one.
  ///
  /// That folder is `~/.cache` on Linux. On Apple's systems the system may empty it when the disk is full.
  ///
  /// - Parameters:
  ///   - name: The name of a folder.
  ///   - codec: How values are stored.
  ///   - configuration: Limits, durability and the like of the disk half.
  /// - Throws: As ``DiskCache/open(at:configuration:)``.
  public convenience init(
    name: String, codec: some CacheCodec<Value>, configuration: DiskCache.Configuration = DiskCache.Configuration()
  ) throws(StoreError) {
    guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
      throw StoreError(.invalidOption, "\"\(name)\" is not the name of a folder; use one without slashes.")
    }
    guard let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?.path else {
      throw StoreError(.notFound, "The system names no folder for caches; open \(name) at a path.")
    }
    try FileSystem.makeDirectory(folder)
    try self.init(at: "\(folder)/\(name)", codec: codec, configuration: configuration)
  }

  /// The value of a key.
  ///
  /// From memory it costs a look-up there and a comparison with the newest commit, or, after other commits, a look-up in
  /// the tree; otherwise a read and the codec. Writes nothing.
  ///
  /// - Parameter key: Any text, compared by its bytes.
  /// - Returns: The value; `nil` if there is none, it has expired, or it cannot be decoded.
  /// - Throws: As ``DiskCache/value(forKey:)``.
  public func object(forKey key: String) throws -> Value? { try entry(forKey: key)?.value }

  /// Whether there is a value that has not expired. Does not count as a use.
  ///
  /// - Parameter key: Any text, compared by its bytes.
  /// - Returns: Whether there is one.
  /// - Throws: As ``DiskCache/value(forKey:)``.
  public func containsObject(forKey key: String) throws -> Bool { try diskCache.containsObject(forKey: key) }

  /// The value of a key; `nil` as a new value removes it.
  ///
  /// What ``object(forKey:)`` and `setObject(_:forKey:options:)` would throw is an event of ``diskCache``
  /// here, and the value counts as missing.
  public subscript(key: String) -> Value? {
    get { reporting(key) { try object(forKey: key) } ?? nil }
    set { _ = reporting(key) { try setObject(newValue, forKey: key) } }
  }

  /// The value of a key and what is known of it.
  func entry(forKey key: String) throws -> CachedObject<Value>? {
    if let found = memoryCache.object(forKey: CacheKey(key)) {
      if try isCurrent(found, key) {
        diskCache.note(found.record)
        return found
      }
      memoryCache.removeObject(forKey: CacheKey(key))
    }
    guard let (bytes, record, commit) = try diskCache.stored(key) else { return nil }
    guard let value = diskCache.decode(bytes, record, key, codec) else { return nil }
    let found = CachedObject(value, record, commit: commit)
    remember(found, key)
    return found
  }

  /// Whether a value from memory is the one on disk.
  private func isCurrent(_ found: CachedObject<Value>, _ key: String) throws -> Bool {
    if found.record.expiresAt != 0 && found.record.expiresAt <= diskCache.system.time.now() { return false }
    // With an age limit, only the tree and the notes of reads tell whether its time is over.
    if diskCache.ageLimit.load(ordering: .relaxed) == .max,
      found.commit.load(ordering: .relaxed) == (try diskCache.environment.lastTransactionID)
    {
      return true
    }
    guard let commit = try diskCache.commit(with: found.record.version, forKey: key) else { return false }
    found.commit.store(commit, ordering: .relaxed)
    return true
  }

  func remember(_ object: CachedObject<Value>, _ key: String) {
    let cost = object.record.length + key.utf8.count + MemoryBudget.entryCost(CacheKey.self, Value.self)
    memoryCache.setObject(
      object, forKey: CacheKey(key), cost: cost, isPinned: object.record.priority == .pinned)
  }

  func reporting<R>(_ key: String, _ body: () throws -> R) -> R? {
    do {
      return try body()
    } catch {
      report(error, key)
      return nil
    }
  }

  func report(_ error: any Error, _ key: String) {
    let failure = error as? StoreError ?? StoreError(.io, "The value of \(key) could not be cached: \(error)")
    diskCache.eventStreams.send([.accessFailed(key: key, failure)])
  }
}

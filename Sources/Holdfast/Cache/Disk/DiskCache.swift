import LMDB
import Synchronization

/// A cache on disk: bytes by key, with limits, expiry and tags, in a directory of its own.
///
/// ```swift
/// let cache = try DiskCache.open(
///   at: "/var/lib/app/cache", configuration: .init(limits: .init(costLimit: 500 << 20, ageLimit: .seconds(604_800))))
/// try cache.setValue([1, 2, 3], forKey: "thumbnail:42", options: .init(expiration: .after(.seconds(3600))))
/// let bytes = try cache.value(forKey: "thumbnail:42")
/// ```
///
/// Thread-safe, and for several processes at once. Reads take no lock that a writer holds, never wait for one, and
/// never write. A write is one commit, with the eviction that it makes necessary: when it returns, the limits hold, and
/// the totals are exact. The synchronous calls block for the disk; the asynchronous ones write on a thread of the cache.
///
/// Opening never deletes anything: see ``Configuration/DamagePolicy``.
public final class DiskCache: Sendable {
  /// The directory that holds the cache, absolute and without symbolic links.
  public var path: String { environment.path }
  /// How it was opened.
  public let configuration: Configuration

  let environment: Environment
  let tables: DiskCacheTables
  /// Cursors of the entries for reads. Here, as what follows, since a read takes what it needs from this object without
  /// counting references, but not from one behind it.
  let cursors: CursorPool
  let entryHits = DiskCacheHits()
  let hits = Tally()
  let misses = Tally()
  let folder: DiskCacheFolder
  let sync: DiskCacheSync
  let system: CacheSystem
  let touches = DiskCacheTouches()
  let eventStreams: CacheStreams<CacheEvent>
  let changes = CacheStreams<CacheChange>()
  let counts = Guarded(DiskCacheStatistics())
  let state: Guarded<State>
  /// The age limit in ms, for reads, which take no lock for it.
  let ageLimit: Atomic<Int64>
  /// When somebody last looked whether the directory is still there, in ms since 1970.
  let lookedAt = Atomic<Int64>(0)

  /// What changes while it is open.
  struct State {
    var limits: Limits
    /// Whether the content may be far beyond the limits.
    var mustTrim = true
    /// The entries that were found damaged, and in which version.
    var damaged: [DiskCacheKey: UInt64] = [:]
    /// Whether files that no entry names were looked for.
    var hasSwept = false
    /// How many background turns to leave out before the disk's free space is looked after again.
    var reliefPause = 0
    var nextReliefPause = 1
  }

  /// How much it may hold. A change counts from the next write on; `trim()` applies it at once.
  public var limits: Limits {
    get { state.update { $0.limits } }
    set {
      ageLimit.store(newValue.ageLimitInMilliseconds, ordering: .relaxed)
      state.update { state in
        state.limits = newValue
        state.mustTrim = true
      }
    }
  }

  /// What the cache does on its own from now on; what happened when it was opened goes to the first who asks.
  ///
  /// Each call gives another stream. One that is not read loses the oldest of more than 1,024 events.
  public var events: AsyncStream<CacheEvent> { eventStreams.stream() }

  private init(
    _ environment: Environment, _ configuration: Configuration, _ mark: DiskCacheMark,
    _ events: CacheStreams<CacheEvent>,
    _ system: CacheSystem
  ) throws(StoreError) {
    self.environment = environment
    self.configuration = configuration
    self.system = system
    eventStreams = events
    tables = try DiskCacheTables(environment)
    cursors = CursorPool(of: tables.entries)
    folder = DiskCacheFolder(path: "\(environment.path)/files", isFlushed: configuration.durability == .full)
    sync = DiskCacheSync(environment, tables, mark, configuration, system, events)
    state = Guarded(State(limits: configuration.limits))
    ageLimit = Atomic(configuration.limits.ageLimitInMilliseconds)
    sync.follow { [weak self] in self?.maintain() }
  }

  /// Opens the cache in a directory, or makes a new one.
  ///
  /// Blocks for file system calls; the time does not depend on how much is stored. A second call for the same directory
  /// gives the same object, under whatever path.
  ///
  /// - Parameters:
  ///   - path: A directory for this cache alone; it is made if it is missing, its parent is not.
  ///   - configuration: Limits, durability and the like.
  /// - Returns: The open cache. It closes when the last reference goes away, or with ``close()``.
  /// - Throws: A `StoreError` whose sentence names the path: `notFound`, `notADirectory`, `accessDenied`, `diskFull`,
  ///   `busy`, `io`; `alreadyOpen` if it is open with another configuration; with ``Configuration/DamagePolicy/fail``
  ///   also `notADatabase` and `damaged`. Nothing is lost by any of them.
  public static func open(
    at path: String, configuration: Configuration = Configuration()
  ) throws(StoreError) -> DiskCache {
    try open(at: path, configuration: configuration, system: .real)
  }

  package static func open(
    at path: String, configuration: Configuration, system: CacheSystem
  ) throws(StoreError) -> DiskCache {
    try configuration.validate()
    try FileSystem.makeDirectory(path)
    let path = try FileSystem.canonicalPath(path)
    guard !FileSystem.exists("\(path)/outbox.lock") else {
      throw StoreError(
        .invalidOption, "\(path) holds a store, which is not to be thrown away; give the cache a directory of its own.")
    }
    // One at a time, over all processes: what cannot be trusted is moved before anybody has it open.
    let lock = try File("\(path)/cache.lock", .lock)
    _ = try lock.lock(waiting: true)
    defer { lock.unlock() }
    let events = CacheStreams<CacheEvent>(earlyLimit: 16)
    #if canImport(Darwin)
      if let error = mark(path, configuration.fileProtection) { events.send([.maintenanceFailed(error)]) }
    #endif
    let opening = DiskCacheOpening(path: path, configuration: configuration, system: system, events: events)
    let (environment, mark) = try opening.open()
    return try registry.update { caches throws(StoreError) in
      caches = caches.filter { $0.value.cache != nil }
      if let cache = caches[ObjectIdentifier(environment)]?.cache {
        if let field = cache.configuration.difference(from: configuration) {
          throw StoreError(
            .alreadyOpen,
            "The cache at \(path) is already open in this process with another `\(field)`; open it the same way "
              + "everywhere, and change its `limits`.")
        }
        return cache
      }
      let cache = try DiskCache(environment, configuration, mark, events, system)
      caches[ObjectIdentifier(environment)] = WeakReference(cache: cache)
      // What a process has left unflushed is flushed now.
      if try mark.isSet() { cache.sync.schedule() }
      return cache
    }
  }

  private struct WeakReference {
    weak var cache: DiskCache?
  }

  private static let registry = Monitor<[ObjectIdentifier: WeakReference]>([:])

  /// Puts what was written, and the order of use, on the storage device, and closes the cache for everybody in this
  /// process who has it.
  ///
  /// Blocks for the flush and for the calls that are running. Every call after that throws `closed`. Without it, the
  /// background flush still happens, and only the latest recency is lost.
  ///
  /// - Throws: `busy` if a call did not end in time; `io` if the device refused.
  public func close() throws(StoreError) {
    do throws(StoreError) {
      try flush()
    } catch {
      guard error.code == .closed else { throw error }
      return
    }
    try environment.close()
  }

  /// Waits until everything written so far, and the order of use, is on the storage device.
  ///
  /// Blocks for the flush. A cache is rarely worth it: see ``Configuration/Durability``.
  ///
  /// - Throws: `io` if the device refused; `diskFull`; `closed`.
  public func flush() throws(StoreError) {
    try settleTouches()
    _ = try sync.flush()
  }
}

extension DiskCache.Configuration {
  /// The first field that is not the same.
  fileprivate func difference(from other: Self) -> String? {
    if durability != other.durability { return "durability" }
    if limits != other.limits { return "limits" }
    if expiresAfter != other.expiresAfter { return "expiresAfter" }
    if inlineThreshold != other.inlineThreshold { return "inlineThreshold" }
    if syncDelay != other.syncDelay { return "syncDelay" }
    if onDamage != other.onDamage { return "onDamage" }
    return fileProtection != other.fileProtection ? "fileProtection" : nil
  }

  fileprivate func validate() throws(StoreError) {
    guard inlineThreshold >= 0, inlineThreshold <= 256 << 20 else {
      throw StoreError(
        .invalidOption, "An `inlineThreshold` of \(inlineThreshold) bytes is out of range; use 0 to \(256 << 20).")
    }
    guard syncDelay > .zero else {
      throw StoreError(.invalidOption, "A `syncDelay` of \(syncDelay) would never rest; use more than zero.")
    }
  }
}

extension DiskCache {
  /// How a disk cache is opened.
  public struct Configuration: Sendable, Hashable {
    /// What a power cut may do to the cache. The end of the process alone never loses anything.
    public enum Durability: Sendable, Hashable {
      /// No flush with a commit, but one in the background a moment later. A power cut before that leaves a cache that
      /// cannot be trusted: the next opening sets it aside and starts empty.
      case unsynced
      /// One flush a commit. A power cut may take back the last commits; the rest is there.
      case relaxed
      /// Two flushes a commit. A power cut loses nothing.
      case full
    }

    /// What opening does with a content that cannot be read or trusted.
    public enum DamagePolicy: Sendable, Hashable {
      /// Moves it to the folder `set-aside` of the cache's directory, in place of what was set aside before, starts
      /// empty, and reports ``CacheEvent/setAside(path:reason:)``.
      case setAside
      /// Throws, and leaves everything as it is.
      case fail
    }

    /// When the files can be read on Apple's mobile systems; other systems have nothing of the kind.
    ///
    /// There is none that locks with the device: the data file is mapped, and to touch it then ends the process.
    public enum FileProtection: Sendable, Hashable {
      /// From the first unlocking after the device was started.
      case untilFirstUnlock
      /// Always.
      case none
    }

    /// What a power cut may do.
    public var durability: Durability
    /// How much the cache may hold at first; ``DiskCache/limits`` changes it.
    public var limits: Limits
    /// How long entries live for which nothing is said; `nil` is forever.
    public var expiresAfter: Duration?
    /// The longest value that is kept in the data file; a longer one gets a file of its own. It may change from one
    /// opening to the next: each entry knows where its value is.
    public var inlineThreshold: Int
    /// How long after a write the background flush of ``Durability/unsynced`` is.
    public var syncDelay: Duration
    /// What to do with a content that cannot be read or trusted.
    public var onDamage: DamagePolicy
    /// When the files can be read on Apple's mobile systems. It counts for files that are made from then on.
    public var fileProtection: FileProtection

    /// Where a file of its own is as fast as the data file, by measurement: see ``DiskCache``.
    public static let defaultInlineThreshold = 1 << 20

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - durability: What a power cut may do.
    ///   - limits: How much the cache may hold at first.
    ///   - expiresAfter: How long entries live for which nothing is said.
    ///   - inlineThreshold: The longest value that is kept in the data file; at most 256 MiB.
    ///   - syncDelay: How long after a write the background flush is.
    ///   - onDamage: What to do with a content that cannot be read or trusted.
    ///   - fileProtection: When the files can be read on Apple's mobile systems.
    public init(
      durability: Durability = .unsynced, limits: Limits = .none, expiresAfter: Duration? = nil,
      inlineThreshold: Int = defaultInlineThreshold, syncDelay: Duration = .seconds(1),
      onDamage: DamagePolicy = .setAside, fileProtection: FileProtection = .untilFirstUnlock
    ) {
      self.durability = durability
      self.limits = limits
      self.expiresAfter = expiresAfter
      self.inlineThreshold = inlineThreshold
      self.syncDelay = syncDelay
      self.onDamage = onDamage
      self.fileProtection = fileProtection
    }
  }
}

extension Environment {
  /// How an environment is opened. The defaults are safe: every commit survives a power cut.
  public struct Options: Sendable, Hashable {
    /// What may happen to a file that does or does not exist.
    public enum Mode: Sendable, Hashable {
      /// Open it, or make a new one; the directory is made too, its parents are not.
      case createIfMissing
      /// Open it; a missing file is an error.
      case mustExist
      /// Open it for reading; a missing file is an error. LMDB writes to `lock.mdb` even so, unless the file system
      /// itself is read-only. That the file has been cut off is noticed in the other modes only.
      case readOnly
    }

    /// When a commit is on the storage device.
    public enum Durability: Sendable, Hashable {
      /// Before a write returns: two flushes a commit. A power cut loses nothing.
      case full
      /// One flush a commit. A power cut may take back the last commits, but leaves an older one intact.
      case relaxed
      /// No flush. **A power cut can destroy the whole environment**; the end of the process alone loses nothing.
      /// Only for what can be made again.
      case unsafeNoSync
    }

    /// Whether the file may be made, must exist, or is only read.
    public var mode: Mode
    /// When a commit is durable.
    public var durability: Durability
    /// The size of the memory map in bytes at first, rounded up to 64 KiB. It reserves addresses, not memory or disk.
    /// If the system has no room for it, it is halved until it fits, but not below 64 MiB. The map grows when it is
    /// full, for which all readers of the process must leave; a size that is never reached is the cheapest.
    public var mapSize: Int
    /// How far the map may grow, which bounds the file; rounded up to 64 KiB.
    public var mapSizeLimit: Int
    /// How many snapshots may be open at once, over all processes. The first process to open the file decides.
    /// One process uses at most half of them, rounded down to a power of two.
    public var readerLimit: Int
    /// How long a call waits for transactions of this process that are in its way: a read for a free slot, a write for
    /// the readers when the map must grow, ``Environment/close()`` for both.
    public var waitLimit: Duration
    /// Whether the directory may be on a network file system. **Two machines that share it destroy the file**, and many
    /// such systems do not keep the promises about locks and maps that LMDB builds on.
    public var allowsNetworkFileSystem: Bool
    /// Whether a directory that somebody removes is no failure: its user looks for that, and calls `reopenIfRemoved()`.
    package var isDisposable = false

    /// The most named databases that an environment can declare.
    public static let databaseLimit = 32

    /// 64 GiB, or 1 GiB where processes have less address space (iOS, tvOS, watchOS, visionOS, 32-bit systems).
    public static var defaultMapSize: Int {
      #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS) || _pointerBitWidth(_32)
        1 << 30
      #else
        64 << 30
      #endif
    }

    /// Makes options.
    ///
    /// - Parameters:
    ///   - mode: Whether the file may be made, must exist, or is only read.
    ///   - durability: When a commit is durable.
    ///   - mapSize: The size of the map in bytes, at first.
    ///   - mapSizeLimit: How far it may grow; `nil` is 16 times the default size, or `mapSize` if that is more.
    ///   - readerLimit: How many snapshots may be open at once.
    ///   - waitLimit: How long a call waits for transactions that are in its way.
    ///   - allowsNetworkFileSystem: Whether the directory may be on a network file system.
    public init(
      mode: Mode = .createIfMissing,
      durability: Durability = .full,
      mapSize: Int = Options.defaultMapSize,
      mapSizeLimit: Int? = nil,
      readerLimit: Int = 1024,
      waitLimit: Duration = .seconds(5),
      allowsNetworkFileSystem: Bool = false
    ) {
      self.mode = mode
      self.durability = durability
      self.mapSize = mapSize
      self.mapSizeLimit = mapSizeLimit ?? max(mapSize, Options.defaultMapSize / 4 * 64)
      self.readerLimit = readerLimit
      self.waitLimit = waitLimit
      self.allowsNetworkFileSystem = allowsNetworkFileSystem
    }
  }
}

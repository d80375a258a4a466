extension Environment {
  /// How an environment is opened. The defaults are safe: every commit survives a power cut.
  public struct Options: Sendable, Hashable {
    /// What may happen to a file that does or does not exist.
    public enum Mode: Sendable, Hashable {
      /// Open it, or make a new one; the directory is made too, its parents are not.
      case createIfMissing
      /// Open it; a missing file is an error.
      case mustExist
      /// Open it for reading; a missing file is an error.
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
    /// The size of the memory map in bytes, which bounds the file; rounded up to 64 KiB. It reserves addresses, not
    /// memory or disk. If the system has no room for it, it is halved until it fits, but not below 64 MiB.
    public var mapSize: Int
    /// How many snapshots may be open at once, over all processes. The first process to open the file decides.
    public var readerLimit: Int

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
    ///   - mapSize: The size of the map in bytes.
    ///   - readerLimit: How many snapshots may be open at once.
    public init(
      mode: Mode = .createIfMissing,
      durability: Durability = .full,
      mapSize: Int = Options.defaultMapSize,
      readerLimit: Int = 1024
    ) {
      self.mode = mode
      self.durability = durability
      self.mapSize = mapSize
      self.readerLimit = readerLimit
    }
  }
}

import CLMDB

/// The environments that this process has open, by file.
///
/// Opening one file twice in a process makes LMDB forget its readers, and closing either handle drops the locks of
/// both. So a file is opened once, and the lock here is held for the whole of each open and close.
struct Registry: Sendable {
  /// There are fork handlers before anybody can have its lock: without them, a child could get the lock without the
  /// thread that has it.
  static let shared: Monitor<Registry> = {
    _ = ForkGuard.start()
    return Monitor(Registry())
  }()

  private var handles: [File.Identity: Handle] = [:]
  private var lastID: EnvironmentID = 0

  /// The open environment of a file, if there is one. It may be its last reference, whose end takes the lock that the
  /// caller has: to be handed on, and let go of outside.
  ///
  /// One that has another data file, which somebody has replaced since, is found by its lock file.
  mutating func environment(of file: File.Identity, lockFile: File.Identity?) -> Environment? {
    let besides = lockFile.flatMap { lockFile in handles.first { $0.value.lockFile == lockFile }?.key }
    guard let file = handles[file] == nil ? besides : file, let handle = handles[file] else { return nil }
    guard !handle.isForked else {
      handles[file] = nil
      return nil
    }
    guard let environment = handle.environment else {
      // Its last reference is gone, but the thread that dropped it has not closed the handle yet.
      close(handle)
      return nil
    }
    return environment
  }

  /// Notes a handle that has just been opened.
  mutating func add(_ handle: Handle, for environment: Environment) {
    handle.environment = environment
    handles[handle.file] = handle
  }

  /// Whether an environment of this process has a file open.
  func isOpen(_ file: File.Identity) -> Bool { handles[file].map { !$0.isForked } ?? false }

  /// A number that no other environment of this process has.
  mutating func nextID() -> EnvironmentID {
    lastID += 1
    return lastID
  }

  /// Closes a handle, unless that has been done already.
  mutating func close(_ handle: Handle) {
    guard let removed = handles[handle.file], removed === handle else { return }
    handles[handle.file] = nil
    unsafe mdb_env_close(handle.raw)
    handle.dataFile?.unmarkAsOpen()
    // Or a child that was forked meanwhile would keep it.
    handle.dataFile?.unlock()
    handle.dataFile = nil
  }

  /// An open LMDB handle, and how it was opened.
  @safe
  final class Handle: @unchecked Sendable {
    // Sendable: `environment` is touched only under the registry's lock; `raw` and the files change under it while nobody
    // uses the environment; the rest is set once.
    var raw: OpaquePointer
    var file: File.Identity
    var dataFile: File?
    /// Which other software must not replace either; `nil` on a read-only file system that has none.
    var lockFile: File.Identity?
    let pageSize: Int
    let options: Environment.Options
    let databases: Set<String>
    fileprivate weak var environment: Environment?
    private let generation = ForkGuard.start()

    init(
      _ raw: OpaquePointer, of file: File.Identity, _ dataFile: consuming File, in path: String, pageSize: Int,
      options: Environment.Options,
      databases: Set<String>
    ) {
      unsafe self.raw = unsafe raw
      self.file = file
      self.dataFile = consume dataFile
      lockFile = FileSystem.identity("\(path)/lock.mdb")
      self.pageSize = pageSize
      self.options = options
      self.databases = databases
    }

    /// Whether a parent opened it before it forked this process.
    var isForked: Bool { ForkGuard.generation != generation }

    /// The option that differs, if one does.
    func difference(from other: Environment.Options, _ names: Set<String>) -> String? {
      if options.mode == .readOnly && other.mode != .readOnly { return "mode" }
      if options.mode != .readOnly && other.mode == .readOnly { return "mode" }
      if options.durability != other.durability { return "durability" }
      if options.mapSize != other.mapSize { return "mapSize" }
      if options.mapSizeLimit != other.mapSizeLimit { return "mapSizeLimit" }
      if options.readerLimit != other.readerLimit { return "readerLimit" }
      if options.waitLimit != other.waitLimit { return "waitLimit" }
      if databases != names { return "set of databases" }
      return nil
    }
  }
}

import CLMDB

/// The environments that this process has open, by file.
///
/// Opening one file twice in a process makes LMDB forget its readers, and closing either handle drops the locks of
/// both. So a file is opened once, and the lock here is held for the whole of each open and close.
struct Registry: Sendable {
  static let shared = Monitor(Registry())

  private var handles: [File.Identity: Handle] = [:]
  private var lastID: EnvironmentID = 0

  /// The open environment of a file, if there is one and it was opened in the same way.
  ///
  /// - Throws: `alreadyOpen`, naming the option that differs.
  mutating func environment(
    of file: File.Identity, at path: String, options: Environment.Options, databases: Set<String>
  ) throws(StoreError) -> Environment? {
    guard let handle = handles[file] else { return nil }
    guard !handle.isForked else {
      handles[file] = nil
      return nil
    }
    guard let environment = handle.environment else {
      // Its last reference is gone, but the thread that dropped it has not closed the handle yet.
      close(handle)
      return nil
    }
    if environment.snapshots.isPoisoned { return environment }
    if let difference = handle.difference(from: options, databases) {
      throw StoreError(
        .alreadyOpen,
        "\(path) is already open in this process with another \(difference); open it the same way everywhere.")
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
    let pageSize: Int
    let options: Environment.Options
    let databases: Set<String>
    fileprivate weak var environment: Environment?
    private let generation = ForkGuard.start()

    init(
      _ raw: OpaquePointer, of file: File.Identity, _ dataFile: consuming File, pageSize: Int,
      options: Environment.Options,
      databases: Set<String>
    ) {
      unsafe self.raw = unsafe raw
      self.file = file
      self.dataFile = consume dataFile
      self.pageSize = pageSize
      self.options = options
      self.databases = databases
    }

    /// Whether a parent opened it before it forked this process.
    var isForked: Bool { ForkGuard.generation != generation }

    fileprivate func difference(from other: Environment.Options, _ names: Set<String>) -> String? {
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

import LMDB

/// How a cache is opened: what the last power cut may have damaged is not read at all.
struct DiskCacheOpening {
  let path: String
  let configuration: DiskCache.Configuration
  let system: CacheSystem
  let events: CacheStreams<CacheEvent>

  /// Opens the environment, after setting aside what cannot be trusted. The caller holds the cache's lock.
  func open() throws(StoreError) -> (Environment, DiskCacheMark) {
    let mark = try DiskCacheMark(in: path)
    if try mark.isSet() {
      let bootID = try system.bootID()
      if try mark.bootID() != bootID {
        let reason = "the machine was started anew before the last writes were flushed"
        guard configuration.onDamage == .setAside else {
          throw StoreError(
            .damaged, "The cache at \(path) cannot be trusted: \(reason); remove it, or open it with `setAside`.")
        }
        try setAside(because: reason)
        try mark.clear()
      }
    }
    do throws(StoreError) {
      return (try openEnvironment(mark), mark)
    } catch {
      let isBroken = [.damaged, .notADatabase].contains(error.code)
      guard isBroken, configuration.onDamage == .setAside, try isAlone() else { throw error }
      try setAside(because: error.message)
      return (try openEnvironment(mark), mark)
    }
  }

  private func openEnvironment(_ mark: DiskCacheMark) throws(StoreError) -> Environment {
    // The databases of a new file are made by a commit that is not flushed.
    if configuration.durability == .unsynced, !FileSystem.exists("\(path)/data.mdb") {
      try mark.set(try system.bootID())
    }
    var options = Environment.Options(durability: configuration.durability.ofEnvironment)
    options.isDisposable = true
    return try Environment.open(at: path, databases: DiskCacheTables.names, options: options)
  }

  /// Whether no process has the data file open.
  private func isAlone() throws(StoreError) -> Bool {
    guard FileSystem.exists("\(path)/data.mdb") else { return true }
    return try File("\(path)/data.mdb", .read).lock(waiting: false)
  }

  /// Moves the content to a folder of its own, in place of what was there before.
  private func setAside(because reason: String) throws(StoreError) {
    let target = "\(path)/set-aside"
    try FileSystem.makeDirectory(target)
    let files = "\(target)/files"
    if FileSystem.exists(files) {
      for name in try FileSystem.names(in: files) { try FileSystem.removeFile("\(files)/\(name)") }
      try FileSystem.removeDirectory(files)
    }
    for name in ["data.mdb", "lock.mdb", "files"] where FileSystem.exists("\(path)/\(name)") {
      try FileSystem.rename("\(path)/\(name)", to: "\(target)/\(name)")
    }
    try File(path, .directory).synchronize()
    events.send([.setAside(path: target, reason: reason)])
  }
}

extension DiskCache.Configuration.Durability {
  var ofEnvironment: Environment.Options.Durability {
    switch self {
    case .unsynced: .unsafeNoSync
    case .relaxed: .relaxed
    case .full: .full
    }
  }
}

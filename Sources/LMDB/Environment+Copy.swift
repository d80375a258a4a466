import CLMDB

extension Environment {
  /// Copies the newest commit into another directory, as an environment of its own.
  ///
  /// Blocks until the copy is on the device; readers and writers go on meanwhile, but the copy holds a snapshot. The
  /// directory appears at once and complete, or not at all: it is made under another name and renamed.
  ///
  /// - Parameters:
  ///   - path: A directory that does not exist or is empty; its parent must exist.
  ///   - compact: Whether to leave out free pages and to fill the others, by storing every key anew in order.
  /// - Throws: `invalidOption` if something is there or, with `compact`, if the file holds what cannot be stored anew
  ///   (see ``compact()``); `nestedWrite` inside a write on this thread; `diskFull`, `accessDenied` or `io` if the copy
  ///   cannot be written; as ``read(_:)`` otherwise.
  public func copy(to path: String, compact: Bool = false) throws(StoreError) {
    try FileSystem.checkPath(path)
    if FileSystem.exists(path), try !FileSystem.names(in: path).isEmpty {
      throw StoreError(.invalidOption, "\(path) is not empty; copy to a directory that is not there yet.")
    }
    // LMDB takes the writer's lock for a moment.
    guard !writer.isHeldByThisThread else {
      throw StoreError(.nestedWrite, "\(self.path) cannot be copied inside a write of it; copy it afterwards.")
    }
    let workshop = try Workshop(FileSystem.workPath(beside: path, "copying"))
    do throws(StoreError) {
      if compact {
        unsafe try withSnapshot { (transaction) throws(StoreError) in
          unsafe try rebuild(transaction, in: workshop)
        }
      } else {
        unsafe try withSnapshot { (transaction) throws(StoreError) in
          let code = unsafe mdb_env_copy2(mdb_txn_env(transaction), workshop.path, 0)
          guard code == MDB_SUCCESS else { throw .lmdb(code, "copy \(self.path) to \(path)") }
        }
      }
      try File(workshop.data, .read).synchronize()
      try FileSystem.removeFile(workshop.lock)
      try File(workshop.path, .directory).synchronize()
      try FileSystem.rename(workshop.path, to: path)
    } catch {
      try? workshop.remove()
      throw error
    }
    try File(FileSystem.parent(of: path), .directory).synchronize()
  }
}

/// A directory in which a data file is made that is not to be seen before it is complete.
struct Workshop {
  let path: String
  var data: String { "\(path)/data.mdb" }
  var lock: String { "\(path)/lock.mdb" }

  /// Makes the directory, or clears what a crash has left in it.
  init(_ path: String) throws(StoreError) {
    self.path = path
    try FileSystem.makeDirectory(path)
    for file in [data, lock] { try FileSystem.removeFile(file) }
  }

  /// Removes it and what it holds.
  func remove() throws(StoreError) {
    for file in [data, lock] { try FileSystem.removeFile(file) }
    try FileSystem.removeDirectory(path)
  }
}

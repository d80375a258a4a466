import LMDB

/// Names a file of the outbox; random, so that a new file never takes the name of one that is being removed.
struct AttachmentID: Sendable, Hashable {
  let bytes: [UInt8]

  init() { bytes = IdempotencyKey().bytes }

  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  init?(fileName: String) {
    let digits = Array(fileName.utf8)
    guard digits.count == 32 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: 32, by: 2) {
      guard let byte = UInt8(fileName.dropFirst(index).prefix(2), radix: 16) else { return nil }
      bytes.append(byte)
    }
    self.bytes = bytes
  }

  var fileName: String { bytes.hexadecimal }
}

/// A file that has been written for a request which is not committed yet.
///
/// It belongs to one request. It is removed when the last reference goes away without a commit of that request.
public final class StagedAttachment: Sendable {
  /// The name to send, such as `cat.png`.
  public let name: String
  /// Its media type, such as `image/png`.
  public let mediaType: String
  /// Its size in bytes.
  public let size: Int
  let id: AttachmentID
  let folder: AttachmentFolder
  private let isCommitted = Monitor(false)
  // Its lock, which ends with the process, tells the collector of orphans that the file is in use.
  private let file: File

  init(
    name: String, mediaType: String, size: Int, id: AttachmentID, folder: AttachmentFolder, file: consuming File
  ) {
    self.name = name
    self.mediaType = mediaType
    self.size = size
    self.id = id
    self.folder = folder
    self.file = file
  }

  deinit {
    // A file that cannot be removed now is an orphan, which the next drain collects.
    if !wasCommitted { try? folder.remove(id) }
  }

  /// Whether a request that has it was committed.
  var wasCommitted: Bool { isCommitted.update { $0 } }

  /// Called after the commit; until then the reference held by the commit keeps the file.
  func commit() { isCommitted.update { $0 = true } }

  var attachment: OutboxEntry.Attachment {
    OutboxEntry.Attachment(name: name, mediaType: mediaType, size: size, path: folder.path(of: id), id: id)
  }
}

/// The files of an outbox, beside the environment: named by id, written in full before a transaction names them.
struct AttachmentFolder: Sendable {
  let path: String

  func path(of id: AttachmentID) -> String { "\(path)/\(id.fileName)" }

  /// Writes a file under a new id and flushes it and its name; `write` makes the content and tells its size.
  func stage(
    name: String, mediaType: String, _ write: (borrowing File) throws(StoreError) -> Int
  ) throws(StoreError) -> StagedAttachment {
    try FileSystem.makeDirectory(path)
    let id = AttachmentID()
    let temporary = "\(self.path(of: id)).part"
    do throws(StoreError) {
      let file = try File(temporary, .new)
      _ = try file.lock(waiting: true)
      guard try file.linkCount() > 0 else {
        throw StoreError(.busy, "The file \(temporary) was taken for an orphan before it was locked; try again.")
      }
      let size = try write(file)
      try file.synchronize()
      try FileSystem.rename(temporary, to: self.path(of: id))
      try File(path, .directory).synchronize()
      return StagedAttachment(name: name, mediaType: mediaType, size: size, id: id, folder: self, file: file)
    } catch {
      try FileSystem.removeFile(temporary)
      throw error
    }
  }

  func remove(_ id: AttachmentID) throws(StoreError) {
    try FileSystem.removeFile(path(of: id))
  }

  /// Removes the files that no entry names and no process is writing: what a crash between writing and committing leaves.
  ///
  /// - Parameter isKept: Whether an entry names the file; asked only once the file's lock is held, since its writer gives
  ///   that up after the commit.
  /// - Throws: `io` or `accessDenied` if the folder cannot be read or a file not be removed.
  func collectOrphans(_ isKept: (AttachmentID) throws -> Bool) throws {
    guard FileSystem.exists(path) else { return }
    for name in try FileSystem.names(in: path) {
      // What has another name is not ours to remove.
      guard let id = AttachmentID(fileName: name.hasSuffix(".part") ? String(name.dropLast(5)) : name) else { continue }
      let file = "\(path)/\(name)"
      do {
        let handle = try File(file, .read)
        guard try handle.lock(waiting: false) else { continue }
        if try isKept(id) { continue }
        try FileSystem.removeFile(file)
      } catch let error as StoreError where error.code == .notFound {
        continue  // Its writer has removed or renamed it meanwhile.
      }
    }
  }
}

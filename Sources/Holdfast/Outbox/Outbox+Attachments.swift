import LMDB

extension Outbox {
  /// Writes a file that a request will carry, before the transaction that enqueues it.
  ///
  /// Blocks until the file is on the device. It is removed again unless a request that has it is committed.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - name: The name to send, such as `cat.png`.
  ///   - mediaType: Its media type, such as `image/png`.
  /// - Returns: What goes into ``OutboxRequest/attachments``.
  /// - Throws: `diskFull`, `accessDenied` or `io` if the file cannot be written.
  public func stage(_ bytes: [UInt8], name: String, mediaType: String) throws(StoreError) -> StagedAttachment {
    try prepareFolder()
    return try folder.stage(name: name, mediaType: mediaType) { file throws(StoreError) in
      try file.write(bytes.span)
      return bytes.count
    }
  }

  /// Copies a file that a request will carry, before the transaction that enqueues it.
  ///
  /// The copy is streamed, so that memory does not grow with the file. Blocks until it is on the device. It is removed
  /// again unless a request that has it is committed. The original is left alone; what is written to it during the copy
  /// may or may not be in it.
  ///
  /// - Parameters:
  ///   - path: An existing file.
  ///   - name: The name to send, such as `cat.png`.
  ///   - mediaType: Its media type, such as `image/png`.
  /// - Returns: What goes into ``OutboxRequest/attachments``.
  /// - Throws: `notFound`, `accessDenied`, `diskFull` or `io`, with a sentence that names the path.
  public func stage(
    fileAt path: String, name: String, mediaType: String
  ) throws(StoreError) -> StagedAttachment {
    let original = try File(path, .read)
    try prepareFolder()
    return try folder.stage(name: name, mediaType: mediaType) { file throws(StoreError) in
      var size = 0
      while true {
        let piece = try original.read(1 << 18, at: size)
        if piece.isEmpty { return size }
        try file.write(piece.span)
        size += piece.count
      }
    }
  }

  /// Makes the folder and flushes its name, once in each process: without its name, a power cut loses what is in it.
  private func prepareFolder() throws(StoreError) {
    if board.hasFolder.update({ $0 }) { return }
    try FileSystem.makeDirectory(folder.path)
    try File(environment.path, .directory).synchronize()
    board.hasFolder.update { $0 = true }
  }
}

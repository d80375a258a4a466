#if !os(Linux) || HOLDFAST_URLSESSION
  import Dispatch
  import Foundation

  /// Contents written out for `URLSession`, which sends a file from the device but not one file after the other.
  struct ContentFiles: Sendable {
    /// How much of a file is in memory at a time.
    private static let pieceSize = 1 << 16

    private let folder: URL

    /// Takes a folder of temporary files, and collects what a process that is gone has left there: no exchange lasts
    /// longer than a day.
    init(_ folder: URL) {
      self.folder = folder
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      for name in names where name.hasSuffix(".content") {
        let file = folder.appendingPathComponent(name)
        let date = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.modificationDate] as? Date
        // One that cannot be removed now is for the next transport to collect.
        if let date, date.timeIntervalSinceNow < -172_800 { remove(file) }
      }
    }

    func remove(_ file: URL) { try? FileManager.default.removeItem(at: file) }

    /// Writes a content to a new file that only its owner may read, on a thread that may block.
    ///
    /// - Throws: An `HTTPFailure`: nothing is sent if a part is missing or there is no room.
    func write(_ content: [HTTPRequest.Part]) async throws(HTTPFailure) -> URL {
      let file = folder.appendingPathComponent("\(UUID().uuidString).content")
      let result = await withCheckedContinuation { continuation in
        DispatchQueue.global(qos: .utility).async {
          continuation.resume(returning: Result { () throws(HTTPFailure) in try write(content, to: file) })
        }
      }
      do {
        try result.get()
      } catch {
        remove(file)
        throw error
      }
      return file
    }

    private func write(_ content: [HTTPRequest.Part], to file: URL) throws(HTTPFailure) {
      let output: FileHandle
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        _ = FileManager.default.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
        output = try FileHandle(forWritingTo: file)
      } catch {
        throw Self.noRoom(file, error)
      }
      defer { try? output.close() }
      for part in content {
        switch part {
        case .bytes(let bytes): try Self.put(Data(bytes), output, file)
        case .file(let path, let size):
          var count = 0
          while let piece = try Self.piece(of: path, from: count), !piece.isEmpty {
            try Self.put(piece, output, file)
            count += piece.count
          }
          guard count == size else { throw Self.unreadable(path) }
        }
      }
    }

    private static func put(_ data: Data, _ output: FileHandle, _ file: URL) throws(HTTPFailure) {
      do { try output.write(contentsOf: data) } catch { throw noRoom(file, error) }
    }

    private static func piece(of path: String, from offset: Int) throws(HTTPFailure) -> Data? {
      do {
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? input.close() }
        try input.seek(toOffset: UInt64(offset))
        return try input.read(upToCount: pieceSize)
      } catch {
        throw unreadable(path)
      }
    }

    private static func unreadable(_ path: String) -> HTTPFailure {
      HTTPFailure(
        .contentUnreadable, message: "the file \(path) is missing or is not the one that was staged; restore it",
        mayHaveBeenSent: false)
    }

    private static func noRoom(_ file: URL, _ error: any Error) -> HTTPFailure {
      HTTPFailure(
        .noConnection, message: "the temporary file \(file.path) cannot be written; make room: \(error)",
        mayHaveBeenSent: false)
    }
  }
#endif

import Holdfast
import LMDB
import LMDBFile

/// The files of a cache's large values, each under the number that its entry names.
struct CacheFiles {
  let path: String

  func path(of file: DiskCacheRow.File) -> String { "\(path)/\(file.name)" }

  /// The first bytes of a file; `nil` if it cannot be read.
  func start(of file: DiskCacheRow.File, count: Int) -> [UInt8]? {
    try? ByteSource(path(of: file)).bytes(at: 0, count: count)
  }

  /// Reads a file whole.
  ///
  /// - Returns: Why it is not the one that was written; `nil` if it is.
  func flaw(of file: DiskCacheRow.File, length: Int) -> String? {
    do throws(ReadError) {
      let source = try ByteSource(path(of: file))
      let size = try source.status().size
      guard size == length else { return "has \(count(size, "byte")), not \(length)" }
      return try Self.checksum(of: source, size) == file.checksum ? nil : "has other bytes than were written"
    } catch {
      return error.code == .notFound ? "is missing" : "cannot be read: \(error.description)"
    }
  }

  private static func checksum(of source: ByteSource, _ size: Int) throws(ReadError) -> UInt64 {
    var piece = [UInt8](repeating: 0, count: min(size, DiskCacheRow.File.pieceLength))
    var sum: UInt64 = 0
    var offset = 0
    while offset < size {
      let got = try source.read(into: &piece, count: min(piece.count, size - offset), at: offset)
      if got == 0 { break }
      sum = piece.span.extracting(0..<got).checksum(sum)
      offset += got
    }
    return sum
  }

  /// The files that are there under a name such as an entry gives, in order.
  func names() throws(Failure) -> [String] {
    try StoreFolder.names(in: path).filter(DiskCacheRow.File.isName)
  }
}

import Foundation
import LMDB
import LMDBFile

/// A file that appears under its name once it is complete; what was there before stays until then, and what was begun
/// goes if it does not get that far. A pipe or a device is written as it is.
final class NewFile {
  var output: Output
  private let path: String
  private let workPath: String
  private var isComplete = false

  /// - Throws: `cannotCreate`, also where a data file is: text in its place would be the end of a store.
  init(_ path: String) throws(Failure) {
    self.path = path
    if path.isEmpty { throw Failure(.usage, "the name of the file to write is empty") }
    let status = try? ByteSource.status(of: path)
    if status?.isRegular == true, (try? DataFile(at: path)) != nil {
      throw Failure(.cannotCreate, "\(printable(path)) is an LMDB file, which is not written over; name another file")
    }
    if Self.isLock(path) {
      throw Failure(.cannotCreate, "\(printable(path)) is a lock of the store beside it; name another file")
    }
    let isSpecial = status.map { !$0.isRegular } ?? false
    workPath = isSpecial ? path : FileSystem.workPath(beside: path, "part")
    do throws(ReadError) {
      output = Output(try Descriptor(creating: workPath), name: path)
    } catch {
      throw Failure(.cannotCreate, "\(printable(path)) cannot be made: \(error.description)")
    }
  }

  /// Whether it is what the programs that have a store open share.
  private static func isLock(_ path: String) -> Bool {
    let url = URL(fileURLWithPath: path)
    let isNamed = url.lastPathComponent == "lock.mdb" || url.pathExtension == "lock"
    return isNamed && FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path + "/data.mdb")
  }

  deinit {
    if !isComplete && workPath != path { try? FileManager.default.removeItem(atPath: workPath) }
  }

  /// Gives it its name.
  func appear() throws(Failure) {
    isComplete = true
    if workPath == path { return }
    do throws(ReadError) {
      try Descriptor.rename(workPath, to: path)
    } catch {
      isComplete = false
      throw Failure(.cannotCreate, "\(printable(path)) cannot be made: \(error.description)")
    }
  }
}

import Foundation
import LMDB
import LMDBFile

/// Stores records in a file, for `load`, `import`, `recover` and `copy`: checks what LMDB would take without a word, and
/// makes errors of the engine those of the tool.
final class Loading {
  private var loader: BulkLoader
  private let path: String
  private var target: BulkLoader.Target?
  private var flags: Tree.Flags = []
  private var valueSize: Int?
  private var lastKey: [UInt8] = []
  private(set) var records = 0
  private var nameOfFiles: String?
  /// What does not come with records: the files that some of them name.
  private(set) var remark: String?
  /// Records that met one that was there, or had come before.
  var met: Int { loader.met }

  /// How many records, and what became of those that met one.
  func summary(_ mode: BulkLoader.Mode) -> String {
    if met == 0 { return count(records, "record") }
    let fate = mode == .keep ? "met one that stays" : "took the place of another or were the same"
    return "\(count(records, "record")), of which \(met) \(fate),"
  }

  /// - Throws: `cannotCreate`, `noInput`, `notAllowed` and the like.
  init(_ path: String, isFile: Bool = false, mapSize: UInt64?, synchronizes: Bool = true) throws(Failure) {
    self.path = path
    let size = Int(clamping: min(mapSize ?? 1 << 20, 1 << 46))
    do throws(StoreError) {
      loader = try BulkLoader(path, isFile: isFile, mapSize: size, synchronizes: synchronizes)
    } catch {
      throw Failure(error)
    }
  }

  /// Runs what makes a new file in a directory, which is made if it is missing, and goes again if nothing comes of it.
  static func inDirectory(_ path: String, _ body: () throws(Failure) -> Void) throws(Failure) {
    let isThere = FileManager.default.fileExists(atPath: path)
    try makeDirectory(path)
    do throws(Failure) {
      try body()
    } catch {
      let isEmpty = (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty ?? false
      if !isThere && isEmpty { try? FileManager.default.removeItem(atPath: path) }
      throw error
    }
  }

  /// Makes a directory for a new file, if it is missing.
  static func makeDirectory(_ path: String) throws(Failure) {
    if FileManager.default.fileExists(atPath: path) { return }
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    } catch {
      let isAlone = (error as? CocoaError)?.code == .fileNoSuchFile
      let reason = isAlone ? "the directory above it is not there; check the path" : error.localizedDescription
      throw Failure(.cannotCreate, "\(printable(path)) cannot be made: \(reason)")
    }
  }

  /// Opens the database to which the next records belong.
  func open(_ name: [UInt8]?, _ flags: Tree.Flags) throws(Failure) {
    do throws(StoreError) {
      target = try loader.database(name, flags: UInt32(flags.rawValue))
    } catch {
      throw Failure(error)
    }
    self.flags = flags
    valueSize = nil
    lastKey = []
    nameOfFiles = name.flatMap { StoreFolder.name(ofFilesIn: String(decoding: $0, as: UTF8.self)) }
  }

  /// Stores a record.
  func put(_ key: [UInt8], _ value: [UInt8], _ mode: BulkLoader.Mode) throws(Failure) {
    guard let target else { return }
    try check(key, value)
    let (keySpan, valueSpan) = (key.span, value.span)
    do throws(StoreError) {
      try loader.put(keySpan, valueSpan, in: target, mode, isSameKey: mode == .append && key == lastKey)
    } catch {
      throw Failure(error)
    }
    if mode == .append { lastKey = key }
    records += 1
    if let nameOfFiles, remark == nil {
      remark = "the folder `\(nameOfFiles)` of the store is not in what was read; copy it too, or use `kvdump copy`"
    }
  }

  /// LMDB stores keys of a wrong size, and finds them no more.
  private func check(_ key: [UInt8], _ value: [UInt8]) throws(Failure) {
    if flags.contains(.integerKey), key.count != 4 && key.count != 8 {
      throw Failure(.damagedData, "a key of \(key.count) bytes in a database of integer keys, which have 4 or 8")
    }
    guard flags.contains(.duplicates) else { return }
    if value.count > 511 {
      throw Failure(.damagedData, "a value of \(value.count) bytes in a database of duplicates, which have at most 511")
    }
    if flags.contains(.fixedDuplicates) {
      guard value.count == valueSize ?? value.count else {
        throw Failure(
          .damagedData,
          "a value of \(value.count) bytes, where the others have \(valueSize ?? 0) and all must be of one size")
      }
      valueSize = value.count
    }
  }

  /// Makes all of it visible.
  func finish() throws(Failure) {
    do throws(StoreError) { try loader.finish() } catch { throw Failure(error) }
  }
}

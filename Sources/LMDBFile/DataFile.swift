/// An LMDB file of any layout, opened for reading.
///
/// Only ever read with `pread`: not mapped, not locked, no file made beside it. So it works on read-only media, as
/// another user, and beside the program that writes it.
package struct DataFile: Sendable {
  package let source: ByteSource
  /// The layout of its pages.
  package let layout: Layout
  /// Why a meta page is not there at all; by number.
  private let missing: [Int: String]

  /// The path of the data file itself.
  package var path: String { source.path }

  /// Finds the data file that a path means: the file itself, or `data.mdb` in a directory.
  package static func dataPath(_ path: String) throws(ReadError) -> String {
    try ByteSource.status(of: path).isDirectory ? (path.hasSuffix("/") ? "\(path)data.mdb" : "\(path)/data.mdb") : path
  }

  /// The directory that is the environment; `nil` for a data file of another name, which is one on its own.
  package var directory: String? { Self.directory(ofDataFile: path) }

  /// The directory that is the environment of a data file, by its path; `nil` for one of another name.
  package static func directory(ofDataFile path: String) -> String? {
    if path == "data.mdb" { return "." }
    return path.hasSuffix("/data.mdb") ? String(path.dropLast("data.mdb".count)).withoutEndingSlashes : nil
  }

  /// The lock file that belongs to a data file.
  package var lockPath: String {
    directory.map { "\($0)/lock.mdb" } ?? path + "-lock"
  }

  /// Opens a directory or a data file.
  package init(at path: String) throws(ReadError) {
    let dataPath: String
    do throws(ReadError) {
      dataPath = try Self.dataPath(path)
      try self.init(ByteSource(dataPath))
    } catch {
      if error.code == .notFound, let status = try? ByteSource.status(of: path), status.isDirectory {
        throw ReadError(.notFound, "the directory holds no data.mdb; name the one that does, or the data file itself")
      }
      throw error
    }
  }

  /// Takes bytes that are a data file, or should be.
  package init(_ source: ByteSource) throws(ReadError) {
    let status = try source.status()
    guard status.isRegular else { throw ReadError(.notLMDB, "not a regular file, so not an LMDB file") }
    self.source = source
    let head = try source.bytes(at: 0, count: 1024)
    if let layout = Self.layout(of: head, at: 0) {
      if Layout.pageSizes.contains(layout.pageSize) {
        self.layout = layout
        missing = [:]
        return
      }
    } else if let version = Self.unknownVersion(head) {
      if (1...3).contains(version) {
        throw ReadError(.damaged, "LMDB file that ends in its head, after \(status.size) bytes; copy it again")
      }
      throw ReadError(
        .unsupported, "LMDB file of the unknown data version \(version); open it with the program that made it")
    }
    // The first meta page is broken: the second lies one page further, whatever a page is here.
    for pageSize in Layout.pageSizes {
      let bytes = try source.bytes(at: pageSize, count: 256)
      if let layout = Self.layout(of: bytes, at: 1), layout.pageSize == pageSize {
        self.layout = layout
        missing = [0: "it is no meta page"]
        return
      }
    }
    if let layout = Self.layout(of: head, at: 0) {
      throw ReadError(
        .damaged,
        "both meta pages are damaged (a page size of \(layout.pageSize)); `kvdump recover` looks for what is left")
    }
    throw ReadError(.notLMDB, Foreign.describe(head, size: status.size))
  }

  /// Takes bytes of which only the layout is known, as when both meta pages are lost.
  package init(_ source: ByteSource, assuming layout: Layout) {
    self.source = source
    self.layout = layout
    missing = [0: "it is no meta page", 1: "it is no meta page"]
  }

  /// Reads both meta pages, until two looks agree: a writer may be busy with one.
  package func metas() throws(ReadError) -> [MetaPage] {
    var found = try readMetas()
    for _ in 0..<16 {
      let again = try readMetas()
      if again == found { break }
      found = again
    }
    return found
  }

  private func readMetas() throws(ReadError) -> [MetaPage] {
    var found: [MetaPage] = []
    for number in 0...1 {
      let bytes = try source.bytes(at: number * layout.pageSize, count: min(layout.pageSize, 512))
      if let meta = Meta(bytes, number: number, layout: layout) {
        let differs = meta.layout.pageSize != layout.pageSize ? "its page size is \(meta.layout.pageSize)" : nil
        found.append(MetaPage(number: number, meta: meta, problem: differs ?? meta.problem))
      } else {
        let problem = bytes.isEmpty ? "the file ends before it" : missing[number] ?? "it is no meta page"
        found.append(MetaPage(number: number, meta: nil, problem: problem))
      }
    }
    return found
  }

  /// The layout that a meta page speaks of, by where its magic number is and in which order its bytes are.
  private static func layout(of bytes: [UInt8], at number: Int) -> Layout? {
    for (wordSize, version) in [(4, 1), (8, 1), (4, 2), (4, 3), (8, 2), (8, 3)] {
      for isBigEndian in [false, true] {
        let guess = Layout(wordSize: wordSize, isBigEndian: isBigEndian, version: version, pageSize: 0)
        if let meta = Meta(bytes, number: number, layout: guess) { return meta.layout }
      }
    }
    return nil
  }

  /// The version of a file with the magic number and a version that is not known.
  private static func unknownVersion(_ head: [UInt8]) -> Int? {
    let bytes = head.span
    for offset in [12, 16, 24] where head.count >= offset + 8 {
      for isBigEndian in [false, true] {
        let guess = Layout(wordSize: 8, isBigEndian: isBigEndian, version: 1, pageSize: 0)
        if guess.load32(bytes, offset) == Meta.magic { return guess.load32(bytes, offset + 4) }
      }
    }
    return nil
  }
}

/// A meta page as it was found.
package struct MetaPage: Sendable, Hashable {
  package let number: Int
  /// What it says, if it can be read at all.
  package let meta: Meta?
  /// Why it cannot be trusted.
  package let problem: String?

  /// What it says, if it can be trusted.
  package var sound: Meta? { problem == nil ? meta : nil }
}

extension String {
  /// A path as it is without slashes at its end, which name the same directory.
  package var withoutEndingSlashes: String {
    let end = utf8.lastIndex { $0 != UInt8(ascii: "/") }.map { utf8.index(after: $0) }
    return end.map { String(self[..<$0]) } ?? (isEmpty ? "" : "/")
  }
}

import LMDBFile
import Testing

/// Files in which one page belongs to several records, so that a small one could be read for ever: they are damage, and
/// what is shared is handed out once.
@Suite struct SharedPageTests {
  private static let pageSize = 512
  private var empty: FileBuilder { FileBuilder(wordSize: 8, isBigEndian: false, version: 1, pageSize: Self.pageSize) }

  /// The file, with all references to one page leading to another.
  private func redirect(_ bytes: [UInt8], from old: Int, to new: Int, _ builder: FileBuilder) -> [UInt8] {
    var bytes = bytes
    let (wanted, other) = (builder.number(old, 8), builder.number(new, 8))
    for place in 2 * Self.pageSize..<bytes.count - 8 where place % Self.pageSize != 0 {
      if bytes[place..<place + 8].elementsEqual(wanted) { bytes.replaceSubrange(place..<place + 8, with: other) }
    }
    return bytes
  }

  private func readAll(_ bytes: [UInt8], reverse: Bool = false) throws {
    let snapshot = try Snapshot(try DataFile(ByteSource(bytes)))
    for tree in try snapshot.databases() {
      var records = try RecordCursor(snapshot, tree)
      while try reverse ? records.previous() : records.next() {}
    }
  }

  private func expectDamage(_ bytes: [UInt8], records: Int) throws {
    for reverse in [false, true] {
      let error = #expect(throws: ReadError.self) { try readAll(bytes, reverse: reverse) }
      #expect(error?.code == .damaged)
    }
    var verifier = Verifier(try Snapshot(try DataFile(ByteSource(bytes))))
    #expect(try verifier.run().count(.error) > 0)
    var salvage = try Salvage(ByteSource(bytes), .readable)
    var found = 0
    try salvage.run { record in
      if ["a", "b"].contains(record.database.map { String(decoding: $0, as: UTF8.self) }) { found += 1 }
    }
    #expect(found == records)
  }

  @Test func theValueOfTwoRecords() throws {
    var builder = empty
    let values = (0..<3).map { [UInt8](repeating: UInt8($0 + 1), count: 2000) }
    let start = builder.pages.count
    let tree = builder.addTree((0..<3).map { (key: [UInt8($0)], value: .bytes(values[$0])) }, perLeaf: 3)
    let main = builder.addMain([builder.named("a", tree, flags: 0)])
    let bytes = builder.file(main: main)
    try readAll(bytes)
    try expectDamage(redirect(bytes, from: start + 4, to: start, builder), records: 2)
  }

  @Test func theValuesOfTwoKeys() throws {
    var builder = empty
    let values = (0..<4).map { Array("value\($0)".utf8) }
    let tree = builder.addTree(
      [
        (key: [1], value: .tree(values, perPage: 4, isPacked: false)),
        (key: [2], value: .tree(values, perPage: 4, isPacked: false)),
      ], flags: 4, perLeaf: 2)
    let main = builder.addMain([builder.named("a", tree, flags: 4)])
    let bytes = builder.file(main: main)
    try readAll(bytes)
    try readAll(bytes, reverse: true)
    try expectDamage(redirect(bytes, from: 3, to: 2, builder), records: 4)
  }

  @Test func theRecordsOfTwoDatabases() throws {
    var builder = empty
    let tree = builder.addTree((0..<9).map { (key: [UInt8($0)], value: .bytes([1])) }, perLeaf: 3)
    let main = builder.addMain([builder.named("a", tree, flags: 0), builder.named("b", tree, flags: 0)])
    try expectDamage(builder.file(main: main), records: 9)
  }
}

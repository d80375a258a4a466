import LMDBFile

/// What libFuzzer calls with each input. Built by `tools/fuzz`, apart from the package.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  #if FUZZ_DUMP
    parse(bytes)
  #else
    walk(bytes)
  #endif
  return 0
}

#if FUZZ_DUMP
  private func parse(_ bytes: [UInt8]) {
    for isPlain in [false, true] {
      var parser = DumpParser(LineReader(bytes), isPlain: isPlain)
      var events = 0
      while (try? parser.next()) != nil {
        events += 1
        precondition(events <= bytes.count + 1, "the parser stands still")
        precondition(parser.key.count <= bytes.count && parser.value.count <= bytes.count)
      }
    }
  }
#else
  private func walk(_ bytes: [UInt8]) {
    if var salvage = try? Salvage(ByteSource(bytes), .readable) {
      var found = 0
      try? salvage.run { _ in found += 1 }
      precondition(found <= 4 * bytes.count, "more records are found than can be there")
    }
    guard let file = try? DataFile(ByteSource(bytes)), let snapshot = try? Snapshot(file, .readable) else { return }
    var verifier = Verifier(snapshot)
    _ = try? verifier.run()
    let databases = (try? snapshot.databases()) ?? []
    for tree in [snapshot.main] + databases.prefix(8) {
      for isReverse in [false, true] {
        guard var records = try? RecordCursor(snapshot, tree) else { continue }
        var steps = 0
        while (try? isReverse ? records.previous() : records.next()) == true {
          steps += 1
          precondition(steps <= 2 * bytes.count, "the cursor goes on without an end")
          _ = try? records.value(limit: 1 << 20)
        }
      }
      if var records = try? RecordCursor(snapshot, tree) { _ = try? records.seek(to: [0x6B]) }
    }
    for page in 0..<min(snapshot.filePages, 4) { _ = try? PageDescription(page, of: snapshot) }
  }
#endif

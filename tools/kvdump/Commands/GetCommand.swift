import LMDBFile

/// `get PATH [DATABASE] KEY`: the value under a key, byte by byte.
struct GetCommand: Command {
  static let help = Help(
    "get", "PATH [DATABASE] KEY", "writes the value under a key, as it is or decoded",
    details:
      "The exit code is 1 if there is no such key. A database of duplicates has the first value, or --all of them.",
    options: [
      .init("--all", "every value under the key"),
      .init("--decode", value: "FORM", "json, msgpack, cbor, plist, int, hex or dump"),
      .init("--raw", "bytes as they are, also to a terminal"),
      .init(
        "--key-format", value: "FORMAT",
        "how the key is given: escaped (usual, \\xNN is a byte), text, hex, base64, u32 or u64"),
    ] + Help.reading,
    example: "kvdump get .build/quickstart/store outbox.meta layout --decode int")

  private let reading: Reading
  private let name: String?
  private let key: String
  private let format: KeyText.Format?
  private let decoder: ValueDecoder?
  private let isRaw: Bool
  private let takesAll: Bool

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    name = arguments.count > 1 ? arguments.next() : nil
    key = try arguments.operand("the key")
    format = try arguments.choice("--key-format")
    decoder = try arguments.choice("--decode")
    isRaw = arguments.has("--raw")
    takesAll = arguments.has("--all")
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let tree = try reading.database(name, in: snapshot)
      let size = tree.flags.contains(.integerKey) ? KeyScope.integerSize(snapshot, tree) : nil
      let bytes = try KeyText.key(key, as: format, integerSize: size, snapshot.layout)
      var records = try reading.naming { () throws(ReadError) in try RecordCursor(snapshot, tree) }
      let isFound = try reading.naming { () throws(ReadError) in
        try records.seek(to: bytes) && records.key.array == bytes
      }
      guard isFound else {
        let hasOthers = name == nil && ((try? snapshot.databases()) ?? []).isEmpty == false
        throw Failure(
          .negativeAnswer,
          "\(printable(reading.path)): \(tree.title) has no key \(printable(key))"
            + (hasOthers ? "; name one of the other databases before it, which `kvdump ls` lists" : ""))
      }
      var isSame = true
      while isSame {
        try write(&records, snapshot, context)
        isSame = takesAll
        if isSame {
          isSame = try reading.naming { () throws(ReadError) in try records.next() && records.key.array == bytes }
        }
      }
    }
  }

  private func write(_ records: inout RecordCursor, _ snapshot: Snapshot, _ context: Context) throws(Failure) {
    if let decoder {
      let value = try reading.naming { () throws(ReadError) in try records.value() }
      return try context.output.line(try decoder.text(of: value, snapshot.layout))
    }
    if context.output.isTerminal && !isRaw {
      let value = try reading.naming { () throws(ReadError) in try records.value() }
      guard let text = String(validating: value, as: UTF8.self),
        printable(text.replacing("\n", with: "")).count == text.replacing("\n", with: "").count
      else {
        throw Failure(
          .usage,
          "the value has \(count(value.count, "byte")) that are not text; add --decode hex to see them, or --raw to write "
            + "them to the terminal")
      }
      return try context.output.line(text)
    }
    do throws(ReadFailure<Failure>) {
      try records.readValue { (part) throws(Failure) in try context.output.write(part) }
      if takesAll { do throws(Failure) { try context.output.write(byte: 0x0A) } catch { throw .body(error) } }
    } catch {
      throw Failure(error, reading.path)
    }
  }
}

import LMDB
import LMDBFile

/// `readers PATH`: who has a snapshot open.
struct ReadersCommand: Command {
  static let help = Help(
    "readers", "PATH", "lists the processes that read, and which commit each holds",
    details: "A dead process whose snapshot is still listed keeps the file growing; --clear takes it off the list.",
    options: [.init("--clear", "take dead processes off the list; this changes lock.mdb")],
    example: "kvdump readers .build/quickstart/store")

  private let reading: Reading
  private let clears: Bool

  init(_ arguments: inout Arguments) throws(Failure) {
    clears = arguments.has("--clear")
    reading = try Reading(&arguments)
  }

  func run(_ context: Context) throws(Failure) {
    let file = try reading.file()
    guard let table = try reading.naming({ () throws(ReadError) in try LockTable(of: file) }) else {
      try context.output.line("no readers: there is no lock file")
      return
    }
    if clears {
      let stale = table.readers.count { !$0.isAlive }
      do {
        // To open the file is to clear the table.
        let options = Environment.Options(mode: .readOnly)
        try Environment.open(at: try reading.directory(), databases: [], options: options).close()
      } catch {
        throw Failure(error)
      }
      try context.output.line("\(count(stale, "dead reader")) cleared")
      return
    }
    let newest = try Reading(reading, readable: true).snapshot().meta.transactionID
    let rows = table.readers.map { reader in
      let lag = reader.transactionID.map { newest > $0 ? newest - $0 : 0 }
      return [
        "\(reader.processID)", reader.isAlive ? "alive" : "dead", reader.transactionID.map(String.init) ?? "-",
        lag.map { "\($0)" } ?? "-",
      ]
    }
    if !rows.isEmpty {
      try context.output.table(rows, under: ["PID", "PROCESS", "COMMIT", "BEHIND"], right: [0, 2, 3])
    }
    try context.output.line("\(count(rows.count, "reader")) of \(table.capacity)")
  }
}

import Holdfast
import LMDB
import LMDBFile

/// `state verify PATH`: whether every record can be read.
struct StateVerifyCommand: Command {
  static let help = Help(
    "state verify", "PATH", "checks that every record of the state can be read, by its checksum and form",
    options: Help.reading, example: "kvdump state verify .build/quickstart/store")

  private let reading: Reading

  init(_ arguments: inout Arguments) throws(Failure) { self.init(try Reading(&arguments)) }

  init(_ reading: Reading) { self.reading = reading }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      var (errors, checked) = (0, 0)
      try StateReader(reading, snapshot).forEach { (row, _) throws(Failure) in
        checked += 1
        if case .failure(let error) = row {
          errors += 1
          try context.output.line("\(context.output.style("error", .red))    \(printable(error.message))")
        }
        try context.progress.step("\(checked) records")
        return true
      }
      try context.output.line("\(count(errors, "error")), \(count(checked, "record")) checked")
      if errors > 0 { throw Failure(.negativeAnswer, "") }
    }
  }
}

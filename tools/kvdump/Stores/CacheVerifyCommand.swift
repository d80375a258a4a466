import Holdfast
import LMDB
import LMDBFile

/// `cache verify PATH`: whether every entry can be read.
struct CacheVerifyCommand: Command {
  static let help = Help(
    "cache verify", "PATH", "checks that every entry of a disk cache can be read, by its checksum and form",
    options: Help.reading, example: "kvdump cache verify .build/quickstart-cache")

  private let reading: Reading

  init(_ arguments: inout Arguments) throws(Failure) { reading = try Reading(&arguments) }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      var (errors, checked) = (0, 0)
      try CacheReader(reading, snapshot).forEach { (row, _) throws(Failure) in
        checked += 1
        if case .failure(let error) = row {
          errors += 1
          try context.output.line("error    \(printable(error.message))")
        }
        try context.progress.step("\(checked) entries")
        return true
      }
      try context.output.line("\(count(errors, "error")), \(count(checked, "entry", "entries")) checked")
      if errors > 0 { throw Failure(.negativeAnswer, "") }
    }
  }
}

import Holdfast
import LMDBFile

/// `state get PATH KEY...`: the records of some keys, merged, as one JSON object.
struct StateGetCommand: Command {
  static let help = Help(
    "state get", "PATH KEY...", "shows the records of some keys, merged: a later key wins",
    details: "As the app would see them: records whose time is over are left out, and what requests in flight promise "
      + "lies over its record.",
    options: [Clock.option] + Help.reading,
    example: "kvdump state get .build/quickstart/store post:4711 user:lin.mei comment:c-0432")

  private let reading: Reading
  private let keys: [StateKey]
  private let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    keys = arguments.rest().map { StateKey($0) }
    now = try Clock.now(arguments)
    if keys.isEmpty { throw Failure(.usage, "name the keys after the path, such as `post:42 user:7`") }
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let state = try StateReader(reading, snapshot)
      var fields = FieldMap()
      for key in keys {
        guard let found = try state.row(key) else { continue }
        let row: StateRow
        switch found {
        case .success(let value): row = value
        case .failure(let error): throw Failure(.damagedData, "\(printable(reading.path)): \(printable(error.message))")
        }
        var own = row.expiresAt != 0 && row.expiresAt <= now ? FieldMap() : row.fields
        for layer in try row.isLayered ? LayerReader(reading, snapshot).layers(over: key) : [] {
          layer.changes.apply(to: &own)
        }
        fields.merge(own)
      }
      if fields.isEmpty {
        throw Failure(.negativeAnswer, "none of these keys has a record in \(printable(reading.path))")
      }
      try context.output.line(fields.description)
    }
  }
}

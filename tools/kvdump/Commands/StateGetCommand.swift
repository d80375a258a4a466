import Holdfast

/// `state get PATH KEY...`: the records of some keys, merged, as one JSON object.
struct StateGetCommand: Command {
  static let help = Help(
    "state get", "PATH KEY...", "shows the records of some keys, merged: a later key wins",
    example: "kvdump state get .build/quickstart/store post:4711 user:lin.mei comment:c-0432")

  private let path: String
  private let keys: [StateKey]

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    let words = arguments.rest()
    keys = words.map { StateKey($0) }
    if keys.isEmpty { throw Failure(.usage, "name the keys after the path, such as `post:42 user:7`") }
  }

  func run(_ context: Context) throws(Failure) {
    do {
      let fields = try Store.open(at: path, isReadOnly: true).state.merged(keys)
      if fields.isEmpty { throw Failure(.negativeAnswer, "none of these keys has a record in \(path)") }
      try context.output.line(fields.description)
    } catch {
      throw Failure(error)
    }
  }
}

import Holdfast

/// `state get PATH KEY...`: the records of some keys, merged, as one JSON object.
struct StateGetCommand {
  private let path: String
  private let keys: [StateKey]

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    let words = arguments.rest()
    if let option = words.first(where: { $0.hasPrefix("-") }) {
      throw Failure(.usage, "`state get` does not know \(printable(option)); it takes keys such as `post:42`")
    }
    keys = words.map { StateKey($0) }
    if keys.isEmpty { throw Failure(.usage, "name the keys after the path, such as `post:42 user:7`") }
  }

  func run(_ output: inout Output) throws(Failure) {
    do {
      let fields = try Store.open(at: path, isReadOnly: true).state.merged(keys)
      if fields.isEmpty { throw Failure(.negativeAnswer, "none of these keys has a record in \(path)") }
      output.line(fields.description)
    } catch {
      throw Failure(error)
    }
  }
}

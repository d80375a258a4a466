import Holdfast
import LMDBFile

/// `outbox requeue PATH SEQ`: has a dead letter sent again.
struct OutboxRequeueCommand: Command {
  static let help = Help(
    "outbox requeue", "PATH SEQ", "puts a request that was given up back into the outbox; this changes the store",
    details: """
      It goes to the end of its lane under a new number, with all its attempts before it and its old idempotency key. The
      app sends it with its next drain. `kvdump outbox list PATH --state dead` shows what was given up.
      """,
    example: "kvdump outbox list .build/quickstart-backlog --state dead")

  private let path: String
  private let id: EntryID

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    id = try EntryID(argument: try arguments.operand("the number of an entry"))
  }

  func run(_ context: Context) throws(Failure) {
    let store = try openExisting(path)
    do {
      let new = try store.write { [id] transaction in try store.outbox.requeue(id, in: &transaction) }
      try context.output.line("entry \(id) waits again, as entry \(new)")
    } catch {
      throw Failure(error)
    }
  }
}

/// `outbox cancel PATH SEQ`: takes an entry back.
struct OutboxCancelCommand: Command {
  static let help = Help(
    "outbox cancel", "PATH SEQ", "takes a waiting request out of the outbox; this changes the store",
    details: """
      What it has laid over the state, which the app shows in hope, goes with it; hooks of the app do not run. An entry that
      is being sent right now leaves when its attempt has come back: as delivered, if it was. One that has been attempted
      before may have reached the server.
      """,
    example: "kvdump outbox cancel .build/quickstart-backlog 2")

  private let path: String
  private let id: EntryID

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    id = try EntryID(argument: try arguments.operand("the number of an entry"))
  }

  func run(_ context: Context) throws(Failure) {
    let store = try openExisting(path)
    do {
      let count = try store.write { [id] transaction in try store.outbox.cancel(.entry(id), in: &transaction) }
      guard count > 0 else {
        throw Failure(.negativeAnswer, "\(printable(path)): no entry \(id) waits in the outbox")
      }
      try context.output.line("entry \(id) is taken back")
    } catch {
      throw Failure(error)
    }
  }
}

/// Opens a store to change it; makes none.
private func openExisting(_ path: String) throws(Failure) -> Store {
  let reading = Reading(path)
  let snapshot = try reading.snapshot()
  _ = try StoreTable("outbox.state", of: "outbox", reading, snapshot)
  do {
    return try Store.open(at: path)
  } catch {
    throw Failure(error)
  }
}

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
    let reading = Reading(path)
    guard let item = try OutboxReader(reading, try reading.snapshot()).item(id) else {
      throw Failure(.negativeAnswer, "\(printable(path)): the outbox has no entry \(id)")
    }
    guard item.state == "dead" else {
      let remedy =
        item.state == "held"
        ? "the app decides about it with `resolve`, or `outbox cancel` takes it back" : "it goes out by itself"
      throw Failure(
        .negativeAnswer, "\(printable(path)): entry \(id) is \(item.state), and has not been given up; \(remedy)")
    }
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

/// `outbox repair PATH`: makes anew what can be derived.
struct OutboxRepairCommand: Command {
  static let help = Help(
    "outbox repair", "PATH", "makes lost indexes of the outbox anew, so that all is sent; this changes the store",
    details: """
      Requests and their states are taken for the truth. A request whose state is lost is held. The end of the state's list of
      changes, without which nothing can be updated, is put right as well. The store is opened for it: of a file whose pages
      are damaged, make a sound one first with `recover`. The exit code is 1 if something is wrong still.
      """,
    example: "kvdump outbox repair .build/quickstart/store")

  private let path: String

  init(_ arguments: inout Arguments) throws(Failure) { path = try arguments.path() }

  func run(_ context: Context) throws(Failure) {
    let store = try openExisting(path)
    do {
      let found = try store.outbox.verify(repair: true)
      for problem in found.problems { try context.output.line(printable(problem)) }
      let rest = try store.outbox.verify()
      try context.output.line(
        "\(count(found.count, "problem")), \(count(found.repaired, "row")) put right, \(rest.count) left")
      try store.state.verify(repair: true)
      guard rest.count == 0 else { throw Failure(.negativeAnswer, "") }
    } catch let error as Failure {
      throw error
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

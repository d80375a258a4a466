import Foundation

/// The command-line tool: `kvdump COMMAND PATH [ARGUMENTS]`.
@main
enum KVDump {
  private static let help = """
    Usage: kvdump COMMAND PATH [ARGUMENTS]

    Shows what is in a store, without changing it. PATH is the directory that holds data.mdb.

      info PATH                        sizes, pages and readers of the environment
      ls PATH                          its databases, and how large each is
      outbox list PATH [--limit N]     requests that wait to be sent, and those that were given up
      state get PATH KEY...            the records of the keys (type:id), merged: a later key wins
      help                             this text

    Data goes to standard output, everything else to standard error.
    Exit codes: 0 done, 1 no such record, 64 wrong usage, 65 damaged data, 66 no such file, 69 not a store,
    74 input or output failed, 75 busy, 77 not allowed.
    """

  static func main() {
    var output = Output()
    do throws(Failure) {
      try run(Array(CommandLine.arguments.dropFirst()), &output)
      try output.flush()
    } catch {
      FileHandle.standardError.write(Data("kvdump: \(error.message)\n".utf8))
      exit(error.exitCode)
    }
  }

  private static func run(_ words: [String], _ output: inout Output) throws(Failure) {
    var arguments = Arguments(words)
    let command = arguments.next()
    switch command {
    case "info": try InfoCommand(&arguments).run(&output)
    case "ls": try ListCommand(&arguments).run(&output)
    case "outbox":
      try arguments.expect("list", of: "outbox")
      try OutboxListCommand(&arguments).run(&output)
    case "state":
      try arguments.expect("get", of: "state")
      try StateGetCommand(&arguments).run(&output)
    case "help", "--help", "-h": output.line(help)
    case nil: throw Failure(.usage, "say what to do, such as `kvdump info PATH`; `kvdump help` lists the commands")
    case let other?: throw Failure(.usage, "there is no command \(printable(other)); `kvdump help` lists them")
    }
  }
}

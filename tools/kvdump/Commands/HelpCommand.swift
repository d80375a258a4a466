/// `help [COMMAND]`: the commands, or one of them.
struct HelpCommand: Command {
  static let help = Help(
    "help", "[COMMAND]", "shows all commands, how one is used, or with `terms` what the words mean",
    example: "kvdump help terms")

  private let words: [String]

  init(_ arguments: inout Arguments) throws(Failure) { words = arguments.rest() }

  func run(_ context: Context) throws(Failure) {
    if words.isEmpty { return try Self.show(nil) }
    let group = words.count == 1 ? KVDump.group(words[0]) : []
    if !group.isEmpty { return try context.output.line(Self.list(group)) }
    if words == ["terms"] { return try context.output.line(Self.terms) }
    try Self.show(try KVDump.find(words).0)
  }

  static func show(_ command: (any Command.Type)?) throws(Failure) {
    var output = Output()
    try output.line(command?.help.text ?? overview)
    try output.flush()
  }

  static func showVersion() throws(Failure) {
    var output = Output()
    try output.line("kvdump \(KVDump.version), reads LMDB 0.9, 0.9.90 and 1.0, writes LMDB 0.9")
    try output.flush()
  }

  static let introduction = """
    Shows what is in an LMDB file, whoever made it and whatever has happened to it, and saves what can be saved.
    PATH is a directory with a data.mdb, or a data file. Commands that read change nothing, and lock nothing.
    """

  /// What somebody needs to know who has never seen LMDB.
  static let terms = """
    LMDB is a library with which many programs keep their data, from mail servers to apps on a phone.
    data file    holds everything, mostly as data.mdb in a directory of its own, with lock.mdb beside it
    record       a key and a value, both of any bytes; a database has them in the order of their keys
    database     the records under one name; a data file has any number of them
    main         the database without a name; where there are named ones, it is the list of them
    duplicates   several values under one key, in a database that was made for it (dupsort)
    flags        how a database sorts and stores: integerkey, reversekey, dupsort, dupfixed, integerdup, reversedup
    page         what the file is made of, mostly 4096 bytes each; a leaf holds records, a branch leads to leaves
    free page    one that is not in use; it is used again before the file grows
    commit       a change that is there whole or not at all; they are numbered. Pages in use are never overwritten, so
                 the commit before the newest can mostly still be read
    meta page    page 0 and 1 in turn: which commit is the newest, and where its databases start
    reader       a program that looks at one commit, whatever is committed meanwhile; lock.mdb lists them all
    map          the largest size the file may have; it is reserved, and not used up
    outbox       requests that must reach a server; one that cannot be delivered is a dead letter, and can be requeued
    lane         requests that are sent in order, one at a time; a held one keeps those behind it until the app resolves it
    gate         what closes after failures, before a host or credentials; one request tries when its time is over
    dump         a data file as text, which every version of LMDB on every machine can load
    """

  static let exitCodes = """
    0 done, 1 no (not found, not equal, not sound), 2 only warnings (verify --strict), 64 wrong usage, 65 damaged or
    malformed data, 66 no such file or database, 69 not an LMDB file, 73 cannot create, 74 input or output failed,
    75 changed while it was read, 77 not allowed, 130 interrupted, 141 nobody read on.
    """

  private static func list(_ commands: [any Command.Type]) -> String {
    let width = commands.map { $0.help.name.count }.max() ?? 0
    return commands.map { "  " + $0.help.name.padded(to: width) + "  " + $0.help.summary }.joined(separator: "\n")
  }

  private static var overview: String {
    """
    Usage: kvdump COMMAND PATH [ARGUMENTS]

    \(introduction)

    \(list(KVDump.commands))

    `kvdump help COMMAND` shows the options of a command, and an example; `kvdump help terms` says what the words mean.

    Data goes to standard output, everything else to standard error. Exit codes:
    \(exitCodes)
    """
  }
}

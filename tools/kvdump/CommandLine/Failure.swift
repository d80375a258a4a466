import Holdfast
import LMDBFile

/// Why a command stops, with an exit code of `sysexits.h`.
struct Failure: Error {
  enum Kind: Int32, Sendable {
    case negativeAnswer = 1
    case warnings = 2
    case usage = 64
    case damagedData = 65
    case noInput = 66
    case notAStore = 69
    case cannotCreate = 73
    case io = 74
    case busy = 75
    case notAllowed = 77
    case interrupted = 130
    case closedPipe = 141
  }

  let kind: Kind
  /// One sentence; empty if the output has said it all.
  let message: String

  var exitCode: Int32 { kind.rawValue }

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// What a reader says of a file.
  init(_ error: ReadError, _ path: String) {
    let kind: Kind =
      switch error.code {
      case .notFound, .unknownDatabase: .noInput
      case .denied: .notAllowed
      case .notLMDB, .unsupported: .notAStore
      case .damaged, .tooLarge: .damagedData
      case .io: .io
      case .changed: .busy
      }
    // Where the reader knows no better way, there is one for all damage.
    let remedy =
      error.code == .damaged && !error.description.contains(";") ? "; `kvdump recover` saves what is left" : ""
    self.init(kind, "\(printable(path)): \(error.description)\(remedy)")
  }

  /// Anything that a store throws.
  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as StoreError: self.init(Self.kind(of: error.code), error.description)
    default: self.init(.io, "\(error)")
    }
  }

  private static func kind(of code: StoreError.Code) -> Kind {
    switch code {
    case .invalidKey, .invalidOption, .invalidValue: .usage
    case .notFound, .notADirectory, .unknownDatabase: .noInput
    case .notADatabase, .unsupportedVersion: .notAStore
    case .accessDenied: .notAllowed
    case .busy, .readersFull: .busy
    case .damaged, .corruptRecord: .damagedData
    default: .io
    }
  }
}

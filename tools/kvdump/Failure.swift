import Holdfast

/// Why a command stops, with an exit code of `sysexits.h`.
struct Failure: Error {
  enum Kind: Int32 {
    case negativeAnswer = 1
    case usage = 64
    case damagedData = 65
    case noInput = 66
    case notAStore = 69
    case io = 74
    case busy = 75
    case notAllowed = 77
  }

  let kind: Kind
  let message: String

  var exitCode: Int32 { kind.rawValue }

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
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

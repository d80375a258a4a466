import Foundation

/// Removes the stores of a run that is interrupted: they are large, and the next run may have another directory.
final class Interruptions {
  private let sources: [any DispatchSourceSignal]

  init(removing folder: String) {
    sources = [SIGINT, SIGTERM, SIGHUP, SIGPIPE].compactMap { number in
      let former = signal(number, SIG_IGN)
      // What was started to outlive its terminal goes on.
      if number == SIGHUP, former != nil { return nil }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        // The run goes on meanwhile and may make a file in a folder that is just being emptied.
        for _ in 0..<3 { try? FileManager.default.removeItem(atPath: folder) }
        _exit(128 + number)
      }
      source.activate()
      return source
    }
  }
}

/// Takes bytes as they come, and gives them back line by line.
struct LineReader {
  /// The longest line, unless another limit is given: a value of 64 MiB in hexadecimal, and some.
  static let usualLimit = 160 << 20
  /// From this length on, memory for the longest line is taken at once, since doubling it needs more.
  private static let large = 16 << 20

  private let limit: Int
  private let fill: (inout [UInt8]) -> Int
  private var chunk = [UInt8](repeating: 0, count: 1 << 18)
  private var available = 0
  private var position = 0
  /// The line last read, without its end.
  private(set) var line: [UInt8] = []
  /// Its number, from 1.
  private(set) var number = 0
  /// Whether the line last read had an end.
  private(set) var isTerminated = true
  /// Why there is no more, if it is not the end of the input.
  private(set) var failure: Failure?

  enum Failure {
    case unreadable
    case tooLong(limit: Int)

    /// What is wrong, as a phrase.
    var what: String {
      switch self {
      case .unreadable: "it cannot be read"
      case .tooLong(let limit):
        "it is longer than \(limit >> 20) MiB; if that is meant, allow more with --max-line"
      }
    }
  }

  /// Whether it ended because the device has failed.
  var isUnreadable: Bool { if case .unreadable = failure { true } else { false } }

  /// - Parameters:
  ///   - limit: The longest line in bytes.
  ///   - fill: Puts what there is into the buffer, and says how much; zero at the end, below zero for a failure.
  init(limit: Int = LineReader.usualLimit, _ fill: @escaping (inout [UInt8]) -> Int) {
    self.limit = limit
    self.fill = fill
  }

  /// Takes bytes that are all there.
  init(_ bytes: [UInt8]) {
    var rest = bytes[...]
    self.init { buffer in
      let count = min(rest.count, buffer.count)
      buffer.replaceSubrange(0..<count, with: rest.prefix(count))
      rest = rest.dropFirst(count)
      return count
    }
  }

  /// Reads a line.
  ///
  /// - Returns: Whether there was one, or at least the start of one.
  mutating func next() -> Bool {
    line.removeAll(keepingCapacity: true)
    isTerminated = false
    while failure == nil {
      if position == available {
        let got = fill(&chunk)
        if got < 0 { failure = .unreadable }
        if got <= 0 { break }
        (position, available) = (0, got)
      }
      let rest = chunk[position..<available]
      let end = rest.firstIndex(of: 0x0A) ?? available
      if line.count + end - position > limit {
        failure = .tooLong(limit: limit)
        break
      }
      if line.count > Self.large { line.reserveCapacity(limit) }
      line.append(contentsOf: rest[..<end])
      position = end
      if end < available {
        position += 1
        isTerminated = true
        break
      }
    }
    if line.isEmpty && !isTerminated && failure == nil { return false }
    number += 1
    return failure == nil
  }
}

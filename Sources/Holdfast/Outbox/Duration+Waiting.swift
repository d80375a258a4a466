import LMDB

extension Duration {
  /// Whole milliseconds, rounded up, so that a wait is never cut short; from zero to ``longestWait``.
  var milliseconds: Int64 {
    // As most are; the type reckons with 128 bits.
    if self == .zero { return 0 }
    let (seconds, attoseconds) = min(max(self, .zero), Self.longestWait).components
    return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
  }

  /// A pause that a server asked for, as far as it is respected: at most a day.
  var retryAfter: Duration { min(max(self, .zero), .seconds(86_400)) }

  /// Up to a tenth longer, so that clients which were told the same do not return together.
  func lengthened(using random: inout some RandomNumberGenerator) -> Duration {
    .milliseconds(milliseconds + Int64.random(in: 0...milliseconds / 10, using: &random))
  }

  /// A wait that is drawn evenly from zero to this.
  func drawn(using random: inout some RandomNumberGenerator) -> Duration {
    .milliseconds(Int64.random(in: 0...milliseconds, using: &random))
  }
}

import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct KeyTests {
  let scratch = TemporaryDirectory()

  @Test func keysOf511BytesAreStoredAndLongerOnesRefused() throws {
    let (environment, a) = try Environment.make(at: scratch(), .init(durability: .unsafeNoSync))
    let longest = [UInt8](repeating: 0xFF, count: 511)
    try environment.write { t in
      try t.set([1].span, forKey: longest.span, in: a)
      for key in [[], longest + [0]] {
        #expect(throws: StoreError.self) { try t.set([1].span, forKey: key.span, in: a) }
        #expect(throws: StoreError.self) { try t.removeValue(forKey: key.span, in: a) }
        #expect(throws: StoreError.self) { _ = try t.value(forKey: key.span, in: a)?.count }
      }
      // Such an error does not end the transaction.
      try t.set([2], forKey: "k", in: a)
    }
    try environment.read { t in
      let count = try t.value(forKey: longest.span, in: a)?.count
      #expect(count == 1)
      #expect(t.bytes("k", in: a) == [2])
      for key in [[], longest + [0]] {
        let failure = #expect(throws: StoreError.self) { _ = try t.value(forKey: key.span, in: a)?.count }
        #expect(failure?.code == .invalidKey)
      }
    }
    try environment.verify()
  }

  /// Values after odd-length keys lie at odd addresses.
  @Test func numbersAfterKeysOfEveryLengthAreReadWhereverTheyLie() throws {
    let (environment, a) = try Environment.make(at: scratch(), .init(durability: .unsafeNoSync))
    try environment.write { t in
      for length in 1...511 {
        let number = UInt64(length) &* 0x0123_4567_89AB_CDEF
        let bytes = unsafe withUnsafeBytes(of: number) { unsafe Array($0) }
        try t.set(bytes.span, forKey: [UInt8](repeating: 7, count: length).span, in: a)
      }
    }
    try environment.read { t in
      for length in 1...511 {
        let key = [UInt8](repeating: 7, count: length)
        guard let value = try t.value(forKey: key.span, in: a) else { throw StoreError(.notFound, "\(length)") }
        let number = unsafe value.bytes.unsafeLoadUnaligned(as: UInt64.self)
        #expect(number == UInt64(length) &* 0x0123_4567_89AB_CDEF)
      }
    }
  }

  @Test func valuesOfEverySizeClass() throws {
    let (environment, a) = try Environment.make(at: scratch(), .init(durability: .unsafeNoSync))
    let sizes = [0, 1, 2, 100, 2025, 2026, 2027, 2030, 2031, 4079, 4080, 4081, 65_536, 1 << 20]
    try environment.write { t in
      for size in sizes { try t.set([UInt8](repeating: UInt8(size % 251), count: size), forKey: "\(size)", in: a) }
    }
    try environment.read { t in
      for size in sizes { #expect(t.bytes("\(size)", in: a) == [UInt8](repeating: UInt8(size % 251), count: size)) }
    }
    try environment.verify()
  }

  @Test func anotherEnvironmentsDatabaseTraps() async {
    await #expect(processExitsWith: .failure) {
      let scratch = TemporaryDirectory()
      let (first, _) = try Environment.make(at: scratch("1"))
      let (_, a) = try Environment.make(at: scratch("2"))
      try first.write { try $0.set([1], forKey: "k", in: a) }
    }
  }
}

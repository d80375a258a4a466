import TestSupport
import Testing

@testable import LMDB

@Suite struct CursorTests {
  private let environment: Environment
  private let database: Database
  private let directory = TemporaryDirectory()
  private static let keys: [[UInt8]] = [
    [0], [0, 0], [1], [1, 0], [1, 255], [2], [254], [255], [255, 255], [255, 255, 1],
  ]

  init() throws {
    environment = try Environment.open(at: "\(directory.path)/env", databases: ["a"])
    let database = try environment.database("a")
    self.database = database
    try environment.write { t in
      for (index, key) in Self.keys.enumerated() { try t.set([UInt8(index)].span, forKey: key.span, in: database) }
    }
  }

  private static let bounds: [KeyRange.Bound] =
    [.unbounded] + (keys + [[1, 1], [3], [255, 254]]).flatMap { [.included($0), .excluded($0)] }

  private static func expected(_ range: KeyRange) -> [[UInt8]] {
    keys.filter { key in
      let isAbove =
        switch range.lower {
        case .unbounded: true
        case .included(let bound): !key.lexicographicallyPrecedes(bound)
        case .excluded(let bound): bound.lexicographicallyPrecedes(key)
        }
      let isBelow =
        switch range.upper {
        case .unbounded: true
        case .included(let bound): !bound.lexicographicallyPrecedes(key)
        case .excluded(let bound): key.lexicographicallyPrecedes(bound)
        }
      return isAbove && isBelow
    }
  }

  @Test func everyRangeIsWalkedBothWays() throws {
    try environment.read { t in
      for lower in Self.bounds {
        for upper in Self.bounds {
          let range = KeyRange(lower: lower, upper: upper)
          let expected = Self.expected(range)
          var forward: [[UInt8]] = []
          var backward: [[UInt8]] = []
          var cursor = try t.cursor(in: database, over: range)
          while try cursor.next() { forward.append([UInt8](copying: cursor.key)) }
          while try cursor.previous() { backward.append([UInt8](copying: cursor.key)) }
          let isAtStart = try cursor.next() == !expected.isEmpty
          #expect(forward == expected && backward == expected.reversed() && isAtStart, "\(range)")
        }
      }
    }
  }

  @Test(arguments: [[], [0], [1], [255], [255, 255], [7]] as [[UInt8]])
  func aPrefixIsARange(_ prefix: [UInt8]) throws {
    let found = try environment.read { t in
      var found: [[UInt8]] = []
      var cursor = try t.cursor(in: database, over: .prefix(prefix))
      while try cursor.next() { found.append([UInt8](copying: cursor.key)) }
      return found
    }
    #expect(found == Self.keys.filter { $0.starts(with: prefix) })
  }

  @Test func seekingStaysInTheRange() throws {
    try environment.read { t in
      var cursor = try t.cursor(in: database, over: .range([1], upTo: [254]))
      let targets: [([UInt8], [UInt8]?)] = [([0], [1]), ([1], [1]), ([1, 1], [1, 255]), ([3], nil), ([255], nil)]
      for (target, expected) in targets {
        let isFound = try cursor.seek(to: target.span)
        #expect((isFound ? [UInt8](copying: cursor.key) : nil) == expected)
      }
    }
  }

  @Test func aKeyRangeOfTextIsThatOfItsBytes() throws {
    #expect(KeyRange.range("a", upTo: "é") == .range([0x61], upTo: [0xC3, 0xA9]))
    #expect(KeyRange.range("user:", upTo: "user;") == .prefix("user:"))
  }

  @Test func removingARangeLeavesTheRest() throws {
    let removed = try environment.write { t in try t.removeAll(.prefix([1]), in: database) }
    #expect(removed == 3)
    #expect(try environment.read { t in try t.count(of: database) } == 7)
    try environment.write { t in
      for index in 0..<2500 { try t.set([], forKey: "many \(index)", in: database) }
    }
    #expect(try environment.write { t in try t.removeAll(.prefix("many "), in: database) } == 2500)
  }
}

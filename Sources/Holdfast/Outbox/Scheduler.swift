/// Chooses which of the entries that may go out go first.
///
/// A pure value. Routes take turns, so that none holds up another; within one the more urgent goes first, and who has
/// waited gains a level of priority every ten minutes. What routes share (a host, credentials, a queue) admits only so
/// many at once.
struct Scheduler {
  /// Something that several routes may share.
  enum Resource: Hashable {
    case host(String)
    case credentials(String)
    case queue(String)
  }

  /// The entries of one route that are due.
  struct Line {
    var route: Route
    var number: UInt64
    var due: [DueKey]
  }

  /// How long an entry must wait to count as one level more urgent, in milliseconds.
  static let ageing: Int64 = 600_000

  /// How many more each resource admits; whatever is not named admits all.
  var allowances: [Resource: Int] = [:]
  /// The route whose turn was last.
  private(set) var last: UInt64 = 0

  /// Up to `room` entries in the order in which they should go.
  mutating func pick(_ room: Int, from lines: [Line], at now: Int64) -> [DueKey] {
    let sorted = lines.sorted { $0.number < $1.number }
    // The route after the one that was served last begins.
    var waiting = (sorted.filter { $0.number > last } + sorted.filter { $0.number <= last }).map { line in
      (line: line, rest: line.due.sorted { Self.precedes($0, $1, at: now) }[...])
    }
    var picked: [DueKey] = []
    var isStuck = false
    while picked.count < room, !isStuck {
      isStuck = true
      for index in waiting.indices where picked.count < room {
        // Mostly nothing is limited.
        let resources = allowances.isEmpty ? [] : waiting[index].line.route.resources
        guard resources.allSatisfy({ allowances[$0, default: .max] > 0 }), let next = waiting[index].rest.popFirst()
        else { continue }
        for resource in resources where allowances[resource] != nil { allowances[resource, default: 0] -= 1 }
        picked.append(next)
        last = waiting[index].line.number
        isStuck = false
      }
    }
    return picked
  }

  private static func precedes(_ a: DueKey, _ b: DueKey, at now: Int64) -> Bool {
    let (levelA, levelB) = (level(of: a, at: now), level(of: b, at: now))
    return (levelA, a.time, a.id.rawValue) < (levelB, b.time, b.id.rawValue)
  }

  private static func level(of key: DueKey, at now: Int64) -> Int64 {
    Int64(key.priority) - max(0, now - key.time) / ageing
  }
}

extension Route {
  var resources: [Scheduler.Resource] {
    [.host(host ?? ""), .credentials(credentials ?? ""), .queue(queue)]
  }
}

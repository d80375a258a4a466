import Foundation
import Holdfast
import LMDB

/// Opens one state that a crash may have left, and looks whether the cache may be like that.
struct CacheCheck {
  let directory: String

  /// `empty`, `correct`, or what is wrong.
  func verdict() -> String {
    do {
      // What the state is of: whether the power was cut, the last step that had begun, and the keys and steps that
      // would be there if only the process had ended.
      let facts = try String(contentsOfFile: "\(directory).facts", encoding: .utf8).split(separator: "\n")
      let isPowerCut = facts[0] == "power"
      let begun = Int(facts[1]) ?? 0
      let cache = try DiskCache.open(
        at: directory, configuration: CacheWorkload.configuration,
        system: CrashLab.system(bootID: isPowerCut ? "after" : "before"))
      var count = 0
      for index in 0..<CacheWorkload.keys {
        let key = "key \(index)"
        guard let value = try cache.value(forKey: key) else { continue }
        guard let step = CacheWorkload.step(of: value, key) else { return "WRONG: \(key) has a value of nobody" }
        if step > begun { return "WRONG: \(key) has a value from step \(step), after \(begun)" }
        count += 1
      }
      if try cache.totalCount() < count { return "WRONG: \(count) entries, but a total of \(try cache.totalCount())" }
      if !isPowerCut && facts.count > 2 {
        for fact in facts[2...] {
          let words = fact.split(separator: " ")
          let key = "key \(words[0])"
          let found = try cache.value(forKey: key).flatMap { CacheWorkload.step(of: $0, key) }
          if found.map(String.init) != (words[1] == "-" ? nil : String(words[1])) {
            return "WRONG: \(key) is \(String(describing: found)), not \(words[1])"
          }
        }
      }
      // Whatever was found, the cache goes on.
      let probe = CacheWorkload.value("probe", begun, 5000)
      try cache.setValue(probe, forKey: "probe")
      guard try cache.value(forKey: "probe") == probe else { return "WRONG: a new value is not there" }
      try cache.removeObject(forKey: "probe")
      try cache.close()
      return count == 0 ? "empty" : "correct"
    } catch {
      return "WRONG: \(error)"
    }
  }
}

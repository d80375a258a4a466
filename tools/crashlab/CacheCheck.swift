import Foundation
import Holdfast
import LMDB

/// Opens one state that a crash may have left, and looks whether the cache may be like that.
struct CacheCheck {
  let directory: String

  /// `empty`, `correct`, or what is wrong.
  func verdict() -> String {
    do {
      let facts = try CrashFacts(of: directory)
      let cache = try DiskCache.open(
        at: directory, configuration: CacheWorkload.configuration,
        system: CrashLab.system(bootID: facts.isPowerCut ? "after" : "before"))
      var count = 0
      for index in 0..<CacheWorkload.keys {
        let key = "key \(index)"
        guard let value = try cache.value(forKey: key) else { continue }
        guard let step = CacheWorkload.step(of: value, key) else { return "WRONG: \(key) has a value of nobody" }
        if step > facts.begun { return "WRONG: \(key) has a value from step \(step), after \(facts.begun)" }
        count += 1
      }
      if try cache.totalCount() < count { return "WRONG: \(count) entries, but a total of \(try cache.totalCount())" }
      if !facts.isPowerCut && facts.ended == facts.begun {
        for (index, step) in facts.content {
          let key = "key \(index)"
          let found = try cache.value(forKey: key).flatMap { CacheWorkload.step(of: $0, key) }
          if found.map(String.init) != (step == "-" ? nil : step) {
            return "WRONG: \(key) is \(String(describing: found)), not \(step)"
          }
        }
      }
      // Whatever was found, the cache goes on.
      let probe = CacheWorkload.value("probe", facts.begun, 5000)
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

import Harness
import Holdfast
import Peers

/// Our disk cache and those of other designs, with the same content.
struct DiskRivals {
  let cache: DiskCache
  let peers: [PeerBlobs]
  let names: [String]
  let keys: KeyBlock

  init(in folder: WorkFolder, count: Int, _ designs: [PeerBlobs.Design] = PeerBlobs.Design.allCases) throws {
    cache = try DiskCache.open(at: folder.path(of: "holdfast"))
    peers = try designs.map { try PeerBlobs($0, at: folder.path(of: $0.rawValue)) }
    names = (0..<count).map { "picture:\(10_000_000 + $0)" }
    keys = KeyBlock(texts: names)
  }

  /// Stores a value under each key, everywhere.
  func fill(_ values: ValueBlock) throws {
    let arrays = DiskRivals.arrays(values)
    for (index, name) in names.enumerated() {
      try cache.setValue(arrays[index % arrays.count], forKey: name)
    }
    for peer in peers {
      for index in 0..<keys.count { try peer.set(keys, index..<index + 1, values, from: index % values.count) }
    }
  }

  /// The names of some keys, copied so that they lie in memory one after the other, as those do that the peers get.
  func names(of draws: [Int]) -> [String] { draws.map { String(decoding: Array(names[$0].utf8), as: UTF8.self) } }

  /// Values as arrays, which is how our cache takes them.
  static func arrays(_ values: ValueBlock) -> [[UInt8]] {
    (0..<values.count).map { Array(values.bytes[$0 * values.width..<($0 + 1) * values.width]) }
  }
}

// The bytes of a field outlive the snapshot in which they lie.
// expected: lifetime-dependent variable
import Holdfast

func misuse(_ store: Store) throws {
  var kept = Span<UInt8>()
  try store.state.withMerged(["post:1"]) { fields in
    _ = try fields.withBytes("image") { bytes in kept = bytes }
  }
  print(kept.count)
}

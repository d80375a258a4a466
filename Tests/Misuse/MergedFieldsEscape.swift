// The fields of some records outlive the snapshot in which they lie.
// expected: 'MergedFields'
import Holdfast

func misuse(_ store: Store) throws {
  let kept = try store.state.withMerged(["post:1"]) { (fields) -> MergedFields in fields }
  print(try kept.bool("a") ?? false)
}

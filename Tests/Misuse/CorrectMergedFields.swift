// What the files about fields get wrong, done right: this one must compile.
import Holdfast

func use(_ store: Store) throws -> (Bool, Int) {
  try store.state.withMerged(["post:1", "user:2"]) { fields in
    let isFollowed = try fields.bool("isFollowed") ?? false
    let size = try fields.withBytes("image") { bytes in bytes.count } ?? 0
    return (isFollowed, size)
  }
}

import LMDBFile

extension Output {
  /// Writes a part of a file; less, if that ends before.
  mutating func copy(_ source: ByteSource, _ range: Range<Int>, _ context: Context) throws(Failure) {
    var buffer = [UInt8](repeating: 0, count: min(range.count, 1 << 20))
    var offset = range.lowerBound
    while offset < range.upperBound {
      let got: Int
      do throws(ReadError) {
        got = try source.read(into: &buffer, count: min(buffer.count, range.upperBound - offset), at: offset)
      } catch {
        throw Failure(error, source.path)
      }
      if got == 0 { return }
      try write(buffer.span.extracting(first: got))
      offset += got
      try context.progress.look("\(size(offset)) of \(size(range.upperBound))")
    }
  }
}

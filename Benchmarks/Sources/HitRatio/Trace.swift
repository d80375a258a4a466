import Foundation

/// The keys that were asked for, in order.
struct Trace {
  /// Keys as numbers from 0 in order of their first use.
  var keys: [Int] = []
  /// What each request's key costs; empty if the trace does not say.
  var sizes: [Int] = []
  /// How many different keys there are.
  var uniqueCount = 0

  /// A line of four numbers can ask for more requests than there is memory for; a trace of the papers has some millions.
  static let mostRequests = 200_000_000
  /// The most that all sizes together may be, so that sums and percentages of them are numbers.
  static let mostBytes = 1 << 56

  /// Reads a trace.
  ///
  /// The forms are: a key a line; a key and its size in bytes a line; and, for files named `.lis`, those of the ARC
  /// papers: a first block, a number of blocks, and two numbers that are ignored. A file named `.gz` is unpacked by gzip.
  /// Lines that begin with `#` or `*` are comments.
  init(path: String) throws {
    let isPacked = path.hasSuffix(".gz")
    let text: Data
    do {
      text = isPacked ? try Self.unpack(path) : try Data(contentsOf: URL(filePath: path))
    } catch let error as HitRatioError {
      throw error
    } catch { throw HitRatioError("\(path) cannot be read: \(error.localizedDescription)") }
    let isRanges = (isPacked ? String(path.dropLast(3)) : path).hasSuffix(".lis")
    var numbers: [Substring: Int] = [:]
    var blocks: [Int: Int] = [:]
    var bytes = 0
    let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() where !line.hasPrefix("#") && !line.hasPrefix("*") {
      let fields = line.split(whereSeparator: \.isWhitespace)
      guard let key = fields.first else { continue }
      if isRanges {
        guard fields.count >= 2, let first = Int(key), let count = Int(fields[1]), count >= 0 else {
          throw HitRatioError("\(path), line \(index + 1): not a start and a number of blocks")
        }
        guard count <= Self.mostRequests - keys.count, first <= .max - count else {
          throw HitRatioError("\(path), line \(index + 1): more than \(Self.mostRequests) blocks, or numbers too large")
        }
        for block in first..<first + count {
          keys.append(blocks[block] ?? blocks.count)
          blocks[block] = keys[keys.count - 1]
        }
        continue
      }
      keys.append(numbers[key] ?? numbers.count)
      numbers[key] = keys[keys.count - 1]
      if fields.count > 1 {
        guard let size = Int(fields[1]), size >= 0, size <= Self.mostBytes - bytes else {
          throw HitRatioError("\(path), line \(index + 1): \(fields[1]) is no size")
        }
        sizes.append(max(size, 1))
        bytes += max(size, 1)
      }
    }
    guard sizes.isEmpty || sizes.count == keys.count else {
      throw HitRatioError("\(path): some lines have a size, some have none")
    }
    guard !keys.isEmpty else { throw HitRatioError("\(path): there are no keys in it") }
    uniqueCount = numbers.count + blocks.count
  }

  private static func unpack(_ path: String) throws -> Data {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw HitRatioError("\(path) cannot be unpacked by gzip") }
    return data
  }
}

/// What is wrong with a trace or the command.
struct HitRatioError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

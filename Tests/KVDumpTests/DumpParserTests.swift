import Foundation
import LMDBFile
import TestSupport
import Testing

@testable import kvdump

/// The parser of dumps on its own. HOLDFAST_FUZZ is how many damaged texts it gets, 10,000 without.
@Suite struct DumpParserTests {
  private func parse(_ bytes: [UInt8]) throws -> [String] {
    var parser = DumpParser(LineReader(bytes))
    var events: [String] = []
    while let event = try parser.next() {
      switch event {
      case .section(let section):
        events.append("\(section.name.map { String(escaping: $0) } ?? "-") \(section.flags.rawValue)")
      case .record: events.append("\(String(escaping: parser.key))=\(String(escaping: parser.value))")
      case .end: events.append("end")
      }
      // Each event takes a line, so that a parser that stands still shows.
      precondition(events.count <= bytes.count + 1)
    }
    return events
  }

  @Test func readsBothFormats() throws {
    let text =
      "VERSION=3\r\nformat=print\ndatabase=a b\nbogus=1\ndupsort=1\nHEADER=END\n \\41\\\\b\n \n x\n y\\0a\nDATA=END\n"
    let more = "VERSION=2\nformat=bytevalue\nHEADER=END\n 6B4f\n \nDATA=END\r\n"
    #expect(try parse(Array((text + more).utf8)) == ["a b 4", "A\\\\b=", "x=y\\x0a", "end", "- 0", "kO=", "end"])
  }

  @Test func theRuleForBackslashesSince0_9_25() throws {
    let text = try Tool.text(Tool.fixture("dumps/backslash-correct.print"))
    #expect(try parse(Array(text.utf8)) == ["- 0", "A\\\\b=x\\\\y", "p\\\\q=\\x00\\\\", "end"])
  }

  @Test func damagedTextIsReadOrRefused() throws {
    let executions = setting("HOLDFAST_FUZZ", or: 10_000)
    let seed = UInt64(setting("HOLDFAST_SEED", or: .random(in: 1...1_000_000)))
    let original = Array(
      "VERSION=3\nformat=print\ndatabase=a\ndupsort=1\nHEADER=END\n k\\41\n v\n k2\n \nDATA=END\n".utf8)
    let whole = try parse(original)
    for round in 0..<UInt64(executions) {
      var state = (seed &+ round) &* 0x9E37_79B9_7F4A_7C15 | 1
      func random(_ limit: Int) -> Int {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return Int((state &* 0x2545_F491_4F6C_DD1D) >> 33) % limit
      }
      var text = original
      for _ in 0...random(3) where text.count > 1 {
        let place = random(text.count)
        switch random(4) {
        case 0: text[place] = UInt8(random(256))
        case 1: text.insert(UInt8(random(256)), at: place)
        case 2: text.remove(at: place)
        default: text.removeLast(random(text.count - 1))
        }
      }
      // A text that has been cut off is never taken for a whole one.
      if let events = try? parse(text), original.starts(with: text), text.count < original.count {
        #expect(events == whole, "seed \(seed &+ round)")
      }
    }
  }

  @Test func sha256() {
    func hash(_ text: String, pieces: Int = 1) -> String {
      var sha = SHA256()
      for piece in stride(from: 0, to: text.utf8.count, by: max(1, text.utf8.count / pieces)) {
        let part = Array(text.utf8)[piece..<min(text.utf8.count, piece + max(1, text.utf8.count / pieces))]
        let bytes = Array(part)
        sha.update(bytes.span)
      }
      return sha.digest()
    }
    // FIPS 180-4's examples.
    #expect(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
    for pieces in [1, 3, 56] {
      #expect(hash(long, pieces: pieces) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }
  }

  @Test func keysAreReadAsTheyAreShown() throws {
    for bytes: [UInt8] in [[], [0], [0x5C], Array("ключ\\x".utf8), [0xFF, 0x41], Array("a\u{202E}b\n".utf8)] {
      #expect(try KeyText.bytes(of: String(escaping: bytes)) == bytes)
    }
  }
}

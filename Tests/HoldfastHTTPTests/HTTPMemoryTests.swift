#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  @testable import HoldfastHTTP

  /// Memory does not grow with an attachment: measured in a process of its own, by the kernel's word for its peak.
  @Suite struct HTTPMemoryTests {
    private static let size = 100 << 20

    @Test func anAttachmentOf100MBIsNeverInMemory() async throws {
      let server = try LoopbackServer { _ in .reply(200) }
      defer { server.stop() }
      let directory = TemporaryDirectory()
      for (name, size) in [("small", 1 << 20), ("large", Self.size)] {
        let path = "\(directory.path)/\(name)"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: UInt64(size))
        try file.close()
      }
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        [url = server.url as String, path = directory.path as String] in
        let transport = HTTPSender.systemTransport(total: .seconds(600))
        func send(_ name: String, _ size: Int) async throws {
          let content: [HTTPRequest.Part] = [.bytes([1]), .file(path: "\(path)/\(name)", size: size), .bytes([2])]
          let request = HTTPRequest(
            method: "POST", url: try #require(URL(string: url)), headers: [:], content: content,
            limits: .init(silence: .seconds(60), total: .seconds(600), reply: 1000))
          #expect(try await transport.exchange(request).status == 200)
        }
        // The libraries and their buffers are there after this.
        for _ in 0..<4 { try await send("small", 1 << 20) }
        let start = try Self.peak()
        try await send("large", Self.size)
        let growth = try Self.peak() - start
        #expect(growth < 2 << 20, "sending has taken \(growth) bytes")
        print("100 MB sent with \(growth) bytes more")
      }
      print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
      #expect(server.received.last?.bodySize == Self.size + 2)
    }

    /// The most memory that this process has had at a time, in bytes.
    private static func peak() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      return try #require(Int(line.filter(\.isNumber))) << 10
    }
  }
#endif

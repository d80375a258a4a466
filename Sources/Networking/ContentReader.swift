#if os(Linux)
  import Glibc

  /// Reads the content of a request piece by piece; one file is open at a time.
  struct ContentReader: ~Copyable {
    private let parts: [CurlRequest.Part]
    private var index = 0
    private var offset = 0
    private var file: Int32 = -1
    /// The file that could not be read, once there is one.
    private(set) var failedPath: String?

    init(_ parts: [CurlRequest.Part]) { self.parts = parts }

    deinit {
      if file >= 0 { close(file) }
    }

    /// Fills the buffer as far as there is content.
    ///
    /// - Returns: How many bytes there were, zero at the end; `nil` if a file cannot be read.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
      var filled = 0
      while filled < buffer.count, index < parts.count {
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        let count: Int
        switch parts[index] {
        case .bytes(let bytes):
          count = min(room.count, bytes.count - offset)
          unsafe room.copyBytes(from: bytes[offset..<offset + count])
        case .file(let path, let size):
          guard let read = unsafe read(path, size, into: room) else {
            failedPath = path
            return nil
          }
          count = read
        }
        filled += count
        offset += count
        if offset == parts[index].size { advance() }
      }
      return filled
    }

    private mutating func advance() {
      if file >= 0 { close(file) }
      file = -1
      offset = 0
      index += 1
    }

    private mutating func read(_ path: String, _ size: Int, into room: UnsafeMutableRawBufferPointer) -> Int? {
      if file < 0 {
        file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard file >= 0, unsafe fstat(file, &status) == 0, Int(status.st_size) == size else { return nil }
      }
      if size == 0 { return 0 }
      while true {
        let count = unsafe pread(file, room.baseAddress, min(room.count, size - offset), off_t(offset))
        if count > 0 { return count }
        guard count < 0, errno == EINTR else { return nil }
      }
    }
  }
#endif

import Foundation
import LMDBFile

/// A file that appears under its name once it is complete; what was there before stays until then.
struct NewFile {
  let output: Output
  private let path: String
  private var workPath: String { path + ".part" }

  init(_ path: String) throws(Failure) {
    self.path = path
    do throws(ReadError) {
      output = Output(try Descriptor(creating: path + ".part"), name: path)
    } catch {
      throw Failure(.cannotCreate, "\(printable(path)) cannot be made: \(error.description)")
    }
  }

  /// Gives it its name.
  func appear() throws(Failure) {
    do throws(ReadError) {
      try Descriptor.rename(workPath, to: path)
    } catch {
      throw Failure(.cannotCreate, "\(printable(path)) cannot be made: \(error.description)")
    }
  }
}

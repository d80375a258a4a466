import LMDBFile
import Testing

@Suite struct FixtureTests {
  private static let sound =
    Fixture.names("env").map { ["env", $0] } + Fixture.names("env-1.0").map { ["env-1.0", $0] }

  @Test func areThere() {
    #expect(Self.sound.count == 26 && Fixture.names("damaged").count == 15)
  }

  @Test(arguments: sound) func aSoundFileHasNoProblems(_ place: [String]) throws {
    let snapshot = try Snapshot(try DataFile(at: Fixture.path(place[0], place[1])))
    var verifier = Verifier(snapshot)
    let report = try verifier.run()
    let wrong = report.problems.filter { !$0.message.contains("map size") }
    #expect(wrong == [])
    for (tree, summary) in report.databases {
      #expect(try LayoutTests.records(snapshot, tree).count == summary.entries)
    }
  }

  /// The same content, in the format of 1.0 and in that of 0.9.
  @Test(arguments: ["main", "maindup", "many", "allflags"]) func bothFormatsHoldTheSame(_ name: String) throws {
    let old = try Snapshot(try DataFile(at: Fixture.path("env", name)))
    let new = try Snapshot(try DataFile(at: Fixture.path("env-1.0", name)))
    #expect(new.layout.version == 3 && old.layout.version == 1)
    #expect(try new.databases().map(\.title) == (try old.databases()).map(\.title))
    for (before, after) in zip(try old.databases(), try new.databases()) {
      #expect(before.flags == after.flags)
      let same = try LayoutTests.records(old, before) == LayoutTests.records(new, after)
      #expect(same, "\(before.title)")
    }
  }

  @Test(arguments: [
    ("branch-loop", "it is reached twice"), ("entries-wrong", "1000 entries were walked, and 5 are recorded"),
    ("leaf5-keysize-huge", "the key of node 0 has 65535 bytes"), ("leaf5-ptr-outside", "node 0 lies at 65534"),
    ("leaf5-unsorted", "keys are not in order"), ("leaf5-zero", "it says it is page 0"),
    ("mapsize-huge", "the map size is 4611686018427387904"), ("meta0-torn", "meta page: its last page is"),
    ("meta1-zero", "meta page: it is no meta page"), ("trunc-half-page", "the file ends before it"),
  ]) func damageIsFound(_ name: String, _ what: String) throws {
    var verifier = Verifier(try Snapshot(try DataFile(at: Fixture.path("damaged", name)), .readable))
    let report = try verifier.run()
    #expect(report.count(.error) > 0)
    #expect(report.problems.contains { $0.message.contains(what) }, "\(report.problems)")
  }

  @Test func garbageAtTheEndIsAWarning() throws {
    var verifier = Verifier(try Snapshot(try DataFile(at: Fixture.path("damaged", "trailing-garbage"))))
    let report = try verifier.run()
    #expect(report.count(.error) == 0 && report.count(.warning) == 1)
  }

  @Test(arguments: [
    ("metas-zero", ReadError.Code.notLMDB), ("psize-3000", .damaged), ("short100", .damaged),
    ("version999", .unsupported), ("meta0-torn", .damaged),
  ]) func aBrokenHeadIsExplained(_ name: String, _ code: ReadError.Code) throws {
    let error = #expect(throws: ReadError.self) { _ = try Snapshot(try DataFile(at: Fixture.path("damaged", name))) }
    #expect(error?.code == code)
  }

  @Test func theOtherMetaPageCanBeChosen() throws {
    let file = try DataFile(at: Fixture.path("damaged", "meta0-torn"))
    let snapshot = try Snapshot(file, .meta(1))
    #expect(try LayoutTests.records(snapshot, snapshot.main).count == 1000)
  }
}

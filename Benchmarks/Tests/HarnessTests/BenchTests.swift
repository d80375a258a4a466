import Harness
import Testing

struct BenchTests {
  private func bench() -> Bench {
    Bench(effort: .init(rounds: 3...5, workloadTime: 1 << 40, sliceTime: 1, isQuick: true), directory: "/nowhere")
  }

  @Test("Contenders take turns, and who begins changes")
  func turns() throws {
    let bench = bench()
    var order: [String] = []
    let contenders = ["a", "b", "c"].map { name in
      Contender(name) { slice in
        order.append("\(slice.round)\(name)")
        return 1
      }
    }
    try bench.compare(.waiting("turns", .none, operations: 1, roundLimit: 4), contenders)
    #expect(order.map { $0.last } == Array("abcbcacababc"))
    #expect(bench.rows.filter { !$0.name.hasSuffix("CPU") }.map(\.peer) == ["b", "c"])
  }

  @Test("Who reads something else ends the run")
  func sums() {
    let contenders = [Contender("ours") { _ in 1 }, Contender("lazy") { _ in 0 }]
    #expect(throws: BenchError.self) { try bench().compare(.reading("get"), contenders) }
  }

  @Test("Reads are calibrated until a slice takes its time, and counted in CPU time")
  func calibration() throws {
    let bench = Bench(
      effort: .init(rounds: 3...3, workloadTime: 1, sliceTime: 200_000, isQuick: true), directory: "/nowhere")
    var sizes: [Int] = []
    let contender = { (name: String, steps: Int) in
      Contender(name) { slice in
        sizes.append(slice.operations)
        var random = Random(seed: 1)
        for _ in 0..<slice.operations * steps { _ = random.next() }
        return 0
      }
    }
    var workload = Workload.reading("work")
    workload.comparesSums = false
    try bench.compare(workload, [contender("one", 100), contender("two", 100)])
    // Each in turn, until one of them has had its time.
    #expect(sizes[0] == 16 && sizes[1] == 16 && sizes[2] == 32)
    #expect(Set(sizes.suffix(10)).count == 1)
    #expect(bench.rows.map(\.unit) == ["ns CPU"])
    let alike = sizes[sizes.endIndex - 1]
    try bench.compare(workload, [contender("one", 100), contender("slow", 100_000)])
    #expect(sizes[sizes.endIndex - 1] < alike, "nobody waits for a slow one as long as for ours")
  }

  @Test("Percentiles are reported when ten samples lie above them")
  func latencies() throws {
    let bench = bench()
    let contender = { (name: String) in
      Contender(name) { slice in
        for value in 0..<UInt64(slice.operations) { slice.latencies.record(value + 1) }
        return 0
      }
    }
    try bench.compare(
      .waiting("few", .powerLossSafe, operations: 40), [contender("ours"), contender("theirs")])
    #expect(bench.rows.map(\.name) == ["few", "few, CPU", "few, p50"])
    try bench.compare(
      .waiting("many", .powerLossSafe, operations: 20_000), [contender("ours"), contender("theirs")])
    #expect(bench.rows.dropFirst(3).map(\.name) == ["many", "many, CPU", "many, p50", "many, p99", "many, p99.9"])
    #expect(bench.rows.last?.ratio == 1)
  }

  @Test("A limit is a ratio of one")
  func limit() {
    let bench = bench()
    bench.add("open", .powerLossSafe, sample: [0.4, 0.2, 0.25], limit: 0.5, unit: "ms")
    #expect(bench.rows[0].ratio == 2)
    #expect(bench.rows[0].bar == 1)
    #expect(bench.rows[0].met == true)
  }
}

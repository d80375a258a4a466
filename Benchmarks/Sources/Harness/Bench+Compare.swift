extension Bench {
  /// What a contender has done in all measured rounds.
  private struct Tally {
    /// Nanoseconds an operation, by the workload's clock, for each round.
    var times: [Double] = []
    /// The same in CPU time.
    var cpuTimes: [Double] = []
    var latencies: [Histogram] = []
  }

  /// Runs a workload for all contenders in turn, and adds a row for each peer.
  ///
  /// - Parameters:
  ///   - workload: What all of them do.
  ///   - contenders: Ours first.
  /// - Throws: ``BenchError/sumsDiffer(_:_:)`` if contenders did not read the same; what a contender throws.
  public func compare(_ workload: Workload, _ contenders: [Contender]) throws {
    guard !contenders.isEmpty, filter.map({ workload.name.contains($0) }) ?? true else { return }
    let operations = try calibrated(workload, contenders)
    let warmUps = 2
    let limit = min(effort.rounds.upperBound + warmUps, workload.roundLimit ?? .max)
    let end = Clock.wall.now + effort.workloadTime
    var tallies = contenders.map { _ in Tally() }
    for round in 0..<limit {
      if round >= warmUps + effort.rounds.lowerBound, isSettled(tallies) || Clock.wall.now > end { break }
      var sums: [UInt64?] = contenders.map { _ in nil }
      for turn in contenders.indices {
        let index = (turn + round) % contenders.count
        let contender = contenders[index]
        if workload.isHot { _ = try contender.run(Slice(round: round, operations: operations)) }
        let slice = Slice(round: round, operations: operations)
        let cpuBegin = workload.cpuClock.now
        let begin = workload.clock.now
        sums[index] = try contender.run(slice)
        let time = workload.clock.now - begin
        let cpuTime = workload.cpuClock.now - cpuBegin
        if round < warmUps { continue }
        let divisor = Double(operations * contender.weight)
        tallies[index].times.append(Double(max(1, time)) / divisor)
        tallies[index].cpuTimes.append(Double(max(1, cpuTime)) / divisor)
        tallies[index].latencies.append(slice.latencies)
      }
      if workload.comparesSums, Set(sums).count > 1 {
        throw BenchError.sumsDiffer(workload.name, zip(contenders, sums).map { "\($0.name): \($1 ?? 0)" })
      }
    }
    report(workload, contenders, tallies)
  }

  /// Whether the ratios of all peers lie close together: half of them within a tenth.
  private func isSettled(_ tallies: [Tally]) -> Bool {
    tallies.dropFirst().allSatisfy { theirs in
      let ratio = ratios(tallies[0].times, theirs.times)
      return ratio.q75 - ratio.q25 < 0.1 * ratio.median
    }
  }

  /// How many operations a slice has: doubled until ours takes the time of a slice, or another one eight times as long.
  private func calibrated(_ workload: Workload, _ contenders: [Contender]) throws -> Int {
    guard case .calibrated(let limit) = workload.size else {
      if case .fixed(let operations) = workload.size { return operations }
      return 1
    }
    func time(_ contender: Contender, _ operations: Int) throws -> UInt64 {
      if workload.isHot { _ = try contender.run(Slice(round: 0, operations: operations)) }
      let begin = workload.clock.now
      _ = try contender.run(Slice(round: 0, operations: operations))
      return workload.clock.now - begin
    }
    var operations = min(16, limit)
    while operations < limit, try time(contenders[0], operations) < effort.sliceTime / 2 {
      if try contenders.dropFirst().contains(where: { try time($0, operations) > 4 * effort.sliceTime }) { break }
      operations = min(limit, operations * 2)
    }
    return operations
  }

  private func report(_ workload: Workload, _ contenders: [Contender], _ tallies: [Tally]) {
    let ours = tallies[0]
    for (peer, theirs) in zip(contenders, tallies).dropFirst() {
      let (scale, unit): ((Double) -> Double, String) =
        switch workload.unit {
        case .nanoseconds: ({ $0 }, workload.clock == .wall ? "ns" : "ns CPU")
        case .rate: ({ 1e9 / $0 }, workload.clock == .wall ? "per s" : "per CPU s")
        }
      add(
        workload.name, workload.durability, peer: peer.name, ours: scale(Quartiles(of: ours.times).median),
        theirs: scale(Quartiles(of: theirs.times).median), unit: unit, ratio: ratios(ours.times, theirs.times),
        bar: peer.bar)
      if workload.clock == .wall {
        add(
          "\(workload.name), CPU", workload.durability, peer: peer.name,
          ours: Quartiles(of: ours.cpuTimes).median / 1000,
          theirs: Quartiles(of: theirs.cpuTimes).median / 1000, unit: "µs CPU",
          ratio: ratios(ours.cpuTimes, theirs.cpuTimes))
      }
      reportLatencies(workload, peer, ours.latencies, theirs.latencies)
    }
  }

  /// The percentiles that the number of samples supports: ten of them must lie above.
  private func reportLatencies(
    _ workload: Workload, _ peer: Contender, _ ours: [Histogram], _ theirs: [Histogram]
  ) {
    let (all, allTheirs) = (merged(ours), merged(theirs))
    guard all.count > 0, allTheirs.count > 0 else { return }
    for (label, fraction) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)]
    where Double(min(all.count, allTheirs.count)) * (1 - fraction) >= 10 {
      let values = (Double(all.percentile(fraction)), Double(allTheirs.percentile(fraction)))
      let parts = zip(blocks(ours), blocks(theirs)).map {
        Double($1.percentile(fraction)) / Double(max(1, $0.percentile(fraction)))
      }
      var ratio = Quartiles(of: parts)
      ratio.median = values.1 / max(1, values.0)
      ratio.q25 = min(ratio.q25, ratio.median)
      ratio.q75 = max(ratio.q75, ratio.median)
      add(
        "\(workload.name), \(label)", workload.durability, peer: peer.name, ours: values.0 / 1000,
        theirs: values.1 / 1000, unit: "µs", ratio: ratio, bar: label == "p99" ? peer.tailBar : nil)
    }
  }

  private func ratios(_ ours: [Double], _ theirs: [Double]) -> Quartiles {
    Quartiles(of: zip(ours, theirs).map { $1 / $0 })
  }

  private func merged(_ histograms: some Sequence<Histogram>) -> Histogram {
    histograms.reduce(into: Histogram()) { $0.merge($1) }
  }

  /// Five parts of the run, for the spread of a percentile.
  private func blocks(_ histograms: [Histogram]) -> [Histogram] {
    let size = max(1, histograms.count / 5)
    return stride(from: 0, to: histograms.count, by: size).map { start in
      merged(histograms[start..<min(start + size, histograms.count)])
    }
  }
}

/// Why a run ended.
public enum BenchError: Error, CustomStringConvertible {
  /// Contenders of the same workload did not read the same.
  case sumsDiffer(String, [String])

  /// A sentence for people.
  public var description: String {
    switch self {
    case .sumsDiffer(let name, let sums):
      "In \(name), not all have read the same (\(sums.joined(separator: ", "))): one of them did not do the work."
    }
  }
}

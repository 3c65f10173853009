// A benchmark of tracing: the cost of the branch when recording is off, and of an event when it is on.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "sim/base/clock.hpp"
#include "sim/trace/recorder.hpp"

namespace {

using margay::portals::Header;
using margay::portals::Status;
using margay::sim::RealClock;
using margay::sim::Recorder;
using margay::sim::RecorderOptions;
using margay::sim::trace_event;
using margay::sim::TraceKind;
using margay::sim::VirtualClock;

// The kernel's recording code at a step of a message.
void step(Recorder& recorder, const Header& header, std::uint64_t sequence) {
  if (recorder.on()) recorder.record(trace_event(TraceKind::kernel_send, header, sequence));
}

void steps(benchmark::State& state, Recorder& recorder) {
  Header header;
  header.length = 8;
  std::uint64_t sequence = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(header);
    step(recorder, header, ++sequence);
    benchmark::DoNotOptimize(sequence);
  }
}

void nothing(benchmark::State& state) {  // the loop itself, to be subtracted from the others
  Header header;
  std::uint64_t sequence = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(header);
    ++sequence;
    benchmark::DoNotOptimize(sequence);
  }
}
BENCHMARK(nothing);

void off(benchmark::State& state) {
  const RealClock clock;
  Recorder recorder(clock);
  benchmark::DoNotOptimize(recorder);
  steps(state, recorder);
}
BENCHMARK(off);

void on_memory(benchmark::State& state) {
  const RealClock clock;
  Recorder recorder(clock);
  RecorderOptions options;
  options.capacity_events = static_cast<std::uint64_t>(state.range(0));
  if (Status status = recorder.open_memory(options); !status.ok())
    return state.SkipWithError(status.sentence().c_str());
  steps(state, recorder);
}
BENCHMARK(on_memory)->Arg(256)->Arg(65536);

void on_file(benchmark::State& state) {
  std::string pattern = (std::filesystem::temp_directory_path() / "margay_trace_bench_XXXXXX").string();
  const std::string folder = mkdtemp(pattern.data());
  {
    const RealClock clock;
    Recorder recorder(clock);
    if (Status status = recorder.open(folder, {}); !status.ok()) return state.SkipWithError(status.sentence().c_str());
    steps(state, recorder);
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK(on_file);

void on_virtual_time(benchmark::State& state) {
  const VirtualClock clock;
  Recorder recorder(clock);
  if (Status status = recorder.open_memory(); !status.ok()) return state.SkipWithError(status.sentence().c_str());
  steps(state, recorder);
}
BENCHMARK(on_virtual_time);

void clock_ticks(benchmark::State& state) {
  const RealClock clock;
  for (auto _ : state) benchmark::DoNotOptimize(clock.ticks());
}
BENCHMARK(clock_ticks);

void clock_now_ns(benchmark::State& state) {
  const RealClock clock;
  for (auto _ : state) benchmark::DoNotOptimize(clock.now_ns());
}
BENCHMARK(clock_now_ns);

}  // namespace

BENCHMARK_MAIN();

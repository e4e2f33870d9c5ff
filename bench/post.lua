-- What wrk sends: one body, with the headers that the contender wants ("name: value" a line).
local file = assert(io.open(os.getenv("BENCH_BODY"), "rb"))
wrk.body = file:read("*a")
file:close()
wrk.method = "POST"
for line in (os.getenv("BENCH_HEADERS") or ""):gmatch("[^\n]+") do
  local name, value = line:match("^([^:]+): (.*)$")
  wrk.headers[name] = value
end
-- What bench/measure-throughput.ts reads: times in microseconds.
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format("bench: timed out %d, broken %d, p50 %d, p99 %d\n", errors.timeout,
    errors.connect + errors.read + errors.write, latency:percentile(50), latency:percentile(99)))
end

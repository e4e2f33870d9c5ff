import { expect, test } from 'bun:test'
import { readWrk } from './measure-throughput.ts'

const WHOLE = `Running 2s test @ http://127.0.0.1:19202/v1/chat/completions
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     4.05ms    1.20ms  40.00ms   91.00%
    Req/Sec    15.80k     1.00k   17.00k    80.00%
  31600 requests in 2.00s, 20.10MB read
Requests/sec:  15778.25
Transfer/sec:     10.05MB
`

test('rate, calls and the slowest hundredth are read from the output of wrk and its script', () => {
  expect(readWrk(`${WHOLE}bench: timed out 0, broken 0, p50 4050, p99 20600\n`)).toEqual({
    ...{ requestsPerSecond: 15_778.25, calls: 31_600, failed: 0, timedOut: 0, broken: 0 },
    ...{ p50Ms: 4.05, p99Ms: 20.6 },
  })
})

test('calls that failed, timed out or broke are counted apart', () => {
  const output = `${WHOLE}  Non-2xx or 3xx responses: 12\nbench: timed out 34, broken 5, p50 1, p99 2\n`
  expect(readWrk(output)).toMatchObject({ failed: 12, timedOut: 34, broken: 5 })
})

test('a script without latencies leaves them unknown', () => {
  expect(readWrk(WHOLE)).toMatchObject({ p50Ms: Number.NaN, p99Ms: Number.NaN })
})

import { expect, test } from 'bun:test'
import { runAlone } from './one-at-a-time.ts'

test('a run is refused while another one has the port, and goes on after it', () => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  expect(() => runAlone(other.port)).toThrow(
    `Another benchmark or profile is running on this machine: port ${other.port} is in use.`,
  )
  other.stop(true)

  expect(() => runAlone(other.port)).not.toThrow()
  expect(() => runAlone(other.port)).toThrow('Another benchmark')
})

import { expect, test } from 'bun:test'
import { runAlone } from './one-at-a-time.ts'

test('a run is refused while another one has the port, and goes on after it', () => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  expect(() => runAlone(other.port)).toThrow(
    `another benchmark or profile is running here: it has port ${other.port}`,
  )
  other.stop(true)

  expect(() => runAlone(other.port)).not.toThrow()
  expect(() => runAlone(other.port)).toThrow('another benchmark')
})

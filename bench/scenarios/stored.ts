/** Gatehouse only: the cost of a call with much data in the store, and under floods of keys. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningContender } from '../contender.ts'
import { gatehouseWith, KEY } from '../contenders/gatehouse.ts'
import { measureThroughput } from '../measure-throughput.ts'
import type { Note, Plan } from '../plan.ts'
import { SEEDED_CAPS, seedStore } from '../seed-store.ts'

export async function measureStored(
  plan: Plan,
  upstreamUrl: string,
  folder: string,
  note: Note,
): Promise<void> {
  const { keys, gates, calls } = plan.stored
  const cases = [
    { name: 'an empty store', stored: {} },
    { name: `${keys.toLocaleString('en-US')} keys`, stored: { keys } },
    { name: `${gates.toLocaleString('en-US')} gates`, stored: { gates } },
    { name: `${calls.toLocaleString('en-US')} past calls`, stored: { calls } },
  ]
  for (const { name, stored } of cases) {
    console.log(`with ${name}`)
    const dataFolder = join(folder, 'stored')
    await seedStore(dataFolder, KEY, stored)
    const contender = gatehouseWith({ dataFolder, environment: SEEDED_CAPS })
    const running = await contender.start({ url: upstreamUrl, folder, streams: false })
    if (running === undefined) throw new Error('the gateway did not start')
    try {
      const load = { bodyBytes: 1024, connections: 64, seconds: 3, folder }
      await measureThroughput(running, load)
      const measured = await measureThroughput(running, load)
      if (measured.failed > 0) throw new Error(`${measured.failed} calls failed with ${name}`)
      note(`with ${name}: CPU µs a call`, measured.cpuMicrosPerCall ?? Number.NaN)
      note(`with ${name}: start, ms`, running.startMs ?? Number.NaN)
      note(`with ${name}: memory, MB`, (running.process?.residentBytes() ?? Number.NaN) / 1e6)
      if (stored.keys !== undefined) await measureFloods(running, stored.keys, load, note)
    } finally {
      await running.stop()
      rmSync(dataFolder, { recursive: true, force: true })
    }
  }
}

async function measureFloods(
  running: RunningContender,
  keys: number,
  load: { bodyBytes: number; connections: number; seconds: number; folder: string },
  note: Note,
): Promise<void> {
  const valid = await measureThroughput(running, { ...load, keys })
  if (valid.failed > 0) throw new Error(`${valid.failed} calls with keys of the store failed`)
  note('a different key with each call: CPU µs a call', valid.cpuMicrosPerCall ?? Number.NaN)
  note(
    'a different key with each call: memory, MB',
    (running.process?.residentBytes() ?? Number.NaN) / 1e6,
  )
  const invalid = await measureThroughput(running, { ...load, keys: 0 })
  if (invalid.failed === 0) throw new Error('calls with unknown keys were admitted')
  note('keys that do not exist: refusals/s', invalid.requestsPerSecond)
  note('keys that do not exist: CPU µs a refusal', invalid.cpuMicrosPerCall ?? Number.NaN)
  note('keys that do not exist: memory, MB', (running.process?.residentBytes() ?? Number.NaN) / 1e6)
}

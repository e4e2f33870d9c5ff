/**
 * For a node's `--preload`, so that a measurement need not wait for the hour: SIGUSR1 starts a
 * clean-up, SIGUSR2 marks every key as used and writes the uses. Reports the end of each on
 * standard output. The work itself is unchanged.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Retention } from '../../src/ledger/retention.ts'
import { KeyRegistry } from '../../src/snapshots/key-registry.ts'

/** Keys marked in one turn of the event loop. */
const KEYS_PER_TURN = 200

const start = Retention.prototype.start
Retention.prototype.start = function startWithSignal(this: Retention): void {
  start.call(this)
  process.on(
    'SIGUSR1',
    () => void this.run().then(() => process.stdout.write('clean-up is over\n')),
  )
}

const load = KeyRegistry.load
KeyRegistry.load = async (options) => {
  const registry = await load.call(KeyRegistry, options)
  // Loaded before the measurement. Keys are used in another order than that of their creation.
  const ids = (await options.keys.loadAll())
    .map(({ id }) => ({ id, place: Bun.hash.crc32(id) }))
    .sort((left, right) => left.place - right.place)
    .map(({ id }) => id)
  const touchAll = async () => {
    const now = Date.now()
    for (const [index, id] of ids.entries()) {
      registry.touch(id, now)
      if (index % KEYS_PER_TURN === 0) await nextTurn()
    }
    await registry.flush()
    process.stdout.write('keys are written\n')
  }
  process.on('SIGUSR2', () => void touchAll())
  return registry
}

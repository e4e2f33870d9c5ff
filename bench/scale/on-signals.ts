/**
 * For a node's `--preload`, so that a measurement need not wait for the hour: SIGUSR1 begins a
 * clean-up, SIGUSR2 takes every key for used and writes that down. Says on standard output when
 * each is over. Changes nothing of what they do.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Retention } from '../../src/ledger/retention.ts'
import { KeyRegistry } from '../../src/snapshots/key-registry.ts'

/** As many keys are taken for used before others have a turn. */
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
  // Before anything is measured. Keys are used in another order than that in which they were made.
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

/**
 * Seeds a store in a process of its own: a process that has inserted a million calls has a larger heap
 * than any reader of the calls, and each garbage collection takes longer.
 */
import type { Store } from '../../src/store/open-store.ts'
import { locate, type Place, useStore } from './with-store.ts'

/** @param script a file that calls `seedFromArguments` when run */
export async function seedApart(
  script: string,
  { dataFolder, environment }: Pick<Place, 'dataFolder' | 'environment'>,
  seed: object,
): Promise<void> {
  // Passed as an argument, because the inherited environment may name another database.
  const { DATABASE_URL: url } = environment
  const words = [dataFolder, JSON.stringify(seed), ...(url === undefined ? [] : [url])]
  const child = Bun.spawn([process.execPath, script, ...words], {
    stdout: 'inherit',
    stderr: 'inherit',
  })
  const code = await child.exited
  if (code !== 0) throw new Error(`The calls could not be seeded: exit code ${code}.`)
}

/** Ends the process. */
export async function seedFromArguments<Seed>(
  write: (store: Store, seed: Seed) => Promise<void>,
): Promise<never> {
  const [dataFolder = '', seed = '', url] = process.argv.slice(2)
  await useStore(locate(dataFolder, url), (store) => write(store, JSON.parse(seed) as Seed))
  process.exit()
}

/** A folder of a test's own, gone when the test is done. Knows nothing of what is put in it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFolder {
  readonly path: string
  remove(): Promise<void>
}

export async function createTemporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'gatehouse-test-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

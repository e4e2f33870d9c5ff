/** A temporary folder, removed when the test is done. */
import { readdirSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRunning } from './is-running.ts'

export interface TemporaryFolder {
  readonly path: string
  remove(): Promise<void>
}

let isSwept = false

export async function createTemporaryFolder(): Promise<TemporaryFolder> {
  if (!isSwept) removeLeftovers()
  isSwept = true
  const path = await mkdtemp(join(tmpdir(), `gatehouse-test-${process.pid}-`))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** Removes folders of killed test processes. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = /^gatehouse-test-(\d+)-/.exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

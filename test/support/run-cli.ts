/** Runs a command of the real program to its end, without a terminal. */
import { resolve } from 'node:path'
import { boundToTest } from './bound-to-test.ts'
import { PROGRAM } from './program.ts'

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly environment: Readonly<Record<string, string>>
  readonly input?: string
  readonly folder?: string
}

export async function runCli(words: readonly string[], options: RunOptions): Promise<Ran> {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn(boundToTest([...PROGRAM, ...words]), {
    cwd: options.folder ?? resolve(import.meta.dir, '../..'),
    env: { PATH, HOME, ...options.environment },
    stdin: new Blob([options.input ?? '']),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, stdout, stderr }
}

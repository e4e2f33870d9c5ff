/** Runs a program with its own temporary folder, and leaves neither files nor processes behind. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandOptions, type CommandResult, runCommand } from './run-command.ts'
import { createRunFolder, filesLeft, processesOf, type RunFolder } from './run-folder.ts'

export interface FolderResult extends CommandResult {
  readonly leftovers: readonly string[]
}

export interface FolderOptions extends Omit<CommandOptions, 'environment' | 'onStart'> {
  /** How long the program's remaining processes may take to clean up. */
  readonly settleTimeoutMs?: number
  /** Whether the folder may be in memory: the program needs no disk and little space. */
  readonly mayBeInMemory?: boolean
}

/** Long for a busy machine; a run without leftovers does not wait. */
const SETTLE_TIMEOUT_MS = 30_000
const LOOK_EVERY_MS = 50

const WATCH = join(import.meta.dir, 'watch-run-folder.ts')

export interface ProgramInFolder {
  readonly command: readonly string[]
  /** Besides `TMPDIR`. */
  readonly environment?: Readonly<Record<string, string>>
}

/** @param readReport called before the folder is removed */
export async function runInFolder<Report>(
  programIn: (folder: RunFolder) => ProgramInFolder,
  readReport: (folder: RunFolder) => Promise<Report>,
  options: FolderOptions,
): Promise<FolderResult & { readonly report: Report }> {
  const folder = createRunFolder(options)
  let leader = 0
  let end = async (): Promise<void> => rmSync(folder.path, { recursive: true, force: true })
  try {
    const { command, environment } = programIn(folder)
    const result = await runCommand(command, {
      ...options,
      environment: { ...environment, TMPDIR: folder.temporary },
      onStart: (pid) => {
        leader = pid
        end = startWatch(folder, pid)
      },
    })
    const report = await readReport(folder)
    return { ...result, report, leftovers: await findLeftovers(folder, leader, options) }
  } finally {
    await end()
  }
}

/**
 * A separate process, because this process may be killed. The watch ends together with the watched
 * program.
 */
function startWatch({ path }: RunFolder, leader: number): () => Promise<void> {
  const watch = Bun.spawn([process.execPath, WATCH, path, String(leader)], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'inherit',
    detached: true,
  })
  return async () => {
    await watch.stdin.end()
    const exitCode = await watch.exited
    if (exitCode !== 0) throw new Error(`${path} could not be cleaned up (see above)`)
  }
}

async function findLeftovers(
  folder: RunFolder,
  leader: number,
  { settleTimeoutMs = SETTLE_TIMEOUT_MS }: FolderOptions,
): Promise<string[]> {
  const look = () => [
    ...filesLeft(folder).map((name) => `in the temporary folder: ${name}`),
    ...processesOf(folder, leader).map(({ pid, command }) => `still running: ${pid} ${command}`),
  ]
  const deadlineMs = Date.now() + settleTimeoutMs
  while (look().length > 0 && Date.now() < deadlineMs) await Bun.sleep(LOOK_EVERY_MS)
  return look()
}

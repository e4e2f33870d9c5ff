/** The temporary folder of a test run: remaining files, remaining processes, and their removal. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { placeOfRuns } from './place-of-runs.ts'

export interface RunFolder {
  readonly path: string
  /** The value of `TMPDIR`, where nothing may be left. */
  readonly temporary: string
  /** Where the program may write its report. */
  readonly reportPath: string
}

export interface RunningProcess {
  readonly pid: number
  readonly command: string
}

/** How long killed processes may take to disappear. */
const END_TIMEOUT_MS = 10_000
const LOOK_EVERY_MS = 50
const NAMES_SHOWN = 8
const STEM = 'gh-'
const NAME = /\/gh-\w{6}$/

/** The name is short, because the path of a Unix socket may have 104 to 108 bytes. */
export function createRunFolder({ mayBeInMemory = false } = {}): RunFolder {
  const path = mkdtempSync(join(mayBeInMemory ? placeOfRuns() : tmpdir(), STEM))
  const temporary = join(path, 't')
  mkdirSync(temporary)
  chmodSync(path, 0o755)
  chmodSync(temporary, 0o1777)
  return { path, temporary, reportPath: join(path, 'report') }
}

export function filesLeft({ temporary }: RunFolder): string[] {
  return readdirSync(temporary, { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? folderLeft(temporary, entry.name) : entry.name))
    .sort()
}

function folderLeft(parent: string, name: string): string {
  const inside = namesIn(join(parent, name))
  if (inside.length === 0) return `${name} (empty)`
  const more = inside.length > NAMES_SHOWN ? ', …' : ''
  return `${name} (${inside.slice(0, NAMES_SHOWN).join(', ')}${more})`
}

function namesIn(path: string): string[] {
  try {
    return (readdirSync(path, { recursive: true }) as string[]).sort()
  } catch {
    return []
  }
}

/**
 * Processes that belong to the run: processes of the leader's session, processes whose command line
 * or environment names the folder, and their children. Linux only.
 */
export function processesOf({ path }: Pick<RunFolder, 'path'>, leader: number): RunningProcess[] {
  // An empty path would match every command line.
  if (!NAME.test(path) || !(leader > 0))
    throw new Error(`no folder of a run, or no leader: ${path} ${leader}`)
  const all = readProcesses()
  const found = new Set(
    all.filter(({ session, hasTerminal, text }) => {
      return session === leader || (!hasTerminal && text.includes(`${path}/`))
    }),
  )
  // Iterating over a set includes values that are added meanwhile.
  for (const { pid } of found) for (const each of all) if (each.parent === pid) found.add(each)
  return [...found].map(({ pid, command }) => ({ pid, command }))
}

interface SeenProcess extends RunningProcess {
  readonly parent: number
  readonly session: number
  readonly hasTerminal: boolean
  /** Command line and environment. */
  readonly text: string
}

function readProcesses(): SeenProcess[] {
  if (!existsSync('/proc/self/stat')) return []
  const pids = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
  )
  return pids.flatMap((pid) => {
    try {
      // The name in parentheses may itself hold a space or a parenthesis.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')
      const [state = '', parent, , session, terminal] = stat.split(' ')
      if ('ZX'.includes(state)) return []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      const text = `${command} ${readEnvironment(pid)}`
      const numbers = { pid: Number(pid), parent: Number(parent), session: Number(session) }
      return [{ ...numbers, command, text, hasTerminal: terminal !== '0' }]
    } catch {
      return []
    }
  })
}

/**
 * Nothing where it may not be read: another user's processes are none of the run's, or known by
 * their parents.
 */
function readEnvironment(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return ''
  }
}

/** Ends what still runs, takes down what is mounted inside, and removes the folder. */
export async function endRun(folder: Pick<RunFolder, 'path'>, leader: number): Promise<void> {
  const deadlineMs = Date.now() + END_TIMEOUT_MS
  for (;;) {
    const running = processesOf(folder, leader)
    if (running.length === 0) break
    if (Date.now() > deadlineMs) {
      const list = running.map(({ pid, command }) => `${pid} ${command}`).join('\n')
      throw new Error(`still running after they were killed:\n${list}`)
    }
    for (const { pid } of running) kill(pid)
    await Bun.sleep(LOOK_EVERY_MS)
  }
  for (const place of mountsIn(folder)) Bun.spawnSync(['umount', '-l', place])
  rmSync(folder.path, { recursive: true, force: true })
}

/** The innermost first. */
function mountsIn({ path }: Pick<RunFolder, 'path'>): string[] {
  if (!existsSync('/proc/self/mounts')) return []
  const places = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
  return places.filter((place) => place.startsWith(`${path}/`)).reverse()
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/**
 * Renews `test/fixtures/agents/`: installs the newest published agents into a temporary folder,
 * runs each against a model of our own, and keeps what it sent. Needs the network for npm alone;
 * outside `make test`. With ids as words it renews those only; `--in FOLDER` takes packages that were
 * installed there before.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AgentFixture } from './agent-fixture.ts'
import { type Agent, type AgentRun, listAgents, NOTES, TOOL_ARGS } from './agents.ts'
import { hasResult, type RecordedCall, startRecorder } from './recorder.ts'
import { Scrubber } from './scrub.ts'

const FIXTURES = new URL('../fixtures/agents/', import.meta.url).pathname
const TIMEOUT_MS = 600_000
const NPM = { npm_config_cache: join(homedir(), '.npm') }
/** Of the connection, or a secret; the test sends its own. */
const LEFT_OUT = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'host',
  'x-api-key',
])

const { values, positionals: wanted } = parseArgs({
  options: { in: { type: 'string' } },
  allowPositionals: true,
})
const root = await mkdtemp(join(tmpdir(), 'record-agents-'))
/** Where the packages are. */
const packagesFolder = values.in ?? root
const home = join(root, 'home')
const project = join(home, 'project')
const recorder = startRecorder()
try {
  await mkdir(project, { recursive: true })
  await Bun.write(join(project, NOTES), 'The gateway has seven stages.\n')
  for (const agent of listAgents(recorder.url))
    if (wanted.length === 0 || wanted.includes(agent.id)) await record(agent)
} finally {
  await recorder.stop()
  await rm(root, { recursive: true, force: true })
}

async function record(agent: Agent): Promise<void> {
  if (values.in === undefined) await install(agent)
  const version = await readVersion(agent)
  const scrubber = new Scrubber({ home, project, root: packagesFolder })
  const calls: AgentFixture['calls'][number][] = []
  for (const run of agent.runs) {
    const from = recorder.calls.length
    await start(run)
    const recorded = recorder.calls.slice(from)
    calls.push(...recorded.map((call) => toFixtureCall(call, run, scrubber)))
  }
  const turns = new Set(calls.map(({ turn }) => turn))
  if (turns.size < 2) throw new Error(`${agent.id} did not come to a later turn.`)
  const fixture: AgentFixture = { agent: agent.id, version, calls }
  const bytes = Bun.gzipSync(Buffer.from(JSON.stringify(fixture)), { level: 9 })
  await Bun.write(join(FIXTURES, `${agent.id}.json.gz`), bytes)
  process.stdout.write(`${agent.id} ${version}: ${calls.length} calls, ${bytes.length} bytes\n`)
}

/** The newest versions by their numbers: npm would take older ones for an old Node.js. */
async function install({ packages }: Agent): Promise<void> {
  const versions = await Promise.all(
    packages.map(async (name) => (await run(['npm', 'view', name, 'version'], root, NPM)).trim()),
  )
  const named = packages.map((name, index) => `${name}@${versions[index]}`)
  await run(['npm', 'install', '--no-audit', '--no-fund', '--prefix', root, ...named], root, NPM)
}

async function readVersion({ packages: [name = ''] }: Agent): Promise<string> {
  const manifest = Bun.file(join(packagesFolder, 'node_modules', name, 'package.json'))
  return ((await manifest.json()) as { readonly version: string }).version
}

async function start({ program, words, environment, calls, files = {} }: AgentRun): Promise<void> {
  recorder.use({ ...calls, ...TOOL_ARGS })
  for (const [path, text] of Object.entries(files)) {
    // A script finds its packages from where it stands.
    const file = join(path.endsWith('.mjs') ? packagesFolder : home, path)
    await mkdir(dirname(file), { recursive: true })
    await Bun.write(file, text)
  }
  const isScript = program === 'bun'
  const command = isScript ? process.execPath : join(packagesFolder, 'node_modules/.bin', program)
  await run([command, ...words], isScript ? packagesFolder : project, environment)
}

/** With nothing of this shell's environment: no key and no setting of its user's. */
async function run(
  command: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', TERM: 'dumb', ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: TIMEOUT_MS,
  })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0)
    throw new Error(`${command.join(' ')} failed:\n${output.slice(-1500)}\n${errors.slice(-1500)}`)
  return output
}

function toFixtureCall(
  { path, headers, body }: RecordedCall,
  { name }: AgentRun,
  scrubber: Scrubber,
): AgentFixture['calls'][number] {
  const kept = Object.entries(headers)
    .filter(([header]) => !LEFT_OUT.has(header))
    .map(([header, value]) => [header, scrubber.scrub(value)])
  return {
    run: name,
    turn: hasResult(JSON.parse(body) as Parameters<typeof hasResult>[0]) ? 'later' : 'opening',
    path,
    headers: Object.fromEntries(kept) as Record<string, string>,
    body: scrubber.scrub(body),
  }
}

/**
 * LiteLLM's proxy from PyPI, started as in its documentation: one model, one worker, no database.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Contender, NotMeasured } from '../contender.ts'
import { CONTENDER_CORE, startPinned, untilAnswers } from '../pinned-process.ts'
import { type Plan, within } from '../plan.ts'
import { PORTS } from '../ports.ts'

const PORT = PORTS.litellm
const KEY = `sk-${randomBytes(32).toString('hex')}`
const VERSION = '1.106.0'
const FOLDER = '.cache/litellm'
/** Contains the installed version; written after a complete installation. */
const MARK = join(FOLDER, 'installed')
const INSTALL_LIMIT_MS = 600_000
/** LiteLLM's imports take several seconds. */
const START_LIMIT_MS = 120_000

export const litellm: Contender = {
  name: 'litellm',
  features: `litellm[proxy] ${VERSION} from PyPI on ${pythonVersion()}, one worker, a config.yaml with one model and a master key, which it does not start without; no database`,
  isSlow: true,
  narrow,
  prepare: install,
  async start({ url, folder }) {
    const path = join(folder, 'litellm.yaml')
    writeFileSync(path, configuration(url))
    const server = startPinned(
      CONTENDER_CORE,
      [
        resolve(FOLDER, 'bin/litellm'),
        ...['--config', path, '--host', '127.0.0.1', '--port', String(PORT), '--num_workers', '1'],
      ],
      // Without this variable, LiteLLM fetches its price table from the network at each start.
      {
        port: PORT,
        folder,
        environment: {
          LITELLM_MASTER_KEY: KEY,
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
          LITELLM_LOG: 'ERROR',
        },
      },
    )
    const address = `http://127.0.0.1:${PORT}`
    const startMs = await untilAnswers(server, `${address}/health/liveliness`, {
      limitMs: START_LIMIT_MS,
    })
    return {
      url: `${address}/v1/chat/completions`,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      model: 'gpt-4o',
      process: server,
      startMs,
      stop: () => server.stop(),
    }
  },
}

function configuration(upstream: string): string {
  const parameters = { model: 'openai/gpt-4o', api_base: `${upstream}/v1`, api_key: 'any' }
  // JSON is valid YAML.
  return JSON.stringify({
    model_list: [{ model_name: 'gpt-4o', litellm_params: parameters }],
    litellm_settings: { telemetry: false },
  })
}

/** LiteLLM answers about fifty calls a second, so fewer things are measured, for longer. */
function narrow(plan: Plan): Plan {
  return {
    ...within(plan, 10),
    loads: plan.loads.filter(
      ({ bodyBytes, isAgent, connections }) =>
        bodyBytes <= 204_800 && isAgent !== true && connections <= 64,
    ),
    seconds: 4,
    singleStreams: Math.min(50, plan.singleStreams),
    eventsOfStream: 0,
    openStreams: 0,
    aborts: 0,
    coldStarts: 1,
  }
}

/** @throws NotMeasured with the last output of Python or PyPI */
function install(): void {
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === VERSION) return
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  console.log(`installing LiteLLM ${VERSION} into ${FOLDER}: a few minutes`)
  run(['python3', '-m', 'venv', FOLDER])
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input']
  run([join(FOLDER, 'bin/python'), ...pip, `litellm[proxy]==${VERSION}`])
  writeFileSync(MARK, VERSION)
}

function run(command: string[]): void {
  const [name = '', ...rest] = command
  if (Bun.which(name) === null) throw new NotMeasured(`${name} is not installed`)
  const { success, exitedDueToTimeout, stdout, stderr } = Bun.spawnSync([name, ...rest], {
    stdin: 'ignore',
    timeout: INSTALL_LIMIT_MS,
  })
  if (success) return
  const lines = `${stdout}\n${stderr}`.trim().split('\n')
  const reason = lines.find((line) => /error|not available/i.test(line)) ?? lines.at(-1) ?? ''
  const end =
    exitedDueToTimeout === true ? `took more than ${INSTALL_LIMIT_MS / 60_000} minutes` : 'failed'
  throw new NotMeasured(`\`${command.join(' ')}\` ${end}: ${reason.trim().slice(0, 200)}`)
}

function pythonVersion(): string {
  return Bun.which('python3') === null
    ? 'no Python'
    : Bun.spawnSync(['python3', '--version']).stdout.toString().trim()
}

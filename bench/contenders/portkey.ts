/**
 * Portkey's open-source gateway from npm, started as in its documentation. Has no keys, limits or
 * ledger.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Contender, NotMeasured } from '../contender.ts'
import { CONTENDER_CORE, startPinned, untilAnswers } from '../pinned-process.ts'
import { within } from '../plan.ts'
import { PORTS } from '../ports.ts'

const PORT = PORTS.portkey
const VERSION = '1.15.2'
const FOLDER = '.cache/portkey'

export const portkey: Contender = {
  name: 'portkey',
  features: `@portkey-ai/gateway ${VERSION} on Node ${nodeVersion()}; no key, no limit, no ledger`,
  isSlow: true,
  narrow: (plan) => ({ ...within(plan, 300), seconds: 2 }),
  prepare: install,
  async start({ url }) {
    const server = startPinned(
      CONTENDER_CORE,
      [
        'node',
        'node_modules/@portkey-ai/gateway/build/start-server.js',
        '--headless',
        `--port=${PORT}`,
      ],
      // Portkey refuses private addresses as custom hosts unless they are listed.
      {
        port: PORT,
        folder: FOLDER,
        environment: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
      },
    )
    const address = `http://127.0.0.1:${PORT}`
    const startMs = await untilAnswers(server, address)
    const headers = {
      authorization: 'Bearer any',
      'content-type': 'application/json',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${url}/v1`,
    }
    return {
      url: `${address}/v1/chat/completions`,
      headers,
      model: 'gpt-4o',
      process: server,
      startMs,
      stop: () => server.stop(),
    }
  },
}

function install(): void {
  if (existsSync(join(FOLDER, 'node_modules/@portkey-ai/gateway'))) return
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), '{"private":true}')
  const command = [
    'install',
    '--silent',
    '--no-audit',
    '--no-fund',
    `@portkey-ai/gateway@${VERSION}`,
  ]
  const { success } = Bun.spawnSync(['npm', ...command], {
    cwd: FOLDER,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  if (!success) throw new NotMeasured('npm cannot install it')
}

function nodeVersion(): string {
  return Bun.spawnSync(['node', '--version']).stdout.toString().trim()
}

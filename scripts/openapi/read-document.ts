/** The OpenAPI document as a server with a temporary folder serves it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAddress } from '../read-address.ts'
import type { ApiDocument } from './api-types.ts'

const HOUSE = join(import.meta.dir, '../..')
const TIME_LIMIT_MS = 30_000

/** @throws Error with the server's output when the server does not start */
export async function readDocument(): Promise<ApiDocument> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-openapi-'))
  const server = Bun.spawn([process.execPath, 'src/main.ts', 'serve'], {
    cwd: HOUSE,
    env: {
      PATH: process.env.PATH ?? '',
      GATEHOUSE_HOST: '127.0.0.1',
      GATEHOUSE_PORT: '0',
      GATEHOUSE_DATA_DIR: folder,
      GATEHOUSE_LOG_LEVEL: 'error',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: TIME_LIMIT_MS,
  })
  try {
    const answer = await fetch(`${await readAddress(server.stdout)}/openapi.json`)
    return (await answer.json()) as ApiDocument
  } finally {
    server.kill('SIGKILL')
    await server.exited
    await rm(folder, { recursive: true, force: true })
  }
}

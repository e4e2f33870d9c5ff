/** Finds out whether a server could listen at its address. Listens for a moment itself. */
import { createServer } from 'node:net'
import type { Finding } from '../core/finding.ts'
import { codeOf, findingsOf } from './finding.ts'

const { fail, ok } = findingsOf('port')

export async function checkPort({
  host,
  port,
}: {
  host: string
  port: number
}): Promise<Finding[]> {
  const code = await tryToListen(host, port)
  const where = `${host}:${port}`
  if (code === undefined) return [ok(`${where} is free; no server uses this data folder now`)]
  const cure = CURES[code] ?? 'Give another with GATEHOUSE_HOST and GATEHOUSE_PORT'
  return [fail(`a server could not listen on ${where} (${code})`, cure)]
}

const CURES: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'Another program has it: stop that, or give another with GATEHOUSE_PORT (0 takes any free one)',
  EACCES: 'Ports below 1024 are for root: give another with GATEHOUSE_PORT',
  EADDRNOTAVAIL:
    "The address is not this machine's: give another with GATEHOUSE_HOST (0.0.0.0 is all of them)",
  ENOTFOUND: 'The name leads nowhere: give an address with GATEHOUSE_HOST',
}

/** @returns the code of the refusal; undefined when it could */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.once('error', (error) => resolve(codeOf(error)))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  return promise
}

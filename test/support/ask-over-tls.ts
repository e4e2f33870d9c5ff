/**
 * A separate program, because a runtime reads its certificate authorities at its start. Requests
 * each address twice, and prints the results as JSON.
 */

import { systemClock } from '../../src/core/clock.ts'
import { EditedBytes } from '../../src/core/edited-bytes.ts'
import { ConnectionPools, Routes } from '../../src/net/connection-pools.ts'
import { Deadlines } from '../../src/net/deadlines.ts'
import { Proxies } from '../../src/net/proxies.ts'
import { SocketExchange } from '../../src/net/socket-exchange.ts'
import { UpstreamFailure } from '../../src/net/upstream-failure.ts'

export interface TlsQuestion {
  readonly url: string
  readonly addresses?: readonly string[]
}

const pools = new ConnectionPools(systemClock)
const ports = { deadlines: new Deadlines(), routes: new Routes(new Proxies(process.env)), pools }

async function ask({ url, addresses }: TlsQuestion): Promise<string> {
  const exchange = new SocketExchange(ports, {
    url,
    addresses,
    group: 'tests',
    headers: {},
    body: new EditedBytes({ bytes: Buffer.from('planted') }),
    timeouts: { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000 },
    totalMs: 20_000,
    signal: new AbortController().signal,
  })
  try {
    await exchange.send()
    return Buffer.from(await exchange.readAll()).toString()
  } catch (thrown) {
    if (!(thrown instanceof UpstreamFailure)) throw thrown
    return `${thrown.type}: ${thrown.cause instanceof Error ? thrown.cause.message : ''}`
  }
}

const said: string[] = []
for (const question of JSON.parse(process.argv[2] ?? '[]') as readonly TlsQuestion[])
  said.push(await ask(question), await ask(question))
console.log(JSON.stringify(said))
process.exit(0)

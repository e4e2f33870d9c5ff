/**
 * The cost of the runtime alone: the same server and client as Gatehouse, without a gateway between
 * them.
 */
import { type Contender, trusting } from '../contender.ts'
import { CONTENDER_CORE, startPinned, untilAnswers } from '../pinned-process.ts'
import { PORTS } from '../ports.ts'

export const bare: Contender = bareProxy({
  name: 'bare fetch',
  features:
    'a dozen lines on `Bun.serve` and `fetch` (bench/bare-proxy.ts): no key, no limit, no ledger, no deadlines',
  program: 'bench/bare-proxy.ts',
  port: PORTS.bare,
})

export const bareSockets: Contender = bareProxy({
  name: 'bare sockets',
  features:
    'the same on `Bun.serve` and connections of its own by `Bun.connect` (bench/bare-socket-proxy.ts): believes every answer, no back-pressure',
  program: 'bench/bare-socket-proxy.ts',
  port: PORTS.bareSockets,
})

interface BareProxy {
  readonly name: string
  readonly features: string
  readonly program: string
  readonly port: number
}

function bareProxy({ name, features, program, port }: BareProxy): Contender {
  return {
    name,
    features,
    async start({ url, authority }) {
      const server = startPinned(CONTENDER_CORE, [process.execPath, program, String(port), url], {
        port,
        environment: { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535', ...trusting(authority) },
      })
      const address = `http://127.0.0.1:${port}/v1/chat/completions`
      await untilAnswers(server, address, { method: 'POST', body: '{}' })
      return {
        url: address,
        headers: {},
        model: 'gpt-4o',
        process: server,
        stop: () => server.stop(),
      }
    },
  }
}

/** What the runtime alone costs: the same server and client as Gatehouse, with nothing of a gateway in between. */
import type { Contender } from '../contender.ts'
import { CONTENDER_CORE, startPinned, untilAnswers } from '../pinned-process.ts'

const PORT = 19_204

export const bare: Contender = {
  name: 'bare Bun',
  does: 'a dozen lines on `Bun.serve` and `fetch` (bench/bare-proxy.ts): no key, no limit, no ledger, no deadlines',
  async start({ url }) {
    const server = startPinned(CONTENDER_CORE, [process.execPath, 'bench/bare-proxy.ts', String(PORT), url], {
      environment: { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' },
    })
    const address = `http://127.0.0.1:${PORT}/v1/chat/completions`
    await untilAnswers(server, address, { method: 'POST', body: '{}' })
    return { url: address, headers: {}, model: 'gpt-4o', process: server, stop: () => server.stop() }
  },
}

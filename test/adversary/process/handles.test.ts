/** More connections than the process has handles, which ask nothing: others are still answered. */
import { expect, setDefaultTimeout } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { createGate } from '../../support/control-plane.ts'
import { PROGRAM } from '../../support/program.ts'
import { testIf } from '../../support/skip-unless.ts'
import { startGatehouse } from '../../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

setDefaultTimeout(120_000)

const HANDLES = 150
const CONNECTIONS = 400
const isLinux = process.platform === 'linux'

testIf(isLinux, 'needs /proc')(
  'more connections than handles, which ask nothing, are let go for those that ask',
  async () => {
    const folder = await createTemporaryFolder()
    const gatehouse = await startGatehouse({
      sandbox: true,
      dataFolder: folder.path,
      command: ['sh', '-c', `ulimit -n ${HANDLES}; exec "$0" "$@"`, ...PROGRAM],
    })
    const sockets: Socket[] = []
    try {
      await createGate(gatehouse, 'the-gate', 'sandbox/echo')
      const { hostname, port } = new URL(gatehouse.url)
      for (let count = 0; count < CONNECTIONS; count += 1) {
        const socket = connect({ host: hostname, port: Number(port) })
        sockets.push(socket)
        await new Promise((settle) => {
          socket.on('connect', settle)
          socket.on('error', settle)
        })
      }
      // It waits in the kernel behind all of them.
      const answer = await fetch(`${gatehouse.url}/v1/responses`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gatehouse.key}`,
          'content-type': 'application/json',
        },
        body: '{"model":"the-gate","input":"hi"}',
        signal: AbortSignal.timeout(30_000),
      })
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('hi')
    } finally {
      for (const socket of sockets) socket.destroy()
      await gatehouse.remove()
      await folder.remove()
    }
  },
)

/**
 * Streams that run while their key is deleted, over whole gateways in this process: by the same
 * node, and by another one.
 */
import { expect, test } from 'bun:test'
import { databases } from '../../test/support/databases.ts'
import { pollUntil } from '../../test/support/poll-until.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { ask, CHAT, follow, GATE, STREAMED, useEndlessStreams } from './endless-streams.fixture.ts'

const { startNode, closeNodes, left } = useEndlessStreams({ GATEHOUSE_REVOKED_CALLS_MS: '50' })

test.each(databases.map((kind) => [kind.name, kind] as const))(
  'a running stream gets an error and ends when its key is deleted, on every node: %s',
  async (_, kind) => {
    const database = await kind.create()
    try {
      const here = await startNode('here', database)
      // A file has one process.
      const there = kind.name === 'Postgres' ? await startNode('there', database) : here
      await here.gates.create(DEFAULT_ACCOUNT, { ...GATE, id: 'demo' as GateId })
      const other = await here.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'other' })
      await there.catchUp()
      const body = STREAMED
      const untouched = await ask(there, CHAT, { key: other.key.reveal(), body })
      const spared = untouched.body?.getReader()
      await spared?.read()

      const key = other.key.reveal()
      const made = await here.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'leaked' })
      await there.catchUp()
      const running = follow(await ask(there, CHAT, { key: made.key.reveal(), body }))
      await pollUntil('the first event', () => running.told().includes('"hi"'))
      const deleted = await ask(here, `/v1/keys/${made.record.id}`, { key, method: 'DELETE' })
      expect([deleted.status, await deleted.json()]).toEqual([
        200,
        { stopped: true, callsEnded: 1, nodesNotHeard: 0 },
      ])
      await running.ended
      expect(running.told()).toContain('"code":"invalid_api_key"')
      expect(running.told()).toContain('data: [DONE]')
      await pollUntil('the upstream to be left', () => left() === 1)
      const again = await ask(there, CHAT, { key: made.key.reveal(), body })
      expect(again.status).toBe(401)
      const row = await pollUntil('the row of the call', async () => {
        const logs = (await (await ask(here, '/v1/logs', { key, method: 'GET' })).json()) as {
          data: { keyId: string }[]
        }
        return logs.data.find(({ keyId }) => keyId === made.record.id)
      })
      expect(row).toMatchObject({ outcome: 'failed', errorKind: 'unauthorized' })
      await spared?.cancel()
    } finally {
      await closeNodes()
      await database.remove()
    }
  },
)

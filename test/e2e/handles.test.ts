/** Calls that use all handles of the process up: whose fault it is, and how it ends. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { PROGRAM } from '../support/program.ts'
import { CHAT, openRawScene } from '../support/raw-scene.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'

setDefaultTimeout(180_000)

const HANDLES = 160
const CALLS = 100

test('calls for which there is no handle are refused by the gateway, and their target stays well', async () => {
  const scene = await openRawScene({
    gates: { held: 'openai/gpt-4o' },
    command: ['prlimit', `--nofile=${HANDLES}:${HANDLES}`, ...PROGRAM],
  })
  const held = Promise.withResolvers<void>()
  const answer = jsonAnswer(200, { id: 'c', object: 'chat.completion', choices: [] })
  scene.upstream.answer(async (exchange) => {
    await held.promise
    await answer(exchange)
  })
  try {
    const statuses: number[] = []
    const calls = Array.from({ length: CALLS }, async () => {
      const told = await scene.post(CHAT, '{"model":"held","messages":[]}')
      statuses.push(told.status)
      return told
    })
    // Those that got a connection wait, and all others have their answer.
    const isOver = () => statuses.length + scene.upstream.requests.length >= CALLS
    await pollUntil('all calls to be asked or refused', isOver)
    expect(statuses.length).toBeGreaterThan(0)
    held.resolve()
    const answers = await Promise.all(calls)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, headers, text } of refused) {
      expect(status).toBe(503)
      expect(headers['retry-after']).toBe('1')
      expect(JSON.parse(text)).toMatchObject({
        error: { type: 'server_error', code: 'out_of_handles' },
      })
    }
    const health = await controlPlaneCall(scene.gatehouse, 'GET', '/v1/targets/health')
    expect(await health.json()).toMatchObject({
      data: [{ target: 'openai/gpt-4o', state: 'healthy', failuresInARow: 0, lastFailure: null }],
    })
    expect((await scene.post(CHAT, '{"model":"held","messages":[]}')).status).toBe(200)
  } finally {
    held.resolve()
    await scene.close()
  }
})

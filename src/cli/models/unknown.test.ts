/** `gatehouse models unknown` on a local folder with calls of known and unknown models. */
import { expect, test } from 'bun:test'
import { runCliInProcess } from '../../../test/support/run-cli-in-process.ts'
import { type PlannedCall, seedPlannedCalls } from '../../../test/support/seed-calls.ts'
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts'

const HOUR_MS = 3_600_000

test('models without a known price are listed with calls, tokens and since when', async () => {
  const folder = await createTemporaryFolder()
  const environment = { GATEHOUSE_DATA_DIR: folder.path }
  const run = (...words: string[]) =>
    runCliInProcess(['models', 'unknown', ...words], { environment })
  const now = Date.now()
  const call = (hoursAgo: number, target: string, isUnpriced: boolean): PlannedCall => ({
    ...{ startedAt: now - hoursAgo * HOUR_MS, gate: 'demo', target, isUnpriced },
  })
  try {
    const none = await run()
    expect(none.stdout.trimEnd()).toStartWith('MODEL')
    expect(none.stderr).toContain('Every model that was called has a known price.')
    await seedPlannedCalls(folder.path, [
      call(1, 'openai/new-1', true),
      call(2, 'openai/gpt-5', false),
      call(3, 'openai/new-2', true),
      call(4, 'openai/new-1', true),
    ])
    const all = JSON.parse((await run('--json')).stdout) as Record<string, unknown>[]
    expect(all).toMatchObject([
      {
        ...{ model: 'openai/new-1', calls: 2, estimatedUsd: 0 },
        since: new Date(now - 4 * HOUR_MS).toISOString(),
      },
      { model: 'openai/new-2', calls: 1 },
    ])
    expect(Number(all[0]?.tokens)).toBe(2 * Number(all[1]?.tokens))
    const later = await run('--from', new Date(now - 2.5 * HOUR_MS).toISOString())
    expect(later.stdout.trimEnd().split('\n').slice(1)).toEqual([
      expect.stringMatching(/^openai\/new-1 {2}1 /),
    ])
  } finally {
    await folder.remove()
  }
})

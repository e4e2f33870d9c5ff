/** The memory of a node whose configuration file has as many entries for models as it may have. */
import { expect, setDefaultTimeout } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MAX_MODELS } from '../../src/contract/models-section.ts'
import { controlPlaneCall } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { residentBytes } from '../support/process-memory.ts'
import { testIf } from '../support/skip-unless.ts'
import { startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(240_000)

const RELOADS = 3
/** A second table of entries takes 15 MB. */
const MAX_GROWTH_BYTES = 10_000_000

/** 7 MB. Every entry differs from those of another `round`. */
function modelsSection(round: number): string {
  const entries = Array.from({ length: MAX_MODELS }, (_, index) => {
    const input = (index % 90) + round
    return `
  - model: openai/family-${index % 97}/a-model-with-a-long-name-${index}
    prices:
      - { from: 2026-11-20, input: ${input}, output: ${input * 5}, cachedInput: 0.25, cacheWrite: 1.25, above: [ { inputTokens: 200000, input: ${input * 2}, output: ${input * 7} } ] }
    facts: { contextTokens: 400000, maxOutputTokens: 64000, inputModalities: [ text, image ], outputModalities: [ text ] }`
  })
  return `models:${entries.join('')}\n`
}

testIf(process.platform === 'linux', 'needs /proc')(
  'reloads of 20,000 changed entries leave an idle node with one table of entries',
  async () => {
    const folder = await createTemporaryFolder()
    const write = (round: number) =>
      writeFile(join(folder.path, 'gatehouse.yaml'), modelsSection(round))
    await write(0)
    const gatehouse = await startGatehouse({ dataFolder: folder.path })
    try {
      // Loads the control plane, so that its code does not count.
      const shown = await controlPlaneCall(gatehouse, 'GET', '/v1/account')
      expect([shown.status, await shown.text()]).toEqual([200, expect.any(String)])
      let leastBytes = Number.POSITIVE_INFINITY
      for (let sample = 0; sample < 40; sample += 1) {
        leastBytes = Math.min(leastBytes, await residentBytes(gatehouse.pid))
        await Bun.sleep(200)
      }
      for (let round = 1; round <= RELOADS; round += 1) {
        await write(round)
        const answer = await controlPlaneCall(gatehouse, 'POST', '/v1/reload')
        expect(await answer.json()).toMatchObject({
          status: 'reloaded',
          nodes: [{ changed: ['models'] }],
        })
      }
      await pollUntil(
        'the memory of the replaced entries to be returned',
        async () => (await residentBytes(gatehouse.pid)) < leastBytes + MAX_GROWTH_BYTES,
        { timeoutMs: 120_000, intervalMs: 250 },
      )
    } finally {
      await gatehouse.remove()
      await folder.remove()
    }
  },
)

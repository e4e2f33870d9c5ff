/**
 * Requests that published agents sent (`test/record-agents/record-agents.ts` renews them): read from
 * `test/fixtures/agents/`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { AgentFixture } from '../record-agents/agent-fixture.ts'

const FOLDER = new URL('../fixtures/agents/', import.meta.url)

export function readAgentFixtures(): readonly AgentFixture[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json.gz'))
    .sort()
    .map((name) => {
      const bytes = Bun.gunzipSync(readFileSync(new URL(name, FOLDER)))
      return JSON.parse(new TextDecoder().decode(bytes)) as AgentFixture
    })
}

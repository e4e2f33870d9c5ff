import { expect, test } from 'bun:test'
import { clientSetups } from './client-setups.ts'

const TOKEN = `at-svc-${'0'.repeat(64)}`
const setups = clientSetups({ baseUrl: 'https://gateway.example', gateId: 'coding', token: TOKEN })

test('each client gets the address, the gate and the token once', () => {
  expect(setups.map(({ name }) => name)).toEqual([
    'Claude Code',
    'Codex',
    'opencode',
    'Copilot CLI',
    'OpenAI SDK, TypeScript',
    'OpenAI SDK, Python',
    'Anthropic SDK, TypeScript',
    'Anthropic SDK, Python',
  ])
  for (const { parts } of setups) {
    const all = parts.map(({ code }) => code).join('\n')
    expect(all).toContain('https://gateway.example')
    expect(all).toContain('coding')
    expect(all.split(TOKEN)).toHaveLength(2)
  }
})

test('no file holds the token', () => {
  for (const { parts } of setups)
    for (const { place, code } of parts) expect(code.includes(TOKEN)).toBe(place === 'In the shell')
})

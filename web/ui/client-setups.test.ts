import { expect, test } from 'bun:test'
import { clientSetups } from './client-setups.ts'

const TOKEN = `at-svc-${'0'.repeat(64)}`
const place = { baseUrl: 'https://gateway.example', gateId: 'coding' }
const setups = clientSetups({ ...place, token: TOKEN })

test('each client gets the address, the gate and the token once', () => {
  expect(setups.map(({ name }) => name)).toEqual([
    'Claude Code',
    'Codex',
    'opencode',
    'Copilot CLI',
    'Cursor',
    'OpenAI SDK, TypeScript',
    'OpenAI SDK, Python',
    'Anthropic SDK, TypeScript',
    'Anthropic SDK, Python',
    'Vercel AI SDK',
    'curl',
  ])
  for (const { parts } of setups) {
    const all = parts.map(({ code }) => code).join('\n')
    expect(all).toContain('https://gateway.example')
    expect(all).toContain('coding')
    expect(all.split(TOKEN)).toHaveLength(2)
  }
})

test('no file holds the token', () => {
  const places = setups.flatMap(({ parts }) =>
    parts.filter(({ code }) => code.includes(TOKEN)).map(({ place }) => place),
  )
  expect([...new Set(places)]).toEqual(['In the shell', 'Settings, Models: OpenAI API Key'])
})

test('gatehouse connect comes first for the clients that it supports', () => {
  const commands = setups.flatMap(({ id, command }) =>
    command === undefined ? [] : [[id, command]],
  )
  expect(commands[0]).toEqual([
    'claude-code',
    `GATEHOUSE_TOKEN=${TOKEN} gatehouse connect claude-code ` +
      '--url https://gateway.example --gate coding',
  ])
  expect(commands.map(([id]) => id)).toEqual([
    'claude-code',
    'codex',
    'opencode',
    'openai-typescript-responses',
    'openai-python-responses',
    'anthropic-typescript',
    'anthropic-python',
  ])
})

test('without a token, lines have a placeholder and the command asks for the token', () => {
  for (const { command, parts } of clientSetups(place)) {
    expect(command ?? 'gatehouse connect').toStartWith('gatehouse connect')
    expect(parts.filter(({ code }) => code.includes('at-svc-…'))).toHaveLength(1)
  }
})

/** The snippets as text; test/e2e/snippets.test.ts runs them. */
import { expect, test } from 'bun:test'
import { callSnippets, KEY_VARIABLE } from './snippets.ts'

const snippets = callSnippets({ baseUrl: 'https://gateway.example/', gateId: 'support.v2' })

test('every snippet names the gate, the gateway and the source of the key', () => {
  for (const { id, code } of snippets) {
    expect({ id, gate: code.includes('support.v2') }).toEqual({ id, gate: true })
    const [, path] = /https:\/\/gateway\.example(\/\w+)?(?=[/'"])/.exec(code) ?? []
    expect({ id, path }).toEqual({
      id,
      path: id.startsWith('anthropic') ? undefined : expect.any(String),
    })
    expect({ id, key: code.includes(KEY_VARIABLE) }).toEqual({ id, key: true })
    expect(code).not.toContain('example//')
  }
})

test('ids and names are distinct', () => {
  expect(new Set(snippets.map(({ id }) => id)).size).toBe(snippets.length)
  expect(new Set(snippets.map(({ name }) => name)).size).toBe(snippets.length)
})

test('the address ends as each SDK takes it', () => {
  const codeOf = (id: string) => snippets.find((snippet) => snippet.id === id)?.code
  expect(codeOf('openai-typescript-responses')).toContain("baseURL: 'https://gateway.example/v1'")
  expect(codeOf('anthropic-python')).toContain('base_url="https://gateway.example"')
  expect(codeOf('mistral-fim-typescript')).toContain("serverURL: 'https://gateway.example/alt'")
})

test('each names its endpoint', () => {
  const paths = new Set(snippets.map(({ endpoint }) => endpoint))
  expect([...paths].sort()).toEqual([
    '/alt/v1/fim/completions',
    '/v1/chat/completions',
    '/v1/messages',
    '/v1/responses',
  ])
  for (const { family, endpoint, code } of snippets) {
    if (family === 'curl') expect(code).toContain(`https://gateway.example${endpoint} `)
  }
})

test('every one except curl has its installation', () => {
  const bare = snippets.filter(({ install }) => install === undefined)
  expect(bare.map(({ family }) => family)).toEqual(['curl', 'curl', 'curl', 'curl'])
})

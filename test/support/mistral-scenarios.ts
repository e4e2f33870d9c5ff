/**
 * What an application does with the Mistral SDK, so that the same scenarios run against the sandbox
 * and against the real provider.
 */
import { expect } from 'bun:test'
import type { Mistral } from '@mistralai/mistralai'

export interface MistralScene {
  readonly client: Mistral
  readonly fimGate: string
  readonly chatGate: string
}

const FIM = { prompt: 'def add(a, b):\n    ', suffix: '\n\nprint(add(1, 2))' }
const MESSAGES = [{ role: 'user' as const, content: 'Say hello.' }]

async function fimComplete({ client, fimGate }: MistralScene): Promise<void> {
  const completion = await client.fim.complete({ model: fimGate, ...FIM })
  expect(completion.choices?.[0]?.message?.content).toBeTruthy()
  expect(completion.usage.totalTokens).toBeGreaterThan(0)
}

async function fimStream({ client, fimGate }: MistralScene): Promise<void> {
  let text = ''
  let finish: string | null = null
  let total: number | undefined
  for await (const { data } of await client.fim.stream({ model: fimGate, ...FIM })) {
    const [choice] = data.choices
    if (typeof choice?.delta.content === 'string') text += choice.delta.content
    finish = choice?.finishReason ?? finish
    total = data.usage?.totalTokens ?? total
  }
  expect(text).not.toBe('')
  expect(finish).not.toBeNull()
  expect(total).toBeGreaterThan(0)
}

async function fimWithMinTokens({ client, fimGate }: MistralScene): Promise<void> {
  const completion = await client.fim.complete({
    model: fimGate,
    ...FIM,
    minTokens: 1,
    maxTokens: 50,
  })
  expect(completion.choices?.[0]?.message?.content).toBeTruthy()
}

async function chatComplete({ client, chatGate }: MistralScene): Promise<void> {
  const completion = await client.chat.complete({ model: chatGate, messages: MESSAGES })
  expect(completion.choices?.[0]?.message?.content).toBeTruthy()
  expect(completion.usage.totalTokens).toBeGreaterThan(0)
}

async function chatStream({ client, chatGate }: MistralScene): Promise<void> {
  let text = ''
  for await (const { data } of await client.chat.stream({ model: chatGate, messages: MESSAGES })) {
    const content = data.choices[0]?.delta.content
    if (typeof content === 'string') text += content
  }
  expect(text).not.toBe('')
}

export const MISTRAL_SCENARIOS: readonly (readonly [
  string,
  (scene: MistralScene) => Promise<void>,
])[] = [
  ['fim.complete', fimComplete],
  ['fim.stream', fimStream],
  ['fim.complete with minTokens', fimWithMinTokens],
  ['chat.complete', chatComplete],
  ['chat.stream', chatStream],
]

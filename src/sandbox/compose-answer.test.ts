import { expect, test } from 'bun:test'
import { composeAnswer, type Prompt } from './compose-answer.ts'

const plain: Prompt = {
  lastUserText: 'Hi',
  toolOutputs: [],
  tools: [],
  toolChoice: { type: 'auto' },
  isParallel: true,
  maxOutputTokens: null,
  stop: [],
  reasoningTokens: 0,
}
const tools = ['get_weather', 'add', 'find'].map((name) => ({
  name,
  parameters: { type: 'object' },
}))
const callsOf = (prompt: Partial<Prompt>) =>
  composeAnswer({ ...plain, tools, ...prompt }, null).calls.map((call) => call.name)

test('echoes the prompt, its pieces joined being the text', () => {
  const answer = composeAnswer(plain, null)
  expect(answer.text).toBe('Sandbox echo: Hi')
  expect([...answer.pieces()].join('')).toBe('Sandbox echo: Hi')
  expect(answer.outputTokens).toBe([...answer.pieces()].length)
})

test('repeats words when asked to', () => {
  expect(
    composeAnswer({ ...plain, lastUserText: 'Please repeat 12 words.' }, null).text?.split(' ')
      .length,
  ).toBe(12)
})

test('calls the tools that the prompt names, in its order, whole words only', () => {
  expect(callsOf({ lastUserText: 'first add, then Get Weather' })).toEqual(['add', 'get_weather'])
  expect(callsOf({ lastUserText: 'your address' })).toEqual([])
  expect(callsOf({ lastUserText: 'find and add', isParallel: false })).toEqual(['find'])
})

test('obeys the tool choice', () => {
  expect(callsOf({ toolChoice: { type: 'required' } })).toEqual(['get_weather'])
  expect(callsOf({ toolChoice: { type: 'required' }, lastUserText: 'find it' })).toEqual(['find'])
  expect(callsOf({ toolChoice: { type: 'named', name: 'add' } })).toEqual(['add'])
  expect(callsOf({ toolChoice: { type: 'none' }, lastUserText: 'add' })).toEqual([])
})

test('quotes tool outputs instead of calling again', () => {
  const answer = composeAnswer(
    { ...plain, tools, lastUserText: 'add', toolOutputs: ['19', '57'] },
    null,
  )
  expect(answer).toMatchObject({
    text: 'Sandbox echo of tool outputs: 19; 57',
    calls: [],
    finish: 'stop',
  })
})

test('the limit cuts the text, and reasoning uses it up first', () => {
  expect(composeAnswer({ ...plain, maxOutputTokens: 2 }, null)).toMatchObject({
    text: 'Sandbox echo',
    finish: 'length',
    outputTokens: 2,
  })
  expect(composeAnswer({ ...plain, maxOutputTokens: 50, reasoningTokens: 64 }, null)).toMatchObject(
    {
      text: null,
      finish: 'length',
      reasoningTokens: 50,
      outputTokens: 50,
    },
  )
})

test('a stop text ends the answer before itself', () => {
  expect(composeAnswer({ ...plain, stop: ['nowhere', 'echo'] }, null)).toMatchObject({
    text: 'Sandbox ',
    finish: 'stop',
  })
})

test('a schema makes the text JSON', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } } }
  expect(composeAnswer({ ...plain, lastUserText: 'take 7', schema }, null).text).toBe('{"n":7}')
})

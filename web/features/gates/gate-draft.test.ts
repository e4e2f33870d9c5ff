import { expect, test } from 'bun:test'
import {
  EMPTY_DRAFT,
  findProblems,
  type Gate,
  problemAt,
  toChanges,
  toDraft,
  toNewGate,
  toNewTarget,
  toShares,
} from './gate-draft.ts'

const gate: Gate = {
  id: 'support',
  displayName: 'support',
  description: '',
  targets: [{ model: 'sandbox/echo', weight: 9 }, { model: 'sandbox/slow' }],
  strategy: 'weighted',
  hedgeAfterMs: null,
  defaults: { temperature: 0.2, reasoningEffort: 'low' },
  overrides: 'ignore',
  aliases: [
    { name: 'quiet', isListed: false },
    { name: 'openai/gpt-4.1', isListed: true },
  ],
  isCatchAll: false,
  facts: { contextTokens: 200_000, inputModalities: ['text', 'image'] },
  resolvedFacts: { contextTokens: { value: 200_000, source: 'gate' } },
  codexInstructions: null,
  usageHeaders: false,
  adapt: 'off',
  ignoreStore: false,
  timeoutMs: 60_000,
  maxRetries: 1,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
}
const draft = toDraft(gate)

test('a gate that is only viewed has no changes and no problems', () => {
  expect(toChanges(gate, draft)).toEqual({})
  expect(findProblems(draft)).toEqual([])
})

test('only changed members are sent, whole if the interface replaces them whole', () => {
  const [first, second] = draft.targets
  if (first === undefined || second === undefined) throw new Error('two targets')
  expect(
    toChanges(gate, { ...draft, targets: [second, first], temperature: '', timeoutMs: '' }),
  ).toEqual({
    targets: [{ model: 'sandbox/slow' }, { model: 'sandbox/echo', weight: 9 }],
    defaults: { reasoningEffort: 'low' },
    timeoutMs: null,
  })
})

test('facts are typed as numbers and words, and an empty one is left to the targets', () => {
  const typed = { ...draft, contextTokens: '', outputTokens: '8,000', reasoningEfforts: 'low high' }
  expect(toChanges(gate, typed)).toEqual({
    facts: {
      maxOutputTokens: 8_000,
      inputModalities: ['text', 'image'],
      reasoningEfforts: ['low', 'high'],
    },
  })
  const wrong = findProblems({ ...draft, inputModalities: 'smell' })
  expect(problemAt(wrong, 'facts.inputModalities')).toMatch(/must be "text"/)
})

test('aliases are typed as names between commas or spaces', () => {
  expect(draft).toMatchObject({ aliases: 'openai/gpt-4.1', unlistedAliases: 'quiet' })
  const typed = { ...draft, aliases: 'openai/gpt-4.1,qwen3:8b  claude', unlistedAliases: '' }
  expect(toChanges(gate, typed)).toEqual({ aliases: ['openai/gpt-4.1', 'qwen3:8b', 'claude'] })
  const problems = findProblems({ ...draft, aliases: 'owned/mine' })
  expect(problemAt(problems, 'aliases')).toMatch(/must not begin with 'owned\/'/)
})

test('an emptied name becomes the id again, and an added space changes nothing', () => {
  expect(toChanges({ ...gate, displayName: 'Support' }, { ...draft, displayName: ' ' })).toEqual({
    displayName: 'support',
  })
  expect(toChanges(gate, { ...draft, displayName: ' support ' })).toEqual({})
})

test('problems have the names and the wording of the interface', () => {
  const wrong = {
    ...draft,
    id: '.a',
    targets: [...draft.targets, { ...toNewTarget('no-slash'), weight: '1.5' }],
    temperature: 'warm',
    maxRetries: '9',
  }
  const problems = findProblems(wrong)
  expect(problemAt(problems, 'id')).toStartWith('must be 1 to 64')
  expect(problemAt(problems, 'targets[2].model')).toStartWith('must be provider/model')
  expect(problemAt(problems, 'targets[2].weight')).toBe('must be a whole number')
  expect(problemAt(problems, 'targets[0]')).toBeUndefined()
  expect(problemAt(problems, 'defaults.temperature')).toBe('must be a number')
  expect(problemAt(problems, 'maxRetries')).toBe('must be at most 5')
  expect(problemAt(findProblems(EMPTY_DRAFT), 'targets')).toBe('must name at least one target')
})

test('whole numbers may have commas between their thousands, and decimals one for their point', () => {
  const settings = toNewGate({
    ...draft,
    temperature: '0,7',
    maxOutputTokens: '1,000',
    timeoutMs: '30,000',
    hedgeAfterMs: '1 500',
    targets: [{ ...toNewTarget('sandbox/echo'), weight: '1,000' }],
  })
  expect(settings).toMatchObject({
    defaults: { temperature: 0.7, maxOutputTokens: 1_000 },
    timeoutMs: 30_000,
    hedgeAfterMs: 1_500,
    targets: [{ model: 'sandbox/echo', weight: 1_000 }],
  })
  expect(toShares([{ ...toNewTarget('a/b'), weight: '3,000' }, toNewTarget('a/b')])[0]).toBeCloseTo(
    3_000 / 3_001,
  )
  for (const timeoutMs of ['1,5', '30.000', '30.'])
    expect(problemAt(findProblems({ ...draft, timeoutMs }), 'timeoutMs')).toBe(
      'must be a whole number',
    )
})

test('empty fields are left to the gateway', () => {
  const body = toNewGate({ ...EMPTY_DRAFT, targets: [toNewTarget(' sandbox/echo ')] })
  expect(body).toEqual({
    description: '',
    targets: [{ model: 'sandbox/echo' }],
    strategy: 'fallback',
    hedgeAfterMs: null,
    defaults: {},
    overrides: 'ignore',
    aliases: [],
    isCatchAll: false,
    facts: {},
    codexInstructions: null,
    usageHeaders: false,
    budgetHeaders: false,
    fuse: null,
    adapt: 'retry',
    ignoreStore: false,
    timeoutMs: null,
    maxRetries: 0,
  })
})

test('shares add up to one; an empty weight is 1, and an invalid one has no share', () => {
  const weighted = (...weights: string[]) =>
    weights.map((weight) => ({ ...toNewTarget('a/b'), weight }))
  expect(toShares(weighted('3', ''))).toEqual([0.75, 0.25])
  expect(toShares(weighted('x', '-1', '2'))).toEqual([0, 0, 1])
  expect(toShares(weighted('0'))).toEqual([0])
})

test('a target keeps the share of a budget from which it comes first', () => {
  const when = { budget: 'bud_1', from: 0.85 }
  const steered: Gate = { ...gate, targets: [{ model: 'sandbox/echo', when }] }
  const shown = toDraft(steered)
  const [target = toNewTarget('')] = shown.targets
  expect(target).toMatchObject({ whenBudget: 'bud_1', whenPercent: '85' })
  expect(toChanges(steered, shown)).toEqual({})
  expect(toChanges(steered, { ...shown, targets: [{ ...target, whenPercent: '90' }] })).toEqual({
    targets: [{ model: 'sandbox/echo', when: { ...when, from: 0.9 } }],
  })
  expect(toChanges(steered, { ...shown, targets: [{ ...target, whenBudget: '' }] })).toEqual({
    targets: [{ model: 'sandbox/echo' }],
  })
  const unsaid = findProblems({ ...shown, targets: [{ ...target, whenPercent: '' }] })
  expect(problemAt(unsaid, 'targets[0].when')).toBeDefined()
})

test('a fuse is changed as a whole, and removed when its fields are empty', () => {
  const fused: Gate = { ...gate, fuse: { usd: 20, callsPerMinute: 60, forMinutes: 3 } }
  const shown = toDraft(fused)
  expect(toChanges(fused, shown)).toEqual({})
  expect(toChanges(fused, { ...shown, fuse: { ...shown.fuse, usd: '25' } })).toEqual({
    fuse: { usd: 25, callsPerMinute: 60, forMinutes: 3 },
  })
  const none = { usd: '', calls: '', minutes: '' }
  expect(toChanges(fused, { ...shown, fuse: none })).toEqual({ fuse: null })
  const problemsOf = (fuse: typeof none) => findProblems({ ...shown, fuse })
  expect(problemAt(problemsOf({ ...none, usd: '0' }), 'fuse.usd')).toBeDefined()
  expect(problemAt(problemsOf({ ...none, minutes: '3' }), 'fuse')).toBe(
    'must set usd or callsPerMinute',
  )
})

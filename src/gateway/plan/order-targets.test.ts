import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Gate, type Strategy, USUAL_GATE } from '../../core/gate.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../../core/ids.ts'
import { CircuitBreakers } from '../attempt/circuit-breakers.ts'
import { healthKey, healthKeyPrefix, readHealthKey, TargetOrder } from './order-targets.ts'

function createGate(strategy: Strategy, weights: readonly (number | undefined)[]): Gate {
  return {
    accountId: DEFAULT_ACCOUNT,
    id: 'gate' as GateId,
    displayName: 'gate',
    description: '',
    targets: weights.map((weight, index) => ({ model: `openai/${index}`, weight })),
    ...USUAL_GATE,
    strategy,
    timeoutMs: null,
    maxRetries: 0,
    createdAt: 0,
    updatedAt: 0,
  }
}

function createScene(gate: Gate) {
  const clock = {
    nowMs: 1_790_000_000_000,
    now(): number {
      return this.nowMs
    },
    elapsed(): number {
      return this.nowMs
    },
  }
  const breakers = new CircuitBreakers(clock)
  const order = new TargetOrder(breakers)
  const key = (index: number) => healthKey(gate, gate.targets[index] ?? { model: '' })
  const names = (preferred?: ReadonlyMap<string, string>) =>
    order.of(gate, preferred).map((target) => Number(target.model.slice('openai/'.length)))
  const breakDown = (index: number) => {
    for (let times = 0; times < 5; times += 1) breakers.noteFailed(key(index))
  }
  return { clock, breakers, key, names, breakDown }
}

describe('weighted', () => {
  test('puts every target first exactly as often as its weight says, over each round', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 1, max: 4 }),
        (weights, rounds) => {
          const sum = weights.reduce((left, right) => left + right, 0)
          fc.pre(sum > 0)
          const { names } = createScene(createGate('weighted', weights))
          const firsts = weights.map(() => 0)
          for (let call = 0; call < sum * rounds; call += 1) {
            const [first = 0, ...others] = names()
            firsts[first] = (firsts[first] ?? 0) + 1
            expect([first, ...others].toSorted()).toEqual(weights.map((_, index) => index))
          }
          expect(firsts).toEqual(weights.map((weight) => weight * rounds))
        },
      ),
    )
  })

  test('spreads a heavy target over the round instead of giving its share at a stretch', () => {
    const { names } = createScene(createGate('weighted', [5, 1, 1]))
    expect(Array.from({ length: 7 }, () => names()[0])).toEqual([0, 0, 1, 0, 2, 0, 0])
  })

  test('gives all the same share without weights; a target of weight 0 is only a reserve', () => {
    const equal = createScene(createGate('weighted', [undefined, undefined]))
    expect(Array.from({ length: 4 }, () => equal.names()[0])).toEqual([0, 1, 0, 1])
    const reserve = createScene(createGate('weighted', [0, 3]))
    expect(Array.from({ length: 5 }, () => reserve.names())).toEqual(Array(5).fill([1, 0]))
  })
})

describe('fallback', () => {
  test('keeps the order of the list, call after call', () => {
    const { names } = createScene(createGate('fallback', [undefined, 9, undefined]))
    expect([names(), names()]).toEqual([
      [0, 1, 2],
      [0, 1, 2],
    ])
  })

  test('puts a resting target last, without leaving it out, and first again for one probe', () => {
    const { clock, breakers, key, names, breakDown } = createScene(
      createGate('fallback', [1, 1, 1]),
    )
    breakDown(0)
    expect(names()).toEqual([1, 2, 0])
    clock.nowMs += 5_000
    expect(names()).toEqual([0, 1, 2])
    breakers.noteAsked(key(0))
    expect(names()).toEqual([1, 2, 0])
    breakers.noteAnswered(key(0), 5)
    expect(names()).toEqual([0, 1, 2])
  })

  test('keeps all targets when all rest', () => {
    const { names, breakDown } = createScene(createGate('fallback', [1, 1]))
    breakDown(0)
    breakDown(1)
    expect(names()).toEqual([0, 1])
  })
})

describe('fastest', () => {
  test('puts a target without an answer first, then the one with the shortest time to first byte', () => {
    const { breakers, key, names } = createScene(createGate('fastest', [1, 1, 1]))
    breakers.noteAnswered(key(0), 300)
    breakers.noteAnswered(key(1), 100)
    expect(names()).toEqual([2, 1, 0])
    breakers.noteAnswered(key(2), 200)
    expect(names()).toEqual([1, 2, 0])
  })

  test('puts the target idle for longest first in one call of twenty, so that a faster one is found', () => {
    const { clock, breakers, key, names } = createScene(createGate('fastest', [1, 1]))
    breakers.noteAnswered(key(0), 300)
    clock.nowMs += 10
    const firsts: (number | undefined)[] = []
    for (let call = 0; call < 40; call += 1) {
      const first = names()[0]
      firsts.push(first)
      if (first === 1) breakers.noteAnswered(key(1), 100)
    }
    expect(firsts.filter((first) => first === 0)).toHaveLength(2)
  })
})

test('a health key names its account and its target, and begins with its provider’s prefix', () => {
  const key = healthKey({ accountId: DEFAULT_ACCOUNT }, { model: 'openai/gpt-4o' })
  expect(readHealthKey(key)).toEqual({ accountId: DEFAULT_ACCOUNT, target: 'openai/gpt-4o' })
  expect(key).toStartWith(healthKeyPrefix(DEFAULT_ACCOUNT, 'openai'))
  expect(key).not.toStartWith(healthKeyPrefix(DEFAULT_ACCOUNT, 'open'))
})

test('a preferred target comes first, unless the target rests', () => {
  const { names, breakDown } = createScene(createGate('fallback', [1, 1, 1]))
  const preferred = new Map([['openai/2', 'bud_1']])
  expect(names(preferred)).toEqual([2, 0, 1])
  expect(names()).toEqual([0, 1, 2])
  breakDown(2)
  expect(names(preferred)).toEqual([0, 1, 2])
})

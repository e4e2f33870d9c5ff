/** The faults that are found in a text, their places, and those not worth planting. */
import { describe, expect, test } from 'bun:test'
import { findMutants, plantMutant } from './find-mutants.ts'

/** `original → mutated` of each. */
function faultsOf(source: string): string[] {
  return findMutants('src/x.ts', source).map(({ original, mutated }) => `${original} → ${mutated}`)
}

/** The whole text with each of its faults. */
function plantedIn(source: string): string[] {
  return findMutants('src/x.ts', source).map((mutant) => plantMutant(mutant, source))
}

describe('a fault of each kind', () => {
  test.each([
    ['a border that moves by one', 'a < b', ['a < b → a <= b']],
    ['the opposite', 'a === b', ['a === b → a !== b']],
    ['one of two conditions', 'a && b', ['a && b → a || b']],
    ['a sum', 'a + b', ['a + b → a - b']],
    ['a running sum', 'a.b += c', ['a.b += c → ;', 'a.b += c → a.b -= c']],
    ['a step', 'i++', ['i++ → i--']],
    ['a fallback', 'a ?? b', ['a ?? b → b']],
    ['a condition', 'f(a ? b : c)', ['f(a ? b : c) → ;', 'a → !(a)']],
    ['a condition that is negated already', 'x = !a ? b : c', ['!a → a']],
    ['a small number', 'x = 2', ['2 → 3', '2 → 1']],
    ['none', 'x = 0', ['0 → 1']],
    ['a size', 'x = 65_536', ['65_536 → 0']],
    ['a truth', 'x = true', ['true → false']],
    ['a word', "x = 'word'", ["'word' → ''"]],
    ['an end of a queue', 'x = y.shift()', ['y.shift() → y.pop()']],
    ['a call', 'reject(a)', ['reject(a) → ;']],
    ['a call that is waited for', 'await a.b()', ['await a.b() → ;', 'await a.b() → a.b()']],
    ['a call that may not be there', 'a?.b()', ['a?.b() → ;']],
    ['an assignment', 'a.b = c', ['a.b = c → ;']],
    ['a jump', 'for (;;) { f(); break }', ['f(); → ;', 'break → ;']],
  ])('%s: %s', (_, source, faults) => {
    expect(faultsOf(source)).toEqual(faults)
  })

  test('a result', () => {
    expect(faultsOf('function f(): A { return a }')).toEqual(['return a → return undefined'])
  })

  test('the body of a condition, once', () => {
    expect(plantedIn('if (a) f()')).toEqual(['if (!(a)) f()', 'if (a) {}'])
    expect(plantedIn('if (a) { f() }')).toEqual(['if (!(a)) { f() }', 'if (a) {}'])
    expect(plantedIn('if (a) { f(); g() }')).toHaveLength(4)
  })
})

test.each([
  ['types', "type A = 'a' | 1; const x = y as 'b'; interface B { c: true; d: 2 }"],
  ['imports', "import { a } from './a.ts'; export * from './b.ts'"],
  ['comments', '// a < b\n/* c && d */'],
  ['sentences', "const x = 'two words'"],
  ['messages', "const x = new Error('broken')"],
  ['names of properties', "const x = { 'a-b': y, 7: z }"],
  ['what is put together as text', "const x = a + 'b c' + d"],
  ['a result that nobody gets', 'async function f(): Promise<void> { return g() }'],
  ['a result that is nothing already', 'function f(): A | undefined { return undefined }'],
])('%s has no place for a fault', (_, source) => {
  expect(faultsOf(source)).toEqual([])
})

test('a wait before a result counts inside of try alone', () => {
  const removed = (source: string) =>
    findMutants('src/x.ts', source).filter(({ operator }) => operator === 'await removed')
  expect(removed('async function f() { return await g() }')).toHaveLength(0)
  expect(removed('async function f() { try { return await g() } finally { h() } }')).toHaveLength(1)
})

test('an operator is found behind a comment that holds it, and behind brackets', () => {
  expect(plantedIn('a /* && ü */ && b')).toEqual(['a /* && ü */ || b'])
  expect(plantedIn('(a) < (b)')).toEqual(['(a) <= (b)'])
})

test('place and text are right after characters of several bytes, and in the next text that is parsed', () => {
  const source = "// é 𝄞 ü\nconst x = 'two words'\n  f('ü 𝄞', a < b)\n"
  for (let round = 0; round < 2; round += 1)
    expect(findMutants('src/x.ts', source).at(-1)).toMatchObject({
      path: 'src/x.ts',
      line: 3,
      column: 15,
      operator: 'comparison',
      lineText: "f('ü 𝄞', a < b)",
      original: 'a < b',
      mutated: 'a <= b',
    })
  expect(plantedIn(source).at(-1)).toBe("// é 𝄞 ü\nconst x = 'two words'\n  f('ü 𝄞', a <= b)\n")
})

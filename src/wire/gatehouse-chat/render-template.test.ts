import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { renderTemplate } from './render-template.ts'

const vars = { name: 'Ann', a_b: '1', 'a-b': '2', evil: '{{name}}', empty: '' }

test.each([
  ['Hi {{name}}!', 'Hi Ann!'],
  ['{{name}}{{ name }}{{  name\n}}', 'AnnAnnAnn'],
  ['{{a_b}}-{{a-b}}', '1-2'],
  ['[{{empty}}]', '[]'],
  ['{{{name}}}', '{Ann}'],
  ['{{{{name}}}}', '{{Ann}}'],
  ['', ''],
])('%j is %j', (text, rendered) => {
  expect(renderTemplate(text, vars, 1_000)).toBe(rendered)
})

test.each([
  '{name}',
  '{{name',
  'name}}',
  '}}{{',
  '{{}}',
  '{{ }}',
  '{{1}}',
  '{{a b}}',
  '{{#if name}}',
  '{{name.length}}',
  '{{"a":{"b":1}}}',
  `{{${'x'.repeat(100)}}}`,
])('%j is not a variable and stays', (text) => {
  expect(renderTemplate(text, vars, 1_000)).toBe(text)
})

describe('a variable', () => {
  test('is not rendered again once filled in', () => {
    expect(renderTemplate('{{evil}}', vars, 1_000)).toBe('{{name}}')
  })

  test.each(['nobody', 'constructor', '__proto__'])('without a value is named: %s', (name) => {
    expect(() => renderTemplate(`Hi {{${name}}}`, vars, 1_000)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', status: 400, param: `vars.${name}` }),
    )
  })
})

describe('a rendered template', () => {
  const full = { a: 'é'.repeat(50) }

  test('may have exactly the limit, in bytes', () => {
    expect(renderTemplate('{{a}}!{{a}}', full, 201)).toBe(`${full.a}!${full.a}`)
  })

  test('is refused a byte beyond it', () => {
    expect(() => renderTemplate('{{a}}!{{a}}', full, 200)).toThrow(
      expect.objectContaining({ kind: 'payload_too_large', status: 413, param: 'instructions' }),
    )
  })

  test('is refused with too many variables', () => {
    expect(() => renderTemplate('{{empty}}'.repeat(10_001), vars, 1_000_000)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', status: 400, param: 'instructions' }),
    )
    expect(renderTemplate('{{empty}}'.repeat(10_000), vars, 1_000_000)).toBe('')
  })
})

test('text between variables is never changed, whatever it and the values are', () => {
  const plain = fc.string().map((text) => text.replaceAll(/[{}]/g, ''))
  fc.assert(
    fc.property(fc.array(plain, { minLength: 1, maxLength: 5 }), fc.string(), (texts, value) => {
      expect(renderTemplate(texts.join('{{x}}'), { x: value }, 100_000)).toBe(texts.join(value))
    }),
  )
})

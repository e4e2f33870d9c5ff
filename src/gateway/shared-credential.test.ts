import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { scanJsonObject } from '../wire/json-splice.ts'
import { findTools, HOSTED_TOOLS, WANTED } from './shared-credential.ts'

const encoder = new TextEncoder()

/** Types as written, texts that contain a type, types with escapes, and unrelated words. */
const text = fc
  .constantFrom(
    ...['web_search', 'web_search_preview', 'container_auto', 'x_search', 'function', 'shell'],
    ...['web\\u005fsearch', '\\u0077eb_search', 'web_sear\\u0063', 'caf\\u00e9', '\\nweb_search'],
    ...['\\"web_search', '\\"type\\":\\"web_search', '\\\\u0077eb_search', 'tools', 'type', ''],
  )
  .map((word) => `"${word}"`)
const name = fc
  .constantFrom(
    ...['type', 'typ\\u0065', 'a\\"type', 'tools', 'environment', 'name', 'web_search'],
    ...['type', 'environment', 'tools'],
  )
  .map((word) => `"${word}"`)
const space = fc.constantFrom('', ' ', '\n\t')

const { value, list } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, text, tie('object'), tie('list')),
  list: fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
  // A vendor may read either of two members with the same name.
  object: fc
    .array(fc.tuple(name, space, tie('value')), { maxLength: 3 })
    .map((members) => `{${members.map(([key, gap, json]) => `${key}${gap}:${gap}${json}`)}}`),
}))

test('a request’s hosted tools are found alike, whatever the scan of its body has ruled out', () => {
  fc.assert(
    fc.property(list, list, value, fc.boolean(), (tools, input, other, isInput) => {
      const bytes = encoder.encode(`{"tools":${tools},"input":${input},"other":${other}}`)
      const find = (body: Parameters<typeof findTools>[0]) =>
        findTools(body, HOSTED_TOOLS, { isInput })
      expect(find(scanJsonObject(bytes, WANTED))).toEqual(find(scanJsonObject(bytes)))
    }),
    { numRuns: 3_000 },
  )
})

/**
 * How the page of `/docs` follows the references of a description, without the browser that it runs
 * in.
 */
import { expect, test } from 'bun:test'

type Resolve = (
  description: unknown,
  path: readonly string[],
) => Promise<{ readonly spec: unknown; readonly errors: readonly unknown[] }>

interface Options {
  readonly plugins: readonly { readonly fn: { readonly resolveSubtree: Resolve } }[]
}

const script = await Bun.file(`${import.meta.dir}/docs-page.browser.js`).text()

function runPage(): Resolve {
  let resolve: Resolve | undefined
  const page = { documentElement: { classList: { toggle: () => false } } }
  const matchMedia = () => ({ matches: false, addEventListener: () => undefined })
  const start = (options: Options) => {
    resolve = options.plugins[0]?.fn.resolveSubtree
  }
  new Function('SwaggerUIBundle', 'matchMedia', 'document', script)(start, matchMedia, page)
  if (resolve === undefined) throw new Error('the page resolves nothing itself')
  return resolve
}

const description = {
  components: {
    schemas: {
      Key: { type: 'object', properties: { owner: { $ref: '#/components/schemas/Owner' } } },
      Owner: { type: 'string' },
      Tree: { properties: { left: { $ref: '#/components/schemas/Tree' } } },
    },
    headers: { 'a/b': { description: 'Seconds.' } },
  },
  paths: {
    '/keys': {
      get: {
        answers: [{ $ref: '#/components/schemas/Key' }],
        headers: { wait: { $ref: '#/components/headers/a~1b' } },
        enum: ['#/components/schemas/Key', 1, null],
      },
    },
  },
}

test('a part has its references replaced by their contents, with the names of schemas as titles', async () => {
  const { spec, errors } = await runPage()(description, ['paths', '/keys', 'get'])
  expect(spec).toEqual({
    answers: [
      {
        title: 'Key',
        type: 'object',
        properties: { owner: { title: 'Owner', type: 'string' } },
      },
    ],
    headers: { wait: { description: 'Seconds.' } },
    enum: ['#/components/schemas/Key', 1, null],
  })
  expect(errors).toEqual([])
})

test('a circular, external or broken reference stays', async () => {
  const resolve = runPage()
  const tree = await resolve(description, ['components', 'schemas', 'Tree'])
  expect(tree.spec).toEqual({
    properties: {
      left: { title: 'Tree', properties: { left: { $ref: '#/components/schemas/Tree' } } },
    },
  })
  for (const $ref of [
    '#/components/schemas/None',
    'https://example.com/#/components/schemas/Key',
  ]) {
    const { spec } = await resolve({ ...description, part: { $ref } }, ['part'])
    expect(spec).toEqual({ $ref })
  }
})

test('a part missing from the description is null', async () => {
  expect(await runPage()(description, ['components', 'none', 'at all'])).toEqual({
    spec: null,
    errors: [],
  })
})

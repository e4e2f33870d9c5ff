import { expect, test } from 'bun:test'
import { findProviderNames } from './provider-names.ts'

const rule = {
  providers: ['openai', 'mistral', 'groq', 'together'],
  dialects: ['openai-chat', 'mistral-fim'],
  identifiersAndImports: true,
}

test.each([
  ['a literal', "if (id === 'groq') run()"],
  ['a target', "const target = 'openai/gpt-5'"],
  ['an address', "fetch('https://api.mistral.ai/v1')"],
  ['an environment variable', 'process.env.OPENAI_API_KEY'],
  ['an identifier', 'const groqQuirks = 1'],
  ['an identifier in capitals', 'const isOpenAI = true'],
  ['a type', "type Id = 'groq' | 'x'"],
  ['a template', 'const host = `groq-$' + '{region}`'],
  ['a key of an object', 'const table = { groq: 1 }'],
  ['an import', "import { x } from '../providers/groq.ts'\nx"],
  ['an argument of a call', "run('groq')"],
])('a provider in %s is found', (_, source) => {
  expect(findProviderNames(source, rule)).toHaveLength(1)
})

test.each([
  ['a dialect', "const dialect = 'openai-chat'"],
  ["a dialect's identifier", 'const openaiChat = mistralFim'],
  ['a comment', '// groq\n/* openai */ const x = 1'],
  ['prose', "throw new Error('Put them together, as the OpenAI SDK does.')"],
  ['a word that only begins alike', "const openair = 'groquet'"],
  [
    'an exception with its reason',
    "// provider-name-ok: the example in a document\nconst x = 'openai/gpt-5'",
  ],
])('%s is not a provider', (_, source) => {
  expect(findProviderNames(source, rule)).toEqual([])
})

test('the line is right after characters of several bytes', () => {
  const source = "// é 𝄞 ü\nconst a = 'ü𝄞'\n\nconst b = 'groq'\n"
  expect(findProviderNames(source, rule)).toEqual([{ line: 4, provider: 'groq', text: 'groq' }])
})

test('in a dialect folder only literals count', () => {
  const inDialect = { ...rule, identifiersAndImports: false }
  expect(
    findProviderNames(
      "import { mistralShaped } from './mistral-shaped.ts'\nmistralShaped",
      inDialect,
    ),
  ).toEqual([])
  expect(findProviderNames("if (id === 'mistral') run()", inDialect)).toHaveLength(1)
})

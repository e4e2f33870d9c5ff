/**
 * The operator's configuration file: a schema per section. The file never contains a key, but names
 * variables and files with keys.
 */
import { z } from 'zod'
import { UNPRICED_RULES } from '../core/budget.ts'
import { MAX_LIMIT_USD } from '../core/money.ts'
import { BUILT_IN_PLANS } from '../core/plan.ts'
import { LOG_LEVELS } from './log-levels.ts'
import { unpricedPriceSection } from './models-section.ts'
import type { FieldNotes } from './problems.ts'
import { text } from './text.ts'

/** Far above a year of the busiest account, and still an exact number. */
const MAX_LIMIT = 1_000_000_000_000
const BUILT_IN = Object.keys(BUILT_IN_PLANS)

const limit = z.int().min(0).max(MAX_LIMIT).nullable()

const planName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error:
    'must be 1 to 64 letters, digits, dots, hyphens or underscores, the first a letter or digit',
})

const planLimits = z
  .strictObject({
    requestsPerMinute: limit.meta({
      description: 'Calls per minute of one key; null: no limit.',
    }),
    tokensPerMinute: limit.meta({ description: 'Input and output tokens per minute of one key.' }),
    concurrentCalls: limit.meta({ description: 'Concurrent calls of one key.' }),
    accountRequestsPerMinute: limit.meta({
      description: 'Calls per minute of all keys of the account together.',
    }),
    accountConcurrentCalls: limit.meta({
      description: 'Concurrent calls of all keys of the account together.',
    }),
    monthlyTokens: limit.meta({ description: 'Tokens of the account in a calendar month (UTC).' }),
    monthlySpendUsd: z.number().min(0).max(MAX_LIMIT_USD).nullable().meta({
      description: 'The most that the account may cost in a calendar month (UTC), in US dollars.',
    }),
    unpriced: z.enum(UNPRICED_RULES).meta({
      description:
        'The rule of monthlySpendUsd for targets without a known price. estimate: their calls count ' +
        'at unpricedPrice; refuse: they are not called; allow: their calls do not count. ' +
        'estimate is the default of free, pro and unlimited, refuse that of other plans.',
    }),
  })
  .partial()

/** Parses to a `PlansSection` of core/plan.ts; absent members keep their built-in values. */
export const plansSection = z
  .strictObject({
    default: planName
      .optional()
      .meta({ description: 'The plan of every account that is not named.' }),
    accounts: z.record(z.string(), planName).optional().meta({ description: 'Account id → plan.' }),
    definitions: z
      .record(planName, planLimits)
      .optional()
      .meta({ description: 'Further plans, and changes to free, pro and unlimited.' }),
  })
  .superRefine((section, context) => {
    const known = new Set([...BUILT_IN, ...Object.keys(section.definitions ?? {})])
    const message = `is not a plan; there are ${[...known].join(', ')}`
    if (section.default !== undefined && !known.has(section.default))
      context.addIssue({ code: 'custom', path: ['default'], message })
    for (const [accountId, name] of Object.entries(section.accounts ?? {}))
      if (!known.has(name))
        context.addIssue({ code: 'custom', path: ['accounts', accountId], message })
  })

const MAX_PROVIDERS = 100
const MAX_HEADERS = 20
const MAX_PRICED_MODELS = 1_000
const MAX_USD_PER_MILLION = 1_000_000
const MAX_USD_PER_THOUSAND = 100_000

const providerId = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, {
    error: 'must be 1 to 32 small letters, digits or hyphens, the first a letter',
  })
  .refine((id) => !/^gatehouse(?:-|$)/.test(id), {
    error: "must not begin with gatehouse: its variables would be the gateway's own",
  })
  .refine((id) => id !== 'owned', { error: 'must not be owned: targets name owned models by it' })

const baseUrl = z.string().refine(isBaseUrl, {
  error: 'must be an http or https address without credentials, query or fragment',
})

function isBaseUrl(address: string): boolean {
  const url = URL.parse(address)
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    !/[?#\s]/.test(address)
  )
}

const apiKeyVariable = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,63}$/, {
    error:
      'must be the name of a variable, such as ACME_API_KEY: the key itself is that ' +
      "variable's value",
  })
  .refine((name) => !name.startsWith('GATEHOUSE_'), {
    error: "must not be one of the gateway's own variables",
  })

const chatPath = z.string().regex(/^(?:\/[\w.~:@!$&'()*+,;=%-]+)+$/, {
  error: 'must be a path that begins with a slash, such as /chat/completions',
})

/**
 * Credentials have their own variable, and the connection or the gateway sets the other headers.
 */
const CREDENTIAL_HEADER =
  /(?:^|[-_])(?:authorization|auth|cookie2?|key|apikey|token|secret|credentials?|password|signature)(?:$|[-_])/
const OWN_HEADER =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept-encoding|proxy-.*|x-gatehouse-.*)$/

const headerName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, { error: 'must be the name of a header, in small letters' })
  .refine((name) => !CREDENTIAL_HEADER.test(name), {
    error:
      'must not carry a credential: keys are never in this file, but in the ' +
      'variable of apiKeyVariable',
  })
  .refine((name) => !OWN_HEADER.test(name), {
    error: 'is a header that the gateway itself decides',
  })

const headerValue = z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/, {
  error: 'must be 1 to 1024 printable ASCII characters',
})

const headers = z.record(z.string(), headerValue).check((context) => {
  const names = Object.keys(context.value)
  if (names.length > MAX_HEADERS)
    context.issues.push({
      code: 'custom',
      message: `must have at most ${MAX_HEADERS} members`,
      input: context.value,
    })
  for (const name of names) {
    const message = headerName.safeParse(name).error?.issues[0]?.message
    if (message !== undefined)
      context.issues.push({ code: 'custom', message, path: [name], input: context.value })
  }
})

const dialect = z.enum(['openai-chat', 'openai-responses', 'openai-embeddings'])

const usdPerMillion = z.number().min(0).max(MAX_USD_PER_MILLION)

const modelPrices = z.strictObject({
  input: usdPerMillion,
  output: usdPerMillion,
  cachedInput: usdPerMillion.optional(),
})

const usdPerThousand = z.number().min(0).max(MAX_USD_PER_THOUSAND)

const toolFees = z.strictObject({
  webSearch: usdPerThousand.optional(),
  fileSearch: usdPerThousand.optional(),
  codeInterpreter: usdPerThousand.optional(),
  imageGeneration: usdPerThousand.optional(),
  otherTool: usdPerThousand.optional(),
})

const prices = z
  .record(z.string().min(1).max(200), modelPrices)
  .refine((declared) => Object.keys(declared).length <= MAX_PRICED_MODELS, {
    error: `must have at most ${MAX_PRICED_MODELS} members`,
  })

const configuredProvider = z.strictObject({
  id: providerId,
  name: text({ min: 1, max: 120 }),
  baseUrl,
  apiKeyVariable: apiKeyVariable.optional(),
  /** Relative to the folder of the configuration file. Excludes `apiKeyVariable`. */
  apiKeyFile: z.string().min(1).max(1_000).optional(),
  dialects: z
    .array(dialect)
    .min(1)
    .refine((list) => new Set(list).size === list.length, {
      error: 'must not hold a dialect twice',
    })
    .default(['openai-chat']),
  chatPath: chatPath.default('/chat/completions'),
  headers: headers.optional(),
  countsStreamsOnRequest: z.boolean().default(true),
  prices: prices.optional(),
  toolFees: toolFees.optional(),
})

const providers = z
  .array(configuredProvider)
  .max(MAX_PROVIDERS)
  .check((context) => {
    const seen = new Set<string>()
    for (const [index, { id }] of context.value.entries()) {
      if (seen.has(id))
        context.issues.push({
          code: 'custom',
          message: 'must be another than that of the providers before it',
          path: [index, 'id'],
          input: context.value,
        })
      seen.add(id)
    }
  })

export const configuration = z.strictObject({
  providers: providers.default([]),
  plans: plansSection.optional(),
  /** Checked entry by entry (`modelEntry`), because the file may have thousands of entries. */
  models: z.unknown().optional(),
  unpricedPrice: unpricedPriceSection.optional(),
  logLevel: z.enum(LOG_LEVELS).optional(),
})

const KEY_ELSEWHERE =
  'must not be here: keys are never in this file, but in the environment, under the name ' +
  'given as apiKeyVariable, or in the file given as apiKeyFile'

export const configurationNotes: FieldNotes = {
  'providers[].apiKey': KEY_ELSEWHERE,
  'providers[].key': KEY_ELSEWHERE,
  'providers[].api_key': KEY_ELSEWHERE,
}

export type ConfiguredProvider = z.infer<typeof configuredProvider>

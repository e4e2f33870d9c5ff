import { z } from 'zod'
import { ADAPT_MODES, MAX_ALIASES, OVERRIDES, REASONING_EFFORTS, STRATEGIES } from '../core/gate.ts'
import { FACT_SOURCES } from '../core/gate-facts.ts'
import { fuse, fuseAnswer } from './fuses.ts'
import { listOf } from './lists.ts'
import { modelFacts } from './model-facts.ts'
import type { ResourceDescription } from './resource-description.ts'
import { label, text } from './text.ts'

const MAX_INSTRUCTIONS = 100_000

const members = {
  instructions: text({ min: 1, max: MAX_INSTRUCTIONS })
    .optional()
    .meta({ description: "Put before the caller's own instructions, whatever `overrides` says." }),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  maxOutputTokens: z.int().min(1).optional(),
  reasoningEffort: z.enum(REASONING_EFFORTS).optional().meta({
    description:
      'Omitted and named in `x-gatehouse-ignored` for a model without configurable reasoning.',
  }),
}

const defaultsDescription =
  'Defaults for every request through the gate, translated to the format of each provider. A ' +
  'change replaces all of them.'

export const defaults = z.strictObject(members).meta({ description: defaultsDescription })
export const defaultsBody = z.object(members).meta({ description: defaultsDescription })

export const overrides = z.enum(OVERRIDES).meta({
  description:
    'The rule for requests that contradict the gate: a `model` beside `gate_id`, or a parameter ' +
    'that has a default. `ignore`: the gate’s value applies, and `x-gatehouse-ignored` names the ' +
    'ignored members. `reject`: 400. `allow`: the caller’s value applies; a `model` of the form ' +
    '`provider/model` is asked first, then the targets.',
})

const GATE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const MAX_TARGETS = 20
const MAX_TIMEOUT_MS = 3_600_000
const MAX_RETRIES = 5
const MAX_WEIGHT = 1000
const DEFAULT_RETRIES = 0

const gateId = z
  .string()
  .regex(GATE_ID, {
    error:
      'must be 1 to 64 letters, digits, dots, hyphens or underscores, the first a letter or digit',
  })
  .meta({
    description: 'The id of the gate, which callers send as the model name. Cannot be changed.',
    example: 'demo',
  })

const model = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9._-]+\/[\x21-\x7e]+$/, {
    error: 'must be provider/model, such as "openai/gpt-5"',
  })
  .meta({ description: '`provider/model`.', example: 'sandbox/echo' })

const strategy = z.enum(STRATEGIES).meta({
  description:
    'The choice of the first target; the other targets follow when it fails. `fallback`: the order ' +
    'of the list. `weighted`: each target exactly in proportion to its weight. `fastest`: the ' +
    'target with the shortest recent time to the first byte.',
})
const hedgeAfterMs = z
  .int()
  .min(1)
  .max(MAX_TIMEOUT_MS)
  .nullable()
  .meta({
    description:
      'If the first byte is later than this, in milliseconds, the next target is asked as well. ' +
      'The target that answers first is used, and the other request is cancelled. Null: never.',
  })

/** No comma and no quotes, because names appear in lists, headers and CSV files. */
const ALIAS = /^(?!owned\/)[!#-&(-+\x2d-~]{1,200}$/

const aliasName = z
  .string()
  .regex(ALIAS, {
    error:
      'must be 1 to 200 printable ASCII characters without space, comma and quotes, and must not ' +
      "begin with 'owned/'",
  })
  .meta({ example: 'gpt-4.1' })
const isListed = z.boolean().meta({ description: 'Whether `GET /v1/models` lists the alias.' })

const aliases = z
  .array(
    z.union([aliasName, z.strictObject({ name: aliasName, isListed: isListed.default(true) })], {
      error: 'must be a name, or an object with name and isListed',
    }),
  )
  .max(MAX_ALIASES)
  .transform((given) =>
    given.map((one) => (typeof one === 'string' ? { name: one, isListed: true } : one)),
  )
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
    error: 'must not hold the same name twice',
  })
  .meta({
    description:
      'Other names by which calls find the gate, case-sensitive; no other gate of the account may ' +
      'have the same id or alias. `GET /v1/models` lists a plain string.',
    example: ['gpt-4.1', { name: 'qwen3:8b', isListed: false }],
  })
const isCatchAll = z.boolean().meta({
  description:
    'Answers calls that name no gate of the account; `x-gatehouse-ignored` then names the member ' +
    'with the unknown name. At most one gate of an account.',
})

const facts = modelFacts.meta({
  description:
    'Capabilities of the gate that clients see: context and output in tokens, modalities, efforts. ' +
    'A member replaces the known fact of the targets. A change replaces all members.',
})
const resolvedFact = <Value extends z.ZodType>(value: Value) =>
  z.object({ value, source: z.enum(FACT_SOURCES) }).optional()
const resolvedFacts = z
  .object({
    contextTokens: resolvedFact(z.int()),
    maxOutputTokens: resolvedFact(z.int()),
    inputModalities: resolvedFact(z.array(z.string()).readonly()),
    outputModalities: resolvedFact(z.array(z.string()).readonly()),
    reasoningEfforts: resolvedFact(z.array(z.string()).readonly()),
  })
  .meta({
    description:
      'Capabilities of the gate that clients see, each with its source: set on the `gate`, or ' +
      'common to all `targets`: the smallest number, the words of every target. Absent: not known.',
  })
const codexInstructions = text({ min: 1, max: MAX_INSTRUCTIONS })
  .nullable()
  .meta({
    description:
      "Puts the gate into Codex's list of models (`GET /v1/models?client_version=…`), with these " +
      "instructions in place of Codex's own prompt. null: not in that list.",
  })
const usageHeaders = z.boolean().meta({
  description:
    'Whole answers have the headers `x-gatehouse-cost-usd`, `x-gatehouse-input-tokens`, ' +
    '`x-gatehouse-output-tokens` and `x-gatehouse-cached-input-tokens`, as far as they are known.',
})
const budgetHeaders = z.boolean().meta({
  description:
    'Answers to keys have the header `x-gatehouse-budget` when a budget steered or refused the ' +
    'call: the id of the budget and its action. Access tokens always get the header.',
})
const adapt = z.enum(ADAPT_MODES).meta({
  description:
    "The handling of optional members that a target's model refuses. `off`: the request is sent " +
    'unchanged. `retry`: after the provider refuses a member, the request is sent once more without ' +
    'it, and the refusal is remembered for an hour. `on`: members that the model is known to refuse are ' +
    'left out at once, and a `reasoning_effort` that the model lacks becomes the nearest one. ' +
    '`x-gatehouse-ignored` names each; `x-gatehouse-strict` prevents it.',
})
const ignoreStore = z.boolean().meta({
  description:
    'Chat Completions with `store: true` go to the provider with `store: false`, and ' +
    '`x-gatehouse-ignored` names `store`. `POST /v1/responses` refuses `store: true` anyway.',
})

const displayName = label({ min: 1, max: 120 })
const description = text({ min: 0, max: 1000 })
const weight = z.int().min(0).max(MAX_WEIGHT).meta({
  description:
    'Share of the calls under `weighted`; 0: only when the other targets fail. 1 when absent.',
})
const condition = {
  budget: z.string().max(100).meta({
    description: 'The id of a budget of the account that can count calls of the gate.',
    example: 'bud_01a1fbc63aa470d6877cf556d6121edd',
  }),
  from: z
    .number()
    .refine((share) => share > 0 && share <= 1, {
      error: 'must be a share of the limit: more than 0 and at most 1, such as 0.8',
    })
    .meta({
      description: 'A share of the limit, used and reserved: more than 0 and at most 1.',
      example: 0.8,
      exclusiveMinimum: 0,
      maximum: 1,
    }),
}
const whenDescription =
  'The target is asked first from this share of the budget on, by calls that the budget counts.'
const targets = z
  .array(
    z.strictObject({
      model,
      weight: weight.optional(),
      when: z.strictObject(condition).optional().meta({ description: whenDescription }),
    }),
  )
  .min(1, { error: 'must name at least one target' })
  .max(MAX_TARGETS)
  .refine((list) => list.length === 0 || list.some((target) => target.weight !== 0), {
    error: 'must hold at least one target whose weight is not 0',
  })
  .meta({
    description:
      'Targets in the order in which they are tried, unless the strategy decides the order.',
  })
const timeoutMs = z.int().min(1).max(MAX_TIMEOUT_MS).nullable().meta({
  description: "The maximum duration of a call, in milliseconds; null: the server's own limit.",
})
const maxRetries = z
  .int()
  .min(0)
  .max(MAX_RETRIES)
  .meta({ description: 'How often a target is retried before the next target is tried.' })
const time = z.iso.datetime()

/** Open, like every answer: a later version may add members. */
const gateBody = z
  .object({
    id: gateId,
    displayName,
    description,
    targets: z.array(
      z.object({
        model,
        weight: weight.optional(),
        when: z.object(condition).optional().meta({ description: whenDescription }),
      }),
    ),
    strategy,
    hedgeAfterMs,
    defaults: defaultsBody,
    overrides,
    aliases: z.array(z.object({ name: aliasName, isListed })).max(MAX_ALIASES),
    isCatchAll,
    facts,
    resolvedFacts,
    codexInstructions,
    usageHeaders,
    budgetHeaders,
    fuse: fuseAnswer,
    adapt,
    ignoreStore,
    timeoutMs,
    maxRetries,
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Gate', description: 'A named routing target.' })

export const createGateBody = z
  .strictObject({
    id: gateId.optional().meta({ description: 'Generated when absent.' }),
    displayName: displayName
      .optional()
      .meta({ description: 'The name for people; the id of the gate when absent.' }),
    description: description.default(''),
    targets,
    strategy: strategy.default('fallback'),
    hedgeAfterMs: hedgeAfterMs.default(null),
    defaults: defaults.default({}),
    overrides: overrides.default('ignore'),
    aliases: aliases.default([]),
    isCatchAll: isCatchAll.default(false),
    facts: facts.default({}),
    codexInstructions: codexInstructions.default(null),
    usageHeaders: usageHeaders.default(false),
    budgetHeaders: budgetHeaders.default(false),
    fuse: fuse.default(null),
    adapt: adapt.default('retry'),
    ignoreStore: ignoreStore.default(false),
    timeoutMs: timeoutMs.default(null),
    maxRetries: maxRetries.default(DEFAULT_RETRIES),
  })
  .meta({ id: 'CreateGate' })

export const updateGateBody = z
  .strictObject({
    displayName,
    description,
    targets,
    strategy,
    hedgeAfterMs,
    defaults,
    overrides,
    aliases,
    isCatchAll,
    facts,
    codexInstructions,
    usageHeaders,
    budgetHeaders,
    fuse,
    adapt,
    ignoreStore,
    timeoutMs,
    maxRetries,
  })
  .partial()
  .meta({ id: 'UpdateGate', description: 'Only the given fields change.' })

const BY_GATEWAY = 'is set by the gateway'
const COMPUTED = 'is computed; set facts instead'

export const gateResource = {
  name: 'Gate',
  names: 'Gates',
  one: 'gate',
  many: 'gates',
  path: '/v1/gates',
  group: 'Gates',
  groupDescription: 'A gate is a named routing target: callers send its id as the model name.',
  operations: {
    list: 'List gates, newest first',
    create: 'Create a gate',
    show: 'Show a gate',
    update: 'Change a gate',
    delete: 'Delete a gate',
  },
  list: listOf(gateBody, 'GateList'),
  body: gateBody,
  create: createGateBody,
  update: updateGateBody,
  notes: {
    create: { createdAt: BY_GATEWAY, updatedAt: BY_GATEWAY, resolvedFacts: COMPUTED },
    update: {
      id: 'cannot be changed; create a new gate instead',
      createdAt: 'cannot be changed',
      updatedAt: 'cannot be changed',
      resolvedFacts: COMPUTED,
    },
  },
  examples: {
    id: 'assistant',
    isGiven: true,
    create: {
      'One target': { id: 'assistant', targets: [{ model: 'sandbox/echo' }] },
      'Shares, a fallback and defaults': {
        id: 'canary',
        displayName: 'Canary',
        targets: [
          { model: 'sandbox/echo', weight: 9 },
          { model: 'sandbox-gemini/echo', weight: 1 },
        ],
        strategy: 'weighted',
        defaults: { instructions: 'Be brief.', temperature: 0.2 },
        timeoutMs: 60000,
      },
    },
    update: {
      'Another target': { targets: [{ model: 'sandbox-gemini/echo' }], maxRetries: 1 },
      'A fuse': { fuse: { usd: 20, callsPerMinute: 60 } },
    },
  },
} satisfies ResourceDescription

import { z } from 'zod'
import { MODALITIES } from '../core/model-facts.ts'
import { KEY_PROBE_STATUSES } from '../core/provider-key.ts'
import { listOf, MAX_PAGE_SIZE, pageQuery } from './lists.ts'
import { modelPriceBody } from './model-prices.ts'
import type { FieldNotes } from './problems.ts'
import type { ResourceDescription } from './resource-description.ts'
import { modelHealth } from './target-health.ts'

const credential = z
  .enum(['own', 'platform'])
  .nullable()
  .meta({
    description:
      "The owner of the credential that the account's calls use: `own` (its active provider " +
      'key) or `platform`. Null: no credential is configured.',
  })

export const providerBody = z
  .object({
    id: z
      .string()
      .meta({ description: 'The part of a target before the slash.', example: 'sandbox' }),
    name: z.string(),
    docs: z.string().nullable().meta({
      description:
        "The address of the vendor's documentation; null: the operator defined the provider.",
    }),
    dialects: z
      .array(z.string())
      .meta({ description: 'The wire formats that the provider supports.' }),
    configured: z
      .boolean()
      .meta({ description: 'Whether the gateway has a credential for the provider.' }),
    credential,
    hasAddress: z.boolean().meta({
      description:
        'Whether the gateway has an address for the provider. Some providers need an address ' +
        'from the operator before they can be called.',
    }),
  })
  .meta({ id: 'Provider' })

export const providerList = listOf(providerBody, 'ProviderList')

export type ProviderBody = Omit<z.infer<typeof providerBody>, 'credential'>

export const providerModelsQuery = z.strictObject({
  provider: z
    .string({ error: 'must be given once' })
    .max(100)
    .optional()
    .meta({ description: 'Only the models of this provider.' }),
  search: z.string({ error: 'must be given once' }).max(200).optional().meta({
    description: 'Only models whose `provider/id` or name contains every word, in any letter case.',
  }),
  limit: pageQuery.shape.limit.unwrap().optional().meta({
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE_SIZE,
    description: 'Absent: all models in one page.',
  }),
  cursor: pageQuery.shape.cursor,
})

const price = (of: string) =>
  z
    .number()
    .nullable()
    .meta({
      description:
        `US dollars per million ${of} tokens, at the first tier where there are ` +
        'several; null: not known.',
    })

const modalities = z.array(z.enum(MODALITIES)).nullable().meta({ description: 'Null: not known.' })

export const providerModelBody = z
  .object({
    provider: z.string().meta({ example: 'sandbox' }),
    id: z.string().meta({
      description: 'The id of the model, which targets name as `provider/id`.',
      example: 'echo',
    }),
    name: z
      .string()
      .nullable()
      .meta({ description: 'The display name of the model; null: the same as the id.' }),
    contextTokens: z.int().nullable().meta({ description: 'Null: not known.' }),
    maxOutputTokens: z.int().nullable().meta({ description: 'Null: not known.' }),
    inputModalities: modalities,
    outputModalities: modalities,
    reasoningEfforts: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Empty: the model has no such setting. Null: not known.' }),
    inputUsdPerMillion: price('input'),
    cachedInputUsdPerMillion: price('cached input'),
    outputUsdPerMillion: price('output'),
    priceSource: z
      .string()
      .nullable()
      .meta({
        description:
          'The source of the price: the price package and its version, `overlay:` and the hash ' +
          "of the operator's entry, `configured` for `providers[].prices` of the configuration " +
          'file, or `free`. Null: the price is not known.',
        example: 'free',
      }),
    priceFrom: z.string().nullable().meta({
      description: "The date from which the operator's price applies. Null: no date is given.",
    }),
    isPriceEstimated: z.boolean().meta({
      description:
        'Whether costs are `estimated`: the price, or a part of it, is that of a similar model.',
    }),
    isAlias: z.boolean().meta({
      description:
        'Whether the provider may answer with different models under this name: one that ends ' +
        'with `latest`, or has no version.',
    }),
    retiresOn: z.iso
      .date()
      .nullable()
      .meta({
        description:
          'The date from which the provider no longer serves the model, as the operator declared ' +
          'it. Null: none is declared.',
        example: '2027-03-01',
      }),
    credential,
    health: modelHealth,
  })
  .meta({ id: 'ProviderModel' })

const requestRule = z
  .object({
    name: z.string().meta({ example: 'maxOutputTokens' }),
    value: z
      .union([
        z.boolean(),
        z.number(),
        z.array(z.string()),
        z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
      ])
      .meta({ description: 'True, or what the model accepts.', example: 16_384 }),
    source: z.string().nullable().meta({
      description: "The address that states the rule. Null: the operator's entry in `models`.",
    }),
    checked: z.string().nullable().meta({
      description: 'The month in which the source was read. Null: as for `source`.',
      example: '2026-11',
    }),
  })
  .meta({ id: 'RequestRule' })

export const providerModelDetails = providerModelBody
  .extend({
    rules: z.array(requestRule).meta({
      description:
        'What the model accepts of a request beyond the format. Translated requests are fitted to it.',
    }),
    storedPrice: modelPriceBody.nullable().meta({
      description:
        'The price that was stored by PUT. Null: none is stored. It applies while neither the ' +
        'configuration file nor the price table has a price of the model.',
    }),
  })
  .meta({ id: 'ProviderModelDetails' })

export const providerModelParameters = z.object({
  provider: z.string().meta({ description: 'The id of the provider.', example: 'sandbox' }),
  model: z.string().meta({
    description: "The model's name at the provider, percent-encoded.",
    example: 'echo',
  }),
})

export type RequestRuleBody = z.infer<typeof requestRule>
export type ProviderModelBody = z.infer<typeof providerModelBody>

export const providerModelList = listOf(providerModelBody, 'ProviderModelList').extend({
  maySetPrices: z.boolean().meta({
    description: 'Whether you may set prices: PUT /v1/provider-models/{provider}/{model}.',
  }),
})

/** Longer than any API key, because service accounts are documents. */
const MAX_KEY_LENGTH = 20_000

const active = z.boolean().meta({
  description:
    "Whether calls use the key. While false, calls use the platform's credential, if it has one.",
})

/** Open, like every answer: a later version may add members. */
const providerKeyBody = z
  .object({
    provider: z
      .string()
      .meta({ description: 'The part of a target before the slash.', example: 'sandbox' }),
    maskedKey: z.string().meta({
      description:
        'The first three and last four characters of the key; no characters of a short key or a document.',
      example: 'sk-…9f3c',
    }),
    active,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    lastUsedAt: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'The last use of the key; null: not used since it was set.' }),
  })
  .meta({ id: 'ProviderKey', description: "The account's own credential for a provider, masked." })

const probe = z
  .object({
    status: z.enum(KEY_PROBE_STATUSES).meta({
      description:
        '`unknown`: the provider could not be reached, or gave no usable answer. ' +
        '`not_probed`: the vendor documents no request that costs nothing and tests a key.',
    }),
    httpStatus: z.int().optional().meta({
      description: 'The HTTP status of the provider; absent if the provider did not answer.',
    }),
    detail: z.string().meta({ description: 'The result of the test, in the gateway’s words.' }),
  })
  .meta({ description: 'The result of a free request to the provider.' })

const warnings = z
  .array(z.object({ code: z.enum(['key_refused', 'probe_failed']), message: z.string() }))
  .meta({
    description:
      'The problems of the key; empty if the key was accepted or not tested. The key is saved in all cases.',
  })

export const savedProviderKeyBody = providerKeyBody.extend({ probe, warnings }).meta({
  id: 'SavedProviderKey',
  description: "The account's own credential for a provider, masked, and the result of its test.",
})

export type SavedProviderKeyBody = z.infer<typeof savedProviderKeyBody>

export const setProviderKeyBody = z
  .strictObject({
    key: z
      .string()
      .min(1)
      .max(MAX_KEY_LENGTH)
      .meta({
        description:
          'The key of the provider: an API key, `ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]`, or a ' +
          'service account as JSON text. No answer contains the key.',
        writeOnly: true,
      }),
    active: active.default(true),
  })
  .meta({ id: 'SetProviderKey' })

const updateProviderKeyBody = z.strictObject({ active }).meta({ id: 'UpdateProviderKey' })

export const setProviderKeyNotes: FieldNotes = {
  provider: 'is in the path',
  maskedKey: 'is made by the gateway',
  probe: 'is set by the gateway',
  warnings: 'is set by the gateway',
  createdAt: 'is set by the gateway',
  updatedAt: 'is set by the gateway',
  lastUsedAt: 'is set by the gateway',
}

export const providerKeyResource = {
  name: 'ProviderKey',
  names: 'ProviderKeys',
  one: 'key',
  many: 'keys',
  path: '/v1/provider-keys',
  parameter: {
    name: 'provider',
    schema: z
      .string()
      .meta({ description: 'A provider of `GET /v1/providers`.', example: 'sandbox' }),
  },
  group: 'Provider keys',
  operations: {
    list: {
      summary: "List the account's own provider keys, newest first",
      answers: 'A page of keys, masked.',
    },
    update: {
      summary: "Activate or deactivate the account's own key for a provider",
      takes: 'Whether calls use the key.',
      answers: 'The key, masked.',
    },
    delete: {
      summary: "Delete the account's own key for a provider",
      description: 'Calls that begin after the answer do not use the key.',
    },
  },
  list: listOf(providerKeyBody, 'ProviderKeyList'),
  body: providerKeyBody,
  update: updateProviderKeyBody,
  notes: { update: { key: 'cannot be changed here; replace it with PUT' } },
  examples: { id: 'sandbox', isGiven: true, update: { 'Not now': { active: false } } },
} satisfies ResourceDescription

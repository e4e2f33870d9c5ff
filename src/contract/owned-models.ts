/**
 * Owned models as the control plane reads and writes them (interface-spec, PATCH
 * /v1/owned-models/:slug).
 */
import { z } from 'zod'
import { OWNED_MODEL_DIALECTS } from '../core/dialects.ts'
import {
  CREDENTIAL_HEADERS,
  FIM_ENDPOINTS,
  FIM_TEMPLATE_NAMES,
  PROBE_STATUSES,
} from '../core/owned-model.ts'
import { listOf } from './lists.ts'
import type { FieldNotes } from './problems.ts'
import type { ResourceDescription } from './resource-description.ts'
import { label, text } from './text.ts'

const FORMS =
  '`fim-completions`: Mistral’s own. `infill`: llama.cpp’s `/infill`, beside ' +
  'the `/v1` of the address. `completions-suffix`: `/completions` with a ' +
  'suffix, as Ollama has it. `completions-template`: `/completions` with the ' +
  'model’s own tokens in the prompt, as vLLM needs it.'

const fimEndpoint = z.enum(['auto', ...FIM_ENDPOINTS]).meta({
  description:
    `How the server of a model of the dialect \`mistral-fim\` fills in the middle. \`auto\`: as ` +
    `the probe finds out. ${FORMS}`,
})

const foundFimEndpoint = z.enum(FIM_ENDPOINTS).optional().meta({
  description:
    'The form of fill-in-the-middle that the probe found, used if `fimEndpoint` is `auto`.',
})

const fimTemplate = z.enum(['auto', ...FIM_TEMPLATE_NAMES]).meta({
  description:
    'The family of models whose tokens `completions-template` writes. `auto`: by `upstreamModelId`, if the ' +
    'name identifies the family.',
})

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/
const MAX_PRICE = 10_000
/** Text that is valid in a header: printable ASCII without surrounding spaces. */
const HEADER_SAFE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

const slug = z
  .string()
  .regex(SLUG, {
    error: 'must be 1 to 63 small letters, digits or hyphens, the first a letter or digit',
  })
  .meta({
    description: 'The name of the model in gates: `owned/<slug>`. Cannot be changed.',
    example: 'house-llama',
  })
const displayName = label({ min: 1, max: 120 }).meta({ example: 'Llama in the basement' })
const dialect = z
  .enum(OWNED_MODEL_DIALECTS)
  .meta({ description: 'The wire format of the model’s server. Cannot be changed.' })
const baseUrl = z
  .string()
  .min(1)
  .max(500)
  .meta({
    description:
      'The address of the server, as an SDK of the dialect takes it: `/chat/completions`, ' +
      '`/responses`, `/fim/completions` (or the server’s form of it), `/embeddings` or ' +
      '`/v1/messages` is appended. http and addresses inside a network are allowed only if the ' +
      'operator trusts the host. Cannot be changed.',
    example: 'https://models.example.com/v1',
  })
const upstreamModelId = text({ min: 1, max: 200 }).meta({
  description: "The model's name at its server.",
  example: 'llama3.3:70b',
})
const credentialHeader = z.enum(CREDENTIAL_HEADERS).meta({
  description:
    'The header in which the server takes the credential: `authorization` (as `Bearer …`) or ' +
    '`x-api-key`. `auto`: the header that the SDKs of the dialect use; for ' +
    '`anthropic-messages`, whose servers differ, the header that the probe found.',
})
const credential = z
  .string()
  .min(1)
  .max(500)
  .regex(HEADER_SAFE, {
    error:
      'must hold only printable ASCII characters, and no space at either end: ' +
      'it is sent in a header',
  })
  .meta({ description: 'Never returned.', writeOnly: true, format: 'password' })
const price = (of: string) =>
  z
    .int()
    .min(0)
    .max(MAX_PRICE)
    .meta({ description: `Price of ${of}, in whole US cents per million tokens.`, example: 25 })
const pricingInput = price('input tokens')
const pricingOutput = price('output tokens')
const pricingCachedInput = price('input tokens that the server had cached')
const time = z.iso.datetime()

const found = z
  .object({
    credentialHeader: z
      .enum(['authorization', 'x-api-key'])
      .optional()
      .meta({ description: 'The header in which the server takes the credential.' }),
    embeddings: z
      .boolean()
      .optional()
      .meta({ description: 'Whether the server of a chat model also serves `/v1/embeddings`.' }),
    countTokens: z.boolean().optional().meta({
      description: 'Whether the server counts tokens for `/v1/messages/count_tokens`.',
    }),
    fimEndpoint: foundFimEndpoint,
  })
  .meta({
    description:
      'The abilities of the server that the probe found. A member is absent if the probe did not ask, or the ' +
      'answer did not show the ability.',
  })

const probe = z
  .object({
    status: z.enum(PROBE_STATUSES).meta({
      description:
        '`checking`: the probe is running. `loading`: the server says that it is loading the model. ' +
        '`unknown`: the probe was interrupted.',
    }),
    checkedAt: time,
    latencyMs: z.int().min(0),
    httpStatus: z
      .int()
      .optional()
      .meta({ description: 'The HTTP status of the server; absent if the server did not answer.' }),
    detail: z
      .string()
      .optional()
      .meta({ description: 'The reason of a failed probe, in the gateway’s words.' }),
    found: found.optional(),
  })
  .nullable()
  .meta({
    description:
      'The result of the last test request to the model; null: no test request was sent yet.',
  })

/** Open, like every answer: a later version may add members. */
const ownedModelBody = z
  .object({
    slug,
    displayName,
    dialect,
    baseUrl,
    upstreamModelId,
    credentialHeader,
    fimEndpoint,
    fimTemplate,
    pricingInput,
    pricingOutput,
    pricingCachedInput,
    probe,
    credentialSetAt: time.nullable().meta({
      description:
        'When the credential was last set; null: the model has no credential. The credential is never shown.',
    }),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'OwnedModel', description: 'A model that the customer hosts or pays for.' })

const warnings = z.array(z.object({ code: z.literal('probe_failed'), message: z.string() })).meta({
  description:
    'The problems that the probe found; empty if it found none. The change is saved in both cases.',
})

/** The answer to a change. `warnings` is absent unless the change caused a probe. */
const savedOwnedModelBody = ownedModelBody.extend({ warnings: warnings.optional() }).meta({
  id: 'SavedOwnedModel',
  description: 'An owned model and the problems found.',
})

export const createOwnedModelBody = z
  .strictObject({
    slug,
    displayName: displayName
      .optional()
      .meta({ description: 'The name for people; the slug when absent.' }),
    dialect,
    baseUrl,
    upstreamModelId,
    credential: credential.optional().meta({
      description:
        'The credential of the server; never returned. When absent, calls send no credential.',
      writeOnly: true,
      format: 'password',
    }),
    credentialHeader: credentialHeader.default('auto'),
    fimEndpoint: fimEndpoint.default('auto'),
    fimTemplate: fimTemplate.default('auto'),
    pricingInput: pricingInput.default(0),
    pricingOutput: pricingOutput.default(0),
    pricingCachedInput: pricingCachedInput.optional().meta({
      description: 'Price of cached input tokens; `pricingInput` when absent.',
    }),
  })
  .meta({ id: 'CreateOwnedModel' })

export const updateOwnedModelBody = z
  .strictObject({
    displayName,
    upstreamModelId,
    credential,
    credentialHeader,
    fimEndpoint,
    fimTemplate,
    pricingInput,
    pricingOutput,
    pricingCachedInput,
  })
  .partial()
  .meta({ id: 'UpdateOwnedModel', description: 'Only the given fields change.' })

const setByGateway = 'is set by the gateway'
const createNotes: FieldNotes = {
  probe: setByGateway,
  credentialSetAt: setByGateway,
  createdAt: setByGateway,
  updatedAt: setByGateway,
}
const updateNotes: FieldNotes = {
  slug: 'cannot be changed; to rename, register a new model',
  baseUrl: 'cannot be changed, because the credential belongs to it; register a new model',
  dialect: 'cannot be changed; register a new model',
  probe: setByGateway,
  credentialSetAt: setByGateway,
  createdAt: 'cannot be changed',
  updatedAt: 'cannot be changed',
}

export const ownedModelResource = {
  name: 'OwnedModel',
  names: 'OwnedModels',
  one: 'model',
  many: 'owned models',
  path: '/v1/owned-models',
  parameter: { name: 'slug', schema: z.string() },
  group: 'Owned models',
  operations: {
    list: 'List owned models, newest first',
    create: {
      summary: 'Register an owned model',
      description:
        'The gateway asks the model for one token, and saves the model whether or not it answers. If ' +
        'the test takes longer than a few seconds, its status is `checking`; the model shows the ' +
        'result later.',
      answers: 'The model and the result of the probe.',
    },
    show: 'Show an owned model',
    update: {
      summary: 'Change an owned model',
      description:
        'A new credential replaces the stored one. A change of credential, upstreamModelId, ' +
        'credentialHeader, fimEndpoint or fimTemplate is tested at once, and saved whether or not ' +
        'the model answers.',
      answers: 'The changed model and its state.',
    },
    delete: {
      summary: 'Delete an owned model that no gate uses',
      answers: 'The model and its credential were deleted.',
      refusals: [409],
    },
  },
  list: listOf(ownedModelBody, 'OwnedModelList'),
  body: ownedModelBody,
  create: createOwnedModelBody,
  created: savedOwnedModelBody,
  update: updateOwnedModelBody,
  updated: savedOwnedModelBody,
  notes: { create: createNotes, update: updateNotes },
  examples: {
    id: 'house-model',
    isGiven: true,
    create: {
      'A server of your own': {
        slug: 'house-model',
        displayName: 'House model',
        dialect: 'openai-chat',
        baseUrl: 'https://models.example.com/v1',
        upstreamModelId: 'house-7b',
        credential: 'credential-of-the-house-model',
        pricingInput: 50,
        pricingOutput: 150,
      },
      'One that takes no credential and costs nothing': {
        slug: 'bare-model',
        dialect: 'openai-chat',
        baseUrl: 'https://models.example.com/v1',
        upstreamModelId: 'bare-7b',
      },
    },
    update: { 'Another price': { pricingInput: 40 } },
  },
} satisfies ResourceDescription

export type OwnedModelBody = z.infer<typeof ownedModelBody>
export type SavedOwnedModelBody = z.infer<typeof savedOwnedModelBody>

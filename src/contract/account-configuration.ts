/**
 * The part of an account that a file under version control can contain: a section per resource,
 * each entry as the control plane accepts it at creation, without secrets.
 */
import { z } from 'zod'
import { updateAttributionBody } from './attribution.ts'
import { createBudgetBody, updateBudgetBody } from './budgets.ts'
import { createGateBody, updateGateBody } from './gates.ts'
import { createKeyBody, updateKeyBody } from './keys.ts'
import { createOwnedModelBody, updateOwnedModelBody } from './owned-models.ts'
import { PLAIN_PLACES, type PlainPlace, type PlainResource } from './plain-resources.ts'
import { describePlain, type PlainDescription } from './plain-schemas.ts'
import type { FieldNotes } from './problems.ts'
import { createWebhookBody, updateWebhookBody } from './webhooks.ts'

export const CONFIGURATION_VERSION = 1

const MAX_ENTRIES = 10_000

const ownedModel = createOwnedModelBody.omit({ credential: true })
const gate = createGateBody.extend({ id: createGateBody.shape.id.unwrap() })
/** Keys and members have other ids on every gateway, so their budgets would only fit one gateway. */
const budget = createBudgetBody.superRefine((entry, context) => {
  for (const member of ['keyId', 'member'] as const)
    if (entry[member] !== undefined)
      context.addIssue({
        code: 'custom',
        path: [member],
        message: 'must not be here: budgets of keys and members are not kept in a file',
      })
})
const webhook = createWebhookBody.omit({ secret: true })
/** The fixed users and tags of existing keys. A file creates no key, because each is shown once. */
const key = createKeyBody.pick({ name: true, user: true, tags: true })
const accessToken = key.omit({ user: true })

const section = <Entry extends z.ZodType>(entry: Entry) =>
  z.array(entry).max(MAX_ENTRIES).optional()

const plainSections = PLAIN_PLACES.map(
  ([, resource]) => [resource, describePlain(resource)] as const,
)

export function ofPlainSections<Part>(
  toPart: (
    resource: PlainResource & { readonly place: PlainPlace },
    description: PlainDescription,
  ) => Part,
): Readonly<Record<PlainPlace, Part>> {
  const parts = plainSections.map(([resource, description]) => [
    resource.place,
    toPart(resource, description),
  ])
  return Object.fromEntries(parts)
}

export const accountConfiguration = z.strictObject({
  version: z.literal(CONFIGURATION_VERSION, {
    error: `must be ${CONFIGURATION_VERSION}, the only version of this format that there is`,
  }),
  ownedModels: section(ownedModel),
  gates: section(gate),
  budgets: section(budget),
  webhooks: section(webhook),
  attribution: updateAttributionBody.optional(),
  keys: section(key),
  accessTokens: section(accessToken),
  ...ofPlainSections((_, { create }) => section(create)),
})

export type ConfigurationSection =
  | Exclude<keyof z.infer<typeof accountConfiguration>, 'version'>
  | PlainPlace

export const configurationEntries = {
  ownedModels: {
    schema: ownedModel,
    members: ownedModel.shape,
    changeable: Object.keys(updateOwnedModelBody.shape),
  },
  gates: { schema: gate, members: gate.shape, changeable: Object.keys(updateGateBody.shape) },
  budgets: {
    schema: budget,
    members: createBudgetBody.shape,
    changeable: Object.keys(updateBudgetBody.shape),
  },
  webhooks: {
    schema: webhook,
    members: webhook.shape,
    changeable: Object.keys(updateWebhookBody.shape),
  },
  attribution: {
    schema: updateAttributionBody,
    members: updateAttributionBody.shape,
    changeable: Object.keys(updateAttributionBody.shape),
  },
  keys: { schema: key, members: key.shape, changeable: Object.keys(updateKeyBody.shape) },
  accessTokens: { schema: accessToken, members: accessToken.shape, changeable: ['tags'] },
  ...ofPlainSections((_, { create, update }) => ({
    schema: create,
    members: create.shape,
    changeable: Object.keys(update.shape),
  })),
} as const

const BY_GATEWAY = 'is set by the gateway'

export const accountConfigurationNotes: FieldNotes = {
  'ownedModels[].credential':
    'must not be here: no secret is kept in this file. Take it out, change it where it came ' +
    'from, and set the new one with: gatehouse owned-models update SLUG --credential',
  'webhooks[].secret':
    'must not be here: no secret is kept in this file. Take it out, and set a new one with: ' +
    'gatehouse webhooks update ID --secret',
  'ownedModels[].credentialSetAt': BY_GATEWAY,
  'ownedModels[].createdAt': BY_GATEWAY,
  'ownedModels[].updatedAt': BY_GATEWAY,
  'gates[].createdAt': BY_GATEWAY,
  'gates[].resolvedFacts': BY_GATEWAY,
  'gates[].updatedAt': BY_GATEWAY,
  'budgets[].id': BY_GATEWAY,
  'webhooks[].id': BY_GATEWAY,
  ...Object.fromEntries(
    plainSections.flatMap(([{ place }, { notes }]) =>
      Object.entries(notes?.create ?? {}).map(([member, note]) => [`${place}[].${member}`, note]),
    ),
  ),
}

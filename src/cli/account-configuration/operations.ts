/**
 * By which operations of the interface each section of the configuration file is read and changed.
 * Knows no file.
 */
import type { ConfigurationSection } from '../../contract/account-configuration.ts'
import type { Schemas } from '../../contract/api.generated.ts'
import type { OperationName } from '../../contract/api-call.ts'
import type { Client, JsonObject, Listing } from '../client.ts'

/** What the command line reports of a creation or a change. */
export type Saved = Partial<
  Pick<Schemas['Webhook'], 'id'> & Pick<Schemas['SavedOwnedModel'], 'warnings'>
>

/**
 * Bodies and rows are any section's here. Sending one claims its section's type: the contract's
 * schema, from which the interface's description is made, has parsed it.
 */
export interface Operations {
  readonly path: CollectionPath
  list(client: Client, limit: number): Promise<Listing<JsonObject>>
  /** @param credential of an owned model that has one */
  create(client: Client, body: JsonObject, credential: string | undefined): Promise<Saved>
  update(client: Client, handle: string, body: JsonObject): Promise<Saved>
  remove(client: Client, handle: string): Promise<void>
}

type CollectionPath<Name = OperationName> = Name extends `POST ${infer Path}` ? Path : never

export const OPERATIONS: Readonly<Record<ConfigurationSection, Operations>> = {
  ownedModels: {
    path: '/v1/owned-models',
    list: (client, limit) => client.listAll('GET /v1/owned-models', limit),
    create: (client, body, credential) =>
      client.call('POST /v1/owned-models', 'slug', {
        body: { ...(body as Omit<Schemas['CreateOwnedModel'], 'credential'>), credential },
      }),
    update: (client, slug, body) =>
      client.call('PATCH /v1/owned-models/{slug}', 'slug', {
        path: { slug },
        body: body as Schemas['UpdateOwnedModel'],
      }),
    remove: (client, slug) => client.remove('DELETE /v1/owned-models/{slug}', { path: { slug } }),
  },
  gates: {
    path: '/v1/gates',
    list: (client, limit) => client.listAll('GET /v1/gates', limit),
    create: (client, body) =>
      client.call('POST /v1/gates', 'id', { body: body as Schemas['CreateGate'] }),
    update: (client, id, body) =>
      client.call('PATCH /v1/gates/{id}', 'id', {
        path: { id },
        body: body as Schemas['UpdateGate'],
      }),
    remove: (client, id) => client.remove('DELETE /v1/gates/{id}', { path: { id } }),
  },
  budgets: {
    path: '/v1/budgets',
    list: (client, limit) => client.listAll('GET /v1/budgets', limit),
    create: (client, body) =>
      client.call('POST /v1/budgets', 'id', { body: body as Schemas['CreateBudget'] }),
    update: (client, id, body) =>
      client.call('PATCH /v1/budgets/{id}', 'id', {
        path: { id },
        body: body as Schemas['UpdateBudget'],
      }),
    remove: (client, id) => client.remove('DELETE /v1/budgets/{id}', { path: { id } }),
  },
  webhooks: {
    path: '/v1/webhooks',
    list: (client, limit) => client.listAll('GET /v1/webhooks', limit),
    create: (client, body) =>
      client.call('POST /v1/webhooks', 'id', { body: body as Schemas['CreateWebhook'] }),
    update: (client, id, body) =>
      client.call('PATCH /v1/webhooks/{id}', 'id', {
        path: { id },
        body: body as Schemas['UpdateWebhook'],
      }),
    remove: (client, id) => client.remove('DELETE /v1/webhooks/{id}', { path: { id } }),
  },
}

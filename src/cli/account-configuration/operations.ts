/**
 * By which operations of the interface each section of the configuration file is read and changed.
 * Knows no file.
 */
import { type ConfigurationSection, ofPlainSections } from '../../contract/account-configuration.ts'
import type { Schemas } from '../../contract/api.generated.ts'
import type { ListName, OperationName, RemovalName } from '../../contract/api-call.ts'
import type { Client, JsonObject, Listing } from '../client.ts'

/** The part of an answer to a creation or a change that the command line reports. */
export type Saved = Partial<
  Pick<Schemas['Webhook'], 'id'> & Pick<Schemas['SavedOwnedModel'], 'warnings'>
>

/** Bodies and rows are any section's here. */
export interface Operations {
  readonly path: CollectionPath
  list(client: Client, limit: number): Promise<Listing<JsonObject>>
  /** @param credential of an owned model that has one */
  create(client: Client, body: JsonObject, credential: string | undefined): Promise<Saved>
  /** One as it is now, with its version. @throws CliError `notFound` */
  read(
    client: Client,
    handle: string,
  ): Promise<{ readonly body: JsonObject; readonly version: string | undefined }>
  /** @throws CliError `conflict` when it is another version; undefined: whichever it is */
  update(
    client: Client,
    handle: string,
    change: { readonly body: JsonObject; readonly version: string | undefined },
  ): Promise<Saved>
  remove(client: Client, handle: string, version: string | undefined): Promise<void>
}

type CollectionPath<Name = OperationName> = Name extends `POST ${infer Path}` ? Path : never

export const OPERATIONS: Readonly<Record<ConfigurationSection, Operations>> = {
  ownedModels: operationsAt('/v1/owned-models', 'slug'),
  gates: operationsAt('/v1/gates'),
  budgets: operationsAt('/v1/budgets'),
  webhooks: operationsAt('/v1/webhooks'),
  ...ofPlainSections(({ path }) => operationsAt(path as CollectionPath)),
}

/**
 * A body claims its section's type: the contract's schema, the source of the interface's
 * description, has parsed it.
 */
function operationsAt(path: CollectionPath, parameter = 'id'): Operations {
  const one = `${path}/{${parameter}}`
  const named = (handle: string) => ({ [parameter]: handle })
  return {
    path,
    list: (client, limit) => client.listAll(`GET ${path}` as ListName, limit),
    create: (client, body, credential) =>
      client.callNamed(`POST ${path}`, parameter, { body: { ...body, credential } }),
    read: (client, handle) => client.readNamed(`GET ${one}`, parameter, { path: named(handle) }),
    update: (client, handle, { body, version }) =>
      client.callNamed(`PATCH ${one}`, parameter, { path: named(handle), body, version }),
    remove: (client, handle, version) =>
      client.removeNamed(`DELETE ${one}` as RemovalName, { path: named(handle), version }),
  }
}

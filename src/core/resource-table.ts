/**
 * The kinds of resources: audited actions, tables, followers and caps of each. The audit log, the
 * caps, the change feed and the dashboard's words are derived from this table.
 */

interface CapEntry {
  readonly name: string
  readonly of: string
  /**
   * Maximum number of resources: far above what people create, and small enough for the memory of
   * every node.
   */
  readonly most: number
  readonly variable: `GATEHOUSE_MAX_${string}`
  readonly table: string
}

/** For kinds that nodes hold in memory. */
interface FollowEntry {
  /**
   * True when the kind decides who may call or where a call goes, so a node that cannot read a
   * change must stop using old data.
   */
  readonly decidesCalls: boolean
}

export const RESOURCE_VERBS = ['create', 'update', 'delete'] as const
export type ResourceVerb = (typeof RESOURCE_VERBS)[number]

interface ResourceEntry {
  readonly label: string
  readonly actions: Readonly<Record<string, string>>
  /** Members of answers that are computed or shown once, so they do not belong to the version. */
  readonly unversioned?: readonly string[]
  readonly cap?: CapEntry
  readonly follow?: FollowEntry
}

/**
 * Keys are the words of the audit log and the change feed. The order is that of the API's lists of
 * actions.
 */
export const RESOURCE_TABLE = {
  gate: {
    label: 'Gates',
    unversioned: ['resolvedFacts'],
    actions: { create: 'Created a gate', update: 'Changed a gate', delete: 'Deleted a gate' },
    cap: {
      name: 'gates',
      of: 'gates',
      most: 2_000,
      variable: 'GATEHOUSE_MAX_GATES',
      table: 'gates',
    },
    follow: { decidesCalls: true },
  },
  key: {
    label: 'API keys',
    actions: {
      create: 'Created an API key',
      import: 'Imported an API key',
      update: 'Changed an API key',
      rotate: 'Rotated an API key',
      delete: 'Deleted an API key',
    },
    unversioned: ['lastUsedAt', 'key', 'stop'],
    cap: {
      name: 'keys',
      of: 'API keys',
      most: 5_000,
      variable: 'GATEHOUSE_MAX_KEYS',
      table: 'api_keys',
    },
    follow: { decidesCalls: true },
  },
  'provider-key': {
    label: 'Provider keys',
    actions: {
      create: 'Set a provider key',
      update: 'Changed a provider key',
      delete: 'Deleted a provider key',
    },
    unversioned: ['lastUsedAt', 'probe', 'warnings'],
    follow: { decidesCalls: true },
  },
  'owned-model': {
    label: 'Owned models',
    actions: {
      create: 'Registered an owned model',
      update: 'Changed an owned model',
      delete: 'Deleted an owned model',
    },
    unversioned: ['probe', 'warnings'],
    cap: {
      name: 'ownedModels',
      of: 'owned models',
      most: 500,
      variable: 'GATEHOUSE_MAX_OWNED_MODELS',
      table: 'owned_models',
    },
    follow: { decidesCalls: true },
  },
  'model-price': {
    label: 'Prices of models',
    actions: {
      create: 'Set the price of a model',
      update: 'Changed the price of a model',
      delete: 'Deleted the price of a model',
    },
    follow: { decidesCalls: false },
  },
  costs: { label: 'Costs', actions: { correct: 'Corrected the costs of a day' } },
  configuration: {
    label: 'Configuration file',
    actions: { reload: 'Reloaded the configuration file' },
  },
  'master-key': { label: 'Master key', actions: { rotate: 'Rotated the master key' } },
  account: {
    label: 'Account',
    actions: { update: 'Renamed the account' },
    unversioned: ['plan', 'limits', 'quota', 'retention'],
  },
  member: {
    label: 'Members',
    actions: {
      create: 'Joined the account',
      update: 'Transferred the account',
      delete: 'Removed a member',
    },
    unversioned: ['stop'],
    cap: {
      name: 'members',
      of: 'members',
      most: 1_000,
      variable: 'GATEHOUSE_MAX_MEMBERS',
      table: 'members',
    },
  },
  invitation: {
    label: 'Invitations',
    actions: { create: 'Invited a member', delete: 'Revoked an invitation' },
    unversioned: ['status', 'token', 'link'],
    // Only invitations that may still be accepted count.
    cap: {
      name: 'invitations',
      of: 'open invitations',
      most: 500,
      variable: 'GATEHOUSE_MAX_INVITATIONS',
      table: 'invitations',
    },
  },
  budget: {
    label: 'Budgets',
    actions: { create: 'Created a budget', update: 'Changed a budget', delete: 'Deleted a budget' },
    unversioned: ['used', 'reserved', 'isExhausted', 'resetsAt'],
    cap: {
      name: 'budgets',
      of: 'budgets',
      most: 500,
      variable: 'GATEHOUSE_MAX_BUDGETS',
      table: 'budgets',
    },
    follow: { decidesCalls: false },
  },
  webhook: {
    label: 'Webhooks',
    actions: {
      create: 'Created a webhook',
      update: 'Changed a webhook',
      delete: 'Deleted a webhook',
    },
    unversioned: ['secret'],
    cap: {
      name: 'webhooks',
      of: 'webhooks',
      most: 20,
      variable: 'GATEHOUSE_MAX_WEBHOOKS',
      table: 'webhooks',
    },
    follow: { decidesCalls: false },
  },
  tag: {
    label: 'Tags',
    actions: { create: 'Created a tag', update: 'Changed a tag', delete: 'Deleted a tag' },
    cap: { name: 'tags', of: 'tags', most: 500, variable: 'GATEHOUSE_MAX_TAGS', table: 'tags' },
    follow: { decidesCalls: false },
  },
  /** A stop has the id of the stopped member or access token. */
  stop: {
    label: 'Stops',
    actions: {
      create: 'Stopped a member or an access token',
      delete: 'Lifted the stop of a member or an access token',
    },
    follow: { decidesCalls: true },
  },
  /** The resource's id is the account's, and for an erasure the hash of the end user. */
  attribution: {
    label: 'Attribution',
    actions: {
      update: 'Changed the attribution settings',
      erase: 'Erased an end user',
      'replace-key': 'Erased all end users with a new hash key',
    },
    follow: { decidesCalls: false },
  },
  user: { label: 'Users', actions: { 'set-password': 'Set a password' } },
} as const satisfies Readonly<Record<string, ResourceEntry>>

type Table = typeof RESOURCE_TABLE

export type ResourceWord = keyof Table

export type AuditedAction = {
  [Word in ResourceWord]: `${Word}.${keyof Table[Word]['actions'] & string}`
}[ResourceWord]

export type FollowedResource = {
  [Word in ResourceWord]: Table[Word] extends { readonly follow: FollowEntry } ? Word : never
}[ResourceWord]

export type Cap = Extract<Table[ResourceWord], { readonly cap: CapEntry }>['cap']

export const RESOURCE_ENTRIES = Object.entries<ResourceEntry>(RESOURCE_TABLE)

export const CAPS: readonly Cap[] = Object.values(RESOURCE_TABLE).flatMap((entry) =>
  'cap' in entry ? [entry.cap] : [],
)

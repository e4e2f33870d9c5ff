/**
 * Makes changes on the server one after the other, and stops at the first that it refuses. Asks
 * nobody.
 */
import { isDeepStrictEqual } from 'node:util'
import { CliError } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { OPERATIONS, type Saved } from './operations.ts'
import type { Change } from './plan-changes.ts'
import { toEntry } from './read-server.ts'

export interface Applied {
  readonly change: Change
  readonly status: 'done' | 'failed' | 'not done'
}

export interface Outcome {
  readonly applied: readonly Applied[]
  /** Sentences for a person who has to do something now, or should know it. */
  readonly notes: readonly string[]
  /** Why it stopped. */
  readonly failure: unknown
}

/** @param credentials of the owned models that are created, by their slugs */
export async function applyChanges(
  client: Client,
  changes: readonly Change[],
  credentials: ReadonlyMap<string, string>,
): Promise<Outcome> {
  const applied: Applied[] = []
  const notes: string[] = []
  for (const [index, change] of changes.entries()) {
    try {
      const answer = await apply(client, change, credentials.get(change.name))
      applied.push({ change, status: 'done' })
      notes.push(...notesOf(change, answer, credentials))
    } catch (failure) {
      applied.push({ change, status: 'failed' })
      const rest = changes
        .slice(index + 1)
        .map((left): Applied => ({ change: left, status: 'not done' }))
      return { applied: [...applied, ...rest], notes, failure }
    }
  }
  return { applied, notes, failure: undefined }
}

async function apply(
  client: Client,
  change: Change,
  credential: string | undefined,
): Promise<Saved> {
  const { action, kind, body, handle = '' } = change
  const operations = OPERATIONS[kind.section]
  /** Of the thing as the change was planned on: a person may have taken their time to agree. */
  const versionOf = async () => {
    const now = await operations.read(client, handle)
    if (isDeepStrictEqual(toEntry(kind, now.body), change.before)) return now.version
    throw new CliError(
      'conflict',
      `Somebody else has changed the ${kind.label} ${change.name} meanwhile. Run it again.`,
    )
  }
  switch (action) {
    case 'create':
      return await operations.create(client, body, credential)
    case 'update':
      return await operations.update(client, handle, { body, version: await versionOf() })
    case 'delete':
      try {
        await operations.remove(client, handle, await versionOf())
      } catch (error) {
        // Somebody else may have been quicker, and it is gone either way.
        if (!(error instanceof CliError && error.failure === 'notFound')) throw error
      }
      return {}
  }
}

/**
 * A webhook's generated secret is never printed: where a push runs, everybody may read its output.
 */
function notesOf(
  { action, kind, name }: Change,
  { id, warnings = [] }: Saved,
  credentials: ReadonlyMap<string, string>,
): string[] {
  if (action === 'create' && kind.section === 'webhooks')
    return [
      `The webhook ${name} has a secret that nobody knows. Set one: gatehouse ` +
        `webhooks update ${id} --secret`,
    ]
  const isBare = action === 'create' && kind.section === 'ownedModels' && !credentials.has(name)
  const bare = isBare ? [`The ${kind.label} ${name} was created without a credential.`] : []
  const warned = warnings.map(({ message }) => `${kind.label} ${name}: ${message}`)
  return [...bare, ...warned]
}

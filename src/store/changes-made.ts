/** Whether a piece of work has changed anything that other nodes hold in memory. Must not know what, nor who the nodes are. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** What nodes hold in memory, as `resourceOf` an audited action names it. */
export const FOLLOWED_RESOURCES = [
  'key',
  'gate',
  'owned-model',
  'provider-key',
  'budget',
  'webhook',
] as const

export type FollowedResource = (typeof FOLLOWED_RESOURCES)[number]

export function isFollowed(resource: string): resource is FollowedResource {
  return FOLLOWED_RESOURCES.some((followed) => followed === resource)
}

const works = new AsyncLocalStorage<{ hasChanged: boolean }>()

/** @returns what `work` gave, and whether anything that others follow was changed within it, however deep inside */
export async function watchChanges<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly hasChanged: boolean }> {
  const seen = { hasChanged: false }
  const result = await works.run(seen, work)
  return { result, hasChanged: seen.hasChanged }
}

/** Also of a change that is rolled back after all: whoever asks then asks once too often. */
export function noteChangeOf(resource: string): void {
  const seen = works.getStore()
  if (seen !== undefined && isFollowed(resource)) seen.hasChanged = true
}

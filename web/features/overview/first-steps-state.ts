/**
 * How far a new account has come, read from what exists, and whether its reader wants to see it.
 */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RowOf } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'

const DISMISSED_AS = 'gatehouse-first-steps-dismissed'
/**
 * While the list is shown: often enough that a tick follows what was done in another window or
 * terminal.
 */
const EVERY_MS = 2_000

export interface FirstStepsState {
  /** Undefined while it is not known. */
  readonly hasCalled: boolean | undefined
  /** True where that could not be found out. */
  readonly isFailed: boolean
  /** True once each step is known to be done or not, or why that cannot be known. */
  readonly isKnown: boolean
  /** Besides the sandbox. */
  readonly hasProvider: boolean
  /** Names of usable providers: `Mistral, OpenAI`. */
  readonly providerNames: readonly string[]
  /** The gate that the snippet names: the user's, else the demo. */
  readonly gateId: string | undefined
  readonly hasGate: boolean
  readonly hasKey: boolean
  readonly firstCall:
    | { readonly id: string; readonly status: number; readonly durationMs: number }
    | undefined
}

/**
 * @param isWatching whether to ask again and again for what is not there yet; a hidden tab asks
 * nothing
 */
export function useFirstSteps(isWatching: boolean): FirstStepsState {
  const often = { refetchInterval: isWatching ? EVERY_MS : false, enabled: isWatching } as const
  const one = { query: { limit: 1 } }
  // The start makes at most one gate and one key.
  const two = { query: { limit: 2 } }
  const calls = useQuery({
    ...operationQuery('GET /v1/logs', one),
    refetchInterval: often.refetchInterval,
  })
  const own = useQuery({ ...operationQuery('GET /v1/provider-keys'), ...often })
  const providers = useQuery({ ...operationQuery('GET /v1/providers'), ...often })
  const gates = useQuery({ ...operationQuery('GET /v1/gates', two), ...often })
  const keys = useQuery({ ...operationQuery('GET /v1/keys', two), ...often })
  const active = own.data?.data.filter((key) => key.active).map((key) => key.provider) ?? []
  const usable =
    providers.data?.data.filter(
      (provider) =>
        !isMadeByStart.provider(provider) && (provider.configured || active.includes(provider.id)),
    ) ?? []
  const ownGate = gates.data?.data.find((gate) => !isMadeByStart.gate(gate))
  const [first] = calls.data?.data ?? []
  return {
    hasCalled: calls.data === undefined ? undefined : first !== undefined,
    isFailed: calls.isError,
    isKnown: [calls, own, providers, gates, keys].every((query) => !query.isPending),
    hasProvider: usable.length > 0,
    providerNames: usable.map(({ name }) => name),
    gateId: ownGate?.id ?? gates.data?.data[0]?.id,
    hasGate: ownGate !== undefined,
    hasKey: keys.data?.data.some((key) => !isMadeByStart.key(key)) === true,
    firstCall: first && { id: first.id, status: first.status, durationMs: first.durationMs },
  }
}

/** Stored in this browser, since it is the reader's choice. */
export function useDismissal(): readonly [
  isDismissed: boolean,
  dismiss: (isDismissed: boolean) => void,
] {
  const [isDismissed, setDismissed] = useState(() => localStorage.getItem(DISMISSED_AS) === 'yes')
  const dismiss = (next: boolean) => {
    if (next) localStorage.setItem(DISMISSED_AS, 'yes')
    else localStorage.removeItem(DISMISSED_AS)
    setDismissed(next)
  }
  return [isDismissed, dismiss]
}

// provider-name-ok: the sandbox is part of the gateway
const SANDBOX = 'sandbox'
const DEMO_GATE = 'demo'
const FIRST_KEY = 'first key'

type Gate = Pick<RowOf<'GET /v1/gates'>, 'id' | 'targets' | 'createdAt' | 'updatedAt'>
type Key = Pick<RowOf<'GET /v1/keys'>, 'name' | 'createdBy'>

/** Tells what the start of the gateway made from what the user made. Pure. */
export const isMadeByStart = {
  /** The built-in sandbox, or the vendors that it plays. */
  provider: ({ id }: Pick<RowOf<'GET /v1/providers'>, 'id'>): boolean =>
    id === SANDBOX || id.startsWith(`${SANDBOX}-`),
  /** The unchanged demo gate of the sandbox. */
  gate: ({ id, targets, createdAt, updatedAt }: Gate): boolean =>
    id === DEMO_GATE &&
    createdAt === updatedAt &&
    targets.every(({ model }) => model.startsWith(`${SANDBOX}/`)),
  /** The key that the first start printed. */
  key: ({ name, createdBy }: Key): boolean =>
    name === FIRST_KEY && (createdBy === null || createdBy === 'operator'),
}

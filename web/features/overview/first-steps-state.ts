/** A new account's progress, derived from its resources, and whether the reader wants to see it. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RowOf } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'

const DISMISSED_AS = 'gatehouse-first-steps-dismissed'
/**
 * Refresh interval while the list is shown, so that ticks follow actions in another window or
 * terminal.
 */
const EVERY_MS = 2_000

export interface FirstStepsState {
  /** Undefined while unknown. */
  readonly hasCalled: boolean | undefined
  /** True when it could not be determined. */
  readonly isFailed: boolean
  /** True once every step's state, or the reason of a failure, is known. */
  readonly isKnown: boolean
  /** Besides the sandbox. */
  readonly hasProvider: boolean
  /** Names of usable providers: `Mistral, OpenAI`. */
  readonly providerNames: readonly string[]
  /** The gate in the snippet: the user's, else the demo. */
  readonly gateId: string | undefined
  readonly hasGate: boolean
  readonly hasKey: boolean
  readonly firstCall:
    | { readonly id: string; readonly status: number; readonly durationMs: number }
    | undefined
}

/** @param isWatching whether to refresh missing steps; a hidden tab sends nothing */
export function useFirstSteps(isWatching: boolean): FirstStepsState {
  const often = { refetchInterval: isWatching ? EVERY_MS : false, enabled: isWatching } as const
  const one = { query: { limit: 1 } }
  // The start creates at most one gate and one key.
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

/** Distinguishes what the gateway's start created from what the user created. Pure. */
export const isMadeByStart = {
  /** The built-in sandbox, or the providers that it imitates. */
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

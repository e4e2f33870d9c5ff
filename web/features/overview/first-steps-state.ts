import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RowOf } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'

const DISMISSED_AS = 'gatehouse-first-steps-dismissed'
const EVERY_MS = 2_000

export interface FirstStepsState {
  readonly hasCalled: boolean | undefined
  readonly isFailed: boolean
  readonly isKnown: boolean
  /** Whether a provider besides the sandbox is usable. */
  readonly hasProvider: boolean
  readonly providerNames: readonly string[]
  /** The gate in the snippet: the user's gate, else the demo gate. */
  readonly gateId: string | undefined
  readonly hasGate: boolean
  readonly hasKey: boolean
  readonly firstCall:
    | { readonly id: string; readonly status: number; readonly durationMs: number }
    | undefined
}

export function useFirstSteps(isWatching: boolean): FirstStepsState {
  const often = { refetchInterval: isWatching ? EVERY_MS : false, enabled: isWatching } as const
  const one = { query: { limit: 1 } }
  // The start creates at most one gate and one key, so two rows tell whether the user created one.
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

/** Stored in this browser, since dismissal is the reader's choice. */
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

export const isMadeByStart = {
  provider: ({ id }: Pick<RowOf<'GET /v1/providers'>, 'id'>): boolean =>
    id === SANDBOX || id.startsWith(`${SANDBOX}-`),
  gate: ({ id, targets, createdAt, updatedAt }: Gate): boolean =>
    id === DEMO_GATE &&
    createdAt === updatedAt &&
    targets.every(({ model }) => model.startsWith(`${SANDBOX}/`)),
  key: ({ name, createdBy }: Key): boolean =>
    name === FIRST_KEY && (createdBy === null || createdBy === 'operator'),
}

/** The gates and addresses that an access token allows, and gates without overrides. */
import type { TokenRules } from '../core/access-token.ts'
import type { ApiKey } from '../core/api-key.ts'
import { GatewayError } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import type { Stop } from '../core/stop.ts'
import { type IpRange, isInRange, parseIpAddress, parseIpRange } from '../net/address-ranges.ts'
import type { Caller, GateStore, StopStore } from './ports.ts'

/** The stop of the token itself, or of the member whom it was made for. */
export function stopOfToken(
  stops: StopStore,
  { accountId, id, token }: Pick<ApiKey, 'accountId' | 'id' | 'token'>,
): Stop | undefined {
  const own = stops.find(accountId, id)
  if (own !== undefined || token?.owner?.type !== 'member') return own
  return stops.find(accountId, token.owner.id)
}

type Holder = Pick<Caller, 'accountId' | 'token'>

export function findGate(
  gates: Pick<GateStore, 'findNamed'>,
  caller: Holder,
  name: string,
): Gate | undefined {
  return asAllowed(gates.findNamed(caller.accountId, name), caller)
}

/**
 * The gate with the name, or the account's catch-all when no gate has the name. The catch-all never
 * replaces a gate that the token does not allow.
 */
export function findAnswering(
  gates: Pick<GateStore, 'findNamed' | 'findCatchAll'>,
  caller: Holder,
  name: string,
): Gate | undefined {
  const { accountId } = caller
  return asAllowed(gates.findNamed(accountId, name) ?? gates.findCatchAll(accountId), caller)
}

export function listGates(
  gates: Pick<GateStore, 'list'>,
  { accountId, token }: Holder,
): readonly Gate[] {
  const all = gates.list(accountId)
  return token === undefined ? all : all.filter((gate) => isAllowed(token, gate.id))
}

/** @param gates that the caller reaches */
export function describeReach({ token }: Pick<Caller, 'token'>, gates: readonly Gate[]): string {
  if (token === undefined) return 'in this account'
  return token.gates === null || gates.length > 0
    ? 'for this access token'
    : 'for this access token, because all of its gates were deleted'
}

function asAllowed(gate: Gate | undefined, { token }: Holder): Gate | undefined {
  return gate === undefined || token === undefined ? gate : gateOfToken(gate, token)
}

function gateOfToken(gate: Gate, token: TokenRules): Gate | undefined {
  if (!isAllowed(token, gate.id)) return undefined
  return token.overrides || gate.overrides !== 'allow' ? gate : withoutOverrides(gate)
}

function isAllowed({ gates }: TokenRules, gateId: string): boolean {
  return gates === null || gates.some((allowed) => allowed === gateId)
}

/** Compiled targets are cached per gate object, so each gate has a single copy here. */
const bound = new WeakMap<Gate, Gate>()

function withoutOverrides(gate: Gate): Gate {
  const known = bound.get(gate) ?? { ...gate, overrides: 'ignore' }
  bound.set(gate, known)
  return known
}

const parsed = new WeakMap<readonly string[], readonly IpRange[]>()

export function assertAddress(
  { ipRanges: texts }: TokenRules,
  addressOf: (() => string | undefined) | undefined,
): void {
  if (texts === null) return
  const address = addressOf?.()
  const ranges = parsed.get(texts) ?? texts.flatMap((text) => parseIpRange(text) ?? [])
  parsed.set(texts, ranges)
  const from = address === undefined ? undefined : parseIpAddress(address)
  if (from !== undefined && ranges.some((range) => isInRange(from, range))) return
  throw new GatewayError(
    'forbidden',
    `This access token may not be used from your address${address === undefined ? '' : ` (${address})`}.`,
    { code: 'address_not_allowed' },
  )
}

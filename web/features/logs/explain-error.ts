/**
 * The meaning and remedy of each kind of error. The compiler and a test ensure that every kind of
 * the contract is included.
 */
import { ERROR_KINDS, type ErrorKind } from '../../../src/contract/error-table.ts'
import { type Log, NO_GATE } from './log-filter.ts'

export interface ErrorExplanation {
  readonly means: string
  readonly cure: string
}

export const ERROR_EXPLANATIONS: Readonly<Record<ErrorKind, ErrorExplanation>> = {
  invalid_request: {
    means: 'The request is invalid, or no target of the gate supports it.',
    cure:
      'The answer names the field and the cure. Change the request; sending it ' +
      'again will not help.',
  },
  unauthorized: {
    means: 'The API key is missing, deleted or mistyped.',
    cure: 'Send a key of this account as “Authorization: Bearer sk-svc-…”.',
  },
  forbidden: {
    means:
      'The caller lacks the permission for this request, or was stopped by an administrator or ' +
      'a fuse.',
    cure:
      'The answer says which. Lift a stop on the page of the gate, of budgets, of members or of ' +
      'the token.',
  },
  gate_not_found: {
    means: 'The account has no gate with the id that was sent as the model.',
    cure: 'Compare the id with the list of gates; ids are case-sensitive.',
  },
  not_found: {
    means: 'There is nothing at the address, or the model is not known to the provider.',
    cure: 'Check the path, and the names of the gate’s targets.',
  },
  method_not_allowed: {
    means: 'The address does not accept this HTTP method.',
    cure: 'The header “allow” of the answer lists the accepted methods.',
  },
  request_timeout: {
    means: 'The body of the request did not arrive in time.',
    cure: 'Check the caller’s connection, and proxies in front of the gateway.',
  },
  conflict: {
    means: 'The resource exists already, or is still in use.',
    cure: 'Choose another name, or first remove the gates that use the resource.',
  },
  precondition_failed: {
    means: 'The resource was changed after the version in If-Match.',
    cure: 'Get the resource again, and send the change with its new ETag.',
  },
  payload_too_large: {
    means: 'The request is larger than the gateway accepts.',
    cure: 'Send less, or ask the operator to raise the limit.',
  },
  upgrade_not_supported: {
    means: 'The caller asked for a WebSocket, which this endpoint does not have.',
    cure: 'Use POST; streams come as server-sent events.',
  },
  rate_limited: {
    means: 'A limit on requests, tokens or concurrent calls was reached, here or at the provider.',
    cure: 'Wait as long as “retry-after” says, add a fallback target, or raise the limit.',
  },
  quota_exceeded: {
    means: 'The account’s monthly quota, or a budget of the key or the gate, is used up.',
    cure: 'Raise the budget or the plan, or wait for the next period.',
  },
  upstream_error: {
    means: 'The provider failed, refused the request, or did not complete its answer.',
    cure:
      'A 4xx is about the request: the provider’s words are in the answer. Otherwise try again, ' +
      'or add a fallback target.',
  },
  provider_auth_failed: {
    means:
      'The provider refused the credential, or has not been configured. The ' +
      'caller’s API key is fine.',
    cure:
      'Renew the provider key, or the owned model’s credential; the operator’s ' +
      'own is in the environment.',
  },
  upstream_timeout: {
    means: 'The provider was silent for longer than the deadline allows.',
    cure: 'Raise the gate’s timeout, stream the answer, or add a faster fallback target.',
  },
  unavailable: {
    means:
      'The gateway could not accept the call: it was shutting down, or could not write its ledger.',
    cure: 'Try again. If the error continues, check the free disk space and /readyz.',
  },
  internal_error: {
    means: 'The gateway itself failed.',
    cure: 'Report the failure with the call’s id; the server’s log has the cause.',
  },
}

export const CANCELLED: ErrorExplanation = {
  means:
    'The caller left before the answer was complete, and the gateway cancelled the request to the provider.',
  cure:
    'Nothing is wrong here. If callers leave often, compare their timeouts with ' +
    'the durations in this log.',
}

/** A failure without a kind, or of a kind that only a newer gateway knows. */
const OTHER: ErrorExplanation = {
  means: 'The call failed.',
  cure: 'The attempts below and the server’s log have the details.',
}

export function explainError(
  outcome: string,
  errorKind: string | null,
): ErrorExplanation | undefined {
  const kind = ERROR_KINDS.find((known) => known === errorKind)
  if (kind !== undefined) return ERROR_EXPLANATIONS[kind]
  if (outcome === 'cancelled') return CANCELLED
  return outcome === 'failed' || errorKind !== null ? OTHER : undefined
}

export function nameError(errorKind: string): string {
  return errorKind.replaceAll('_', ' ')
}

/** The ledger's markers for an id that was not stored. */
const NOT_KEPT: Readonly<Record<string, string>> = {
  '(looks like a key)': 'something that looks like an API key, which was not kept',
  '(not a name)': 'something that is no name, which was not kept',
}

interface SentGate {
  readonly id: string | undefined
  readonly words: string
}

export function readSentGate({ gateId, sentGateId }: Log): SentGate | undefined {
  // An earlier version of the gateway does not report the id.
  if (gateId !== NO_GATE || typeof sentGateId !== 'string') return undefined
  const words = NOT_KEPT[sentGateId]
  if (words !== undefined) return { id: undefined, words }
  return { id: sentGateId, words: `“${sentGateId}”` }
}

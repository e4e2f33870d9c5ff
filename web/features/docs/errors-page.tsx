/** The error reference: appearance, meaning and remedy of each error. */
import { useState } from 'react'
import { ERROR_KINDS, ERROR_POLICY, type ErrorKind } from '../../../src/contract/error-table.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { SnippetTabs } from '../../ui/code-block.tsx'
import { SearchField } from '../../ui/search-field.tsx'

interface ErrorEntry {
  readonly kind: ErrorKind
  readonly status: number
  readonly flat: string
  readonly type: string
  readonly code: string | null
  readonly retryable: boolean
  readonly means: string
  readonly cure: string
}

/** The type requires an entry for every error kind, so a new kind without text does not compile. */
const GUIDANCE: Readonly<Record<ErrorKind, Pick<ErrorEntry, 'means' | 'cure'>>> = {
  invalid_request: {
    means: 'The request is invalid.',
    cure: 'The message names the field and the allowed values.',
  },
  unauthorized: {
    means: 'The key or the session is missing, wrong or deleted.',
    cure: 'Send Authorization: Bearer sk-svc-… with a key of this gateway, not of a provider.',
  },
  forbidden: {
    means:
      'An administrator or a fuse stopped the caller, or the token may not be used from this ' +
      'address. On the control plane: only the owner may do this, or the request did not come ' +
      'from the gateway’s own pages.',
    cure:
      'The message says which. Ask the owner, who can lift a stop. On the control plane, call ' +
      'with an API key instead of a session.',
  },
  gate_not_found: {
    means: 'The account has no gate with this id.',
    cure: 'GET /v1/models lists the account’s gates. Give the SDK the gate’s id as the model.',
  },
  not_found: {
    means: 'There is nothing at this address, or the account has no such resource.',
    cure: 'Check the path and the id.',
  },
  method_not_allowed: {
    means: 'The address does not accept this method.',
    cure: 'The header allow lists the accepted methods.',
  },
  request_timeout: {
    means: 'The body of the request did not arrive in time.',
    cure: 'Send the request again. If this error is frequent, check the network between you and the gateway.',
  },
  conflict: {
    means: 'The resource already exists, is still in use, or has changed in the meantime.',
    cure: 'Check the current state, then decide again.',
  },
  precondition_failed: {
    means: 'The resource was changed after the version in If-Match.',
    cure: 'Get the resource again and send the change with its new ETag, or without If-Match to overwrite.',
  },
  payload_too_large: {
    means: 'The body is larger than the operator allows.',
    cure: 'Send less, such as images by address instead of inline.',
  },
  upgrade_not_supported: {
    means: 'The client requested a WebSocket.',
    cure: 'Use POST, with stream: true for a stream.',
  },
  rate_limited: {
    means: 'The key has made too many calls, used too many tokens, or has too many calls open.',
    cure: 'Wait for retry-after. The x-ratelimit-… headers show the limits and the rest.',
  },
  quota_exceeded: {
    means: 'The account’s month, or the budget that the message names, is used up.',
    cure:
      'Trying again does not help (x-should-retry: false): raise the limit or ' +
      'wait until it starts again.',
  },
  upstream_error: {
    means:
      'The provider refused the request (its own 4xx is passed on), failed, or sent an invalid answer.',
    cure:
      'A 4xx is the provider’s own, in its own words: change the request. A 502: try again, or ' +
      'add a target to fall back to.',
  },
  provider_auth_failed: {
    means: 'The provider refused the gateway’s credential. Your API key is fine.',
    cure:
      'The message says whose credential it is: replace that provider key, that owned model’s, ' +
      'or tell the operator.',
  },
  upstream_timeout: {
    means: 'The provider was silent for longer than a deadline allows; the code says which.',
    cure: 'Try again, raise the gate’s deadline, or add a faster target.',
  },
  unavailable: {
    means: 'The gateway is shutting down, has no file descriptor left, or cannot write its ledger.',
    cure: 'Try again after retry-after. If the error continues, tell the operator.',
  },
  internal_error: {
    means: 'The gateway failed. Your request is not the cause.',
    cure: 'Try again, and give the operator the x-request-id.',
  },
}

const ERRORS: readonly ErrorEntry[] = ERROR_KINDS.map((kind) => ({
  kind,
  ...ERROR_POLICY[kind],
  ...GUIDANCE[kind],
})).sort((one, other) => one.status - other.status)

const ENVELOPES = [
  {
    name: 'OpenAI',
    code: JSON.stringify(
      {
        error: {
          message: "'store' must not be true: …",
          type: 'invalid_request_error',
          param: 'store',
          code: 'unsupported_parameter',
        },
      },
      null,
      2,
    ),
  },
  {
    name: 'Anthropic',
    code: JSON.stringify(
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: "'max_tokens' is required." },
      },
      null,
      2,
    ),
  },
  {
    name: 'Flat (/v3, /alt, control plane)',
    code: JSON.stringify(
      {
        error: 'invalid_request',
        message: "'prompt' is required: the code before the cursor.",
        details: { field: 'prompt' },
      },
      null,
      2,
    ),
  },
]

export function ErrorsPage() {
  const [text, setText] = useState('')
  const found = ERRORS.filter((entry) => matches(entry, text))
  return (
    <>
      <Card>
        <CardHeader
          title="The envelope"
          note="An error comes in the form of the endpoint’s family. Every answer carries x-request-id: quote it when you ask for help."
        />
        <div className="px-5 py-5">
          <SnippetTabs label="Error envelopes" snippets={ENVELOPES} />
        </div>
      </Card>
      <Card>
        <CardHeader
          title="Errors"
          note="Status, flat code, type / code of the nested envelope. Marked “retry”: the same request may succeed later."
        >
          <SearchField label="Search the errors" value={text} onChange={setText} />
        </CardHeader>
        {found.length === 0 ? (
          <p role="status" className="px-5 py-8 text-center text-sm text-ink-faint">
            No error matches “{text}”.
          </p>
        ) : (
          <ErrorList errors={found} />
        )}
      </Card>
      <Card>
        <CardHeader title="In mid-stream" />
        <p className="max-w-3xl px-5 py-4 text-sm text-ink-soft">
          The status of a stream is sent with its first byte. A stream that fails later ends with an
          error in its own dialect, and the connection is closed without the last chunk, so that no
          client treats the answer as complete.
        </p>
      </Card>
    </>
  )
}

function ErrorList({ errors }: { readonly errors: readonly ErrorEntry[] }) {
  return (
    <ul aria-label="Errors" className="divide-y divide-line">
      {errors.map((entry) => (
        <li
          key={entry.kind}
          className="grid grid-cols-[3rem_minmax(0,1fr)] gap-x-3 gap-y-1.5 px-5 py-3.5 lg:grid-cols-[3rem_minmax(0,22rem)_minmax(0,1fr)]"
        >
          <span className="font-mono text-[13px] leading-5.5 text-ink-soft tabular-nums">
            {entry.status}
          </span>
          <div className="min-w-0">
            <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <code className="font-mono text-[13px] font-medium text-ink">{entry.flat}</code>
              {entry.retryable && (
                <span title="The same request may succeed later.">
                  <Badge tone="ok">retry</Badge>
                </span>
              )}
            </p>
            <code className="block font-mono text-xs break-words text-ink-faint">
              {entry.type} / {entry.code ?? 'the reason'}
            </code>
          </div>
          <div className="col-start-2 text-sm lg:col-start-3">
            <p className="text-ink">{entry.means}</p>
            <p className="mt-0.5 text-[13px] text-ink-soft">{entry.cure}</p>
          </div>
        </li>
      ))}
    </ul>
  )
}

function matches(entry: ErrorEntry, text: string): boolean {
  const all = [entry.status, entry.flat, entry.type, entry.code, entry.means, entry.cure]
    .join(' ')
    .toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}

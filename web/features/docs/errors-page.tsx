/** The error reference: what each looks like, what it means, what to do. */
import { useState } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { SnippetTabs } from '../../ui/code-block.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { ERRORS, type ErrorEntry } from './error-guidance.ts'

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
          Once the first byte of a stream is out, its status is. A stream that breaks later ends
          with an error in its own dialect, and the connection is then cut without the closing
          chunk: no client can take the answer for whole.
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

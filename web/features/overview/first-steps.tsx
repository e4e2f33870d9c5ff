/**
 * The first steps of a new account. Each step is ticked once the user has done the step; the
 * sandbox, its gate and the first key exist from the start and do not count.
 */
import { Check, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatDuration } from '../../format/figures.ts'
import { Button, IconButton, LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { type Snippet, SnippetTabs } from '../../ui/code-block.tsx'
import type { FirstStepsState } from './first-steps-state.ts'

// Plain strings, because these pages belong to other features.
const PROVIDER_KEYS: string = '/provider-keys'
const NEW_GATE: string = '/gates/new'
const KEYS: string = '/keys'
const LOGS: string = '/logs'

const NAMES_SHOWN = 3

export function FirstSteps({
  state,
  onDismiss,
}: {
  readonly state: FirstStepsState
  readonly onDismiss: () => void
}) {
  const { hasProvider, gateId, hasGate, hasKey, hasCalled, firstCall } = state
  const steps = [hasProvider, hasGate, hasKey, hasCalled === true]
  const next = steps.indexOf(false)
  const done = steps.filter(Boolean).length
  return (
    <Card>
      <header className="flex items-start justify-between gap-4 border-b border-line px-5 py-4">
        <div>
          <h2 className="text-sm font-semibold text-ink">
            {hasCalled === true ? 'The first call has arrived' : 'Send the first call'}
          </h2>
          <p className="mt-0.5 text-[13px] text-ink-faint">
            {hasCalled === true
              ? 'This list is not shown again.'
              : `${done} of ${steps.length} steps done. They tick by themselves.`}
          </p>
        </div>
        {hasCalled === true ? (
          <Button size="small" onClick={onDismiss}>
            Close
          </Button>
        ) : (
          <IconButton size="small" label="Dismiss the first steps" onClick={onDismiss}>
            <X aria-hidden className="size-4" />
          </IconButton>
        )}
      </header>
      <ol aria-label="First steps" className="divide-y divide-line">
        <Step
          title="Set a provider key"
          isDone={hasProvider}
          isNext={next === 0}
          action={{ to: PROVIDER_KEYS, label: 'Set a key' }}
          note={
            hasProvider
              ? `Providers that can be called: ${nameSome(state.providerNames)}.`
              : 'The gateway calls models at their providers with your key, which is stored encrypted.'
          }
        />
        <Step
          title="Create a gate"
          isDone={hasGate}
          isNext={next === 1}
          action={{ to: NEW_GATE, label: 'Create a gate' }}
          note={
            !hasGate ? (
              'Applications call a gate by its name. The gate tries its models in your order.'
            ) : (
              <>
                <code className="font-mono text-[12.5px] text-ink">{gateId}</code> can be called.
              </>
            )
          }
        />
        <Step
          title="Create an API key"
          isDone={hasKey}
          isNext={next === 2}
          action={{ to: KEYS, label: 'Create a key' }}
          note={
            hasKey
              ? 'Set the key as GATEHOUSE_API_KEY. A key is shown once; create another key if you lost it.'
              : 'Applications send their key with every request.'
          }
        />
        <Step
          title="Call"
          isDone={hasCalled === true}
          isNext={next === 3}
          action={firstCall === undefined ? undefined : { to: LOGS, label: 'Open the logs' }}
          note={
            firstCall === undefined
              ? 'Run one of these commands. This step turns green when the call arrives.'
              : `The first call was answered with ${firstCall.status} in ${formatDuration(firstCall.durationMs)}.`
          }
        >
          {hasCalled !== true && (
            <>
              <SnippetTabs
                label="A first call"
                snippets={callSnippets(location.origin, gateId ?? 'YOUR-GATE')}
              />
              <p className="mt-3 flex items-center gap-2 text-[13px] text-ink-faint">
                <span aria-hidden className="size-1.5 rounded-full bg-accent" />
                Waiting for a call
              </p>
            </>
          )}
        </Step>
      </ol>
      <p role="status" className="sr-only">
        {hasCalled === true
          ? 'The first call has arrived.'
          : `${done} of ${steps.length} steps are done.`}
      </p>
    </Card>
  )
}

function nameSome(names: readonly string[]): string {
  const rest = names.length - NAMES_SHOWN
  return names.slice(0, NAMES_SHOWN).join(' · ') + (rest > 0 ? ` and ${rest} more` : '')
}

function Step({
  title,
  note,
  isDone,
  isNext,
  action,
  children,
}: {
  readonly title: string
  readonly note: ReactNode
  readonly isDone: boolean
  /** Whether the step is the first open step, whose button is highlighted. */
  readonly isNext: boolean
  readonly action: { readonly to: string; readonly label: string } | undefined
  readonly children?: ReactNode
}) {
  return (
    <li className="flex gap-3.5 px-5 py-4">
      <span
        className={classNames(
          'mt-0.5 grid size-5 shrink-0 place-items-center rounded-full border transition-colors',
          isDone
            ? 'border-transparent bg-ok-soft text-ok'
            : isNext
              ? 'border-accent'
              : 'border-line-strong',
        )}
      >
        {isDone && <Check aria-hidden className="size-3.5" strokeWidth={2.5} />}
        <span className="sr-only">{isDone ? 'Done:' : 'To do:'}</span>
      </span>
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
          <div className="min-w-0">
            <h3
              className={classNames('text-sm font-medium', isDone ? 'text-ink-soft' : 'text-ink')}
            >
              {title}
            </h3>
            <p className="mt-0.5 max-w-xl text-[13px] text-ink-faint">{note}</p>
          </div>
          {action !== undefined && (
            <LinkButton
              to={action.to}
              size="small"
              look={isNext ? 'primary' : isDone ? 'quiet' : 'plain'}
            >
              {action.label}
            </LinkButton>
          )}
        </div>
        {children !== undefined && children !== false && <div className="mt-3">{children}</div>}
      </div>
    </li>
  )
}

function callSnippets(origin: string, gateId: string): readonly Snippet[] {
  return [
    {
      name: 'curl',
      code: `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer $GATEHOUSE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${gateId}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    {
      name: 'OpenAI TypeScript',
      code: `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${origin}/v1",
  apiKey: process.env.GATEHOUSE_API_KEY,
});

const completion = await client.chat.completions.create({
  model: "${gateId}",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(completion.choices[0].message.content);`,
    },
    {
      name: 'OpenAI Python',
      code: `import os
from openai import OpenAI

client = OpenAI(
    base_url="${origin}/v1",
    api_key=os.environ["GATEHOUSE_API_KEY"],
)

completion = client.chat.completions.create(
    model="${gateId}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(completion.choices[0].message.content)`,
    },
  ]
}

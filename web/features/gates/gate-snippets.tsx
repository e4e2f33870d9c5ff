/** Code that calls this gate at this gateway, for each SDK. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { operationQuery } from '../../api/operation-query.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { SnippetTabs } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { type CallSnippet, callSnippets, KEY_VARIABLE, type SnippetFamily } from '../../ui/snippets.ts'
import type { Gate } from './gate-draft.ts'

export function GateSnippets({ gate }: { readonly gate: Gate }) {
  const snippets = callSnippets({ baseUrl: location.origin, gateId: gate.id })
  const families = [...new Set(snippets.map(({ family }) => family))]
  const [family, setFamily] = useState<SnippetFamily>('curl')
  const shown = snippets.filter((snippet) => snippet.family === family)
  const installs = [...new Set(shown.flatMap(({ install }) => install ?? []))]
  return (
    <Card>
      <CardHeader
        title="Snippets"
        note={
          <>
            They read the key from <code className="font-mono text-xs">{KEY_VARIABLE}</code>; make one under{' '}
            <Link to="/keys" className="text-accent underline">
              API Keys
            </Link>
            .
          </>
        }
      />
      <div className="flex flex-col gap-4 p-5">
        <fieldset className="flex flex-wrap gap-1.5">
          <legend className="sr-only">SDK</legend>
          {families.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === family}
              onClick={() => setFamily(name)}
              className={classNames(
                'h-8 rounded-lg border px-3 text-[13px] font-medium',
                name === family
                  ? 'border-accent bg-accent-soft text-accent-strong'
                  : 'border-line-strong text-ink-soft hover:bg-sunken',
              )}
            >
              {name}
            </button>
          ))}
        </fieldset>
        {installs.length > 0 && (
          <ul aria-label="What to install" className="-my-1 flex flex-wrap gap-x-6 gap-y-1">
            {installs.map((install) => (
              <li key={install} className="flex items-center gap-1">
                <code className="font-mono text-[13px] text-ink-soft">{install}</code>
                <CopyButton text={install} label={`Copy ${install}`} />
              </li>
            ))}
          </ul>
        )}
        <SnippetTabs
          key={family}
          label={family}
          snippets={shown.map((snippet) => ({
            name: snippet.variant,
            code: snippet.code,
            note: isFim(snippet) && <FimNote gate={gate} />,
          }))}
        />
      </div>
    </Card>
  )
}

const FIM_DIALECT = 'mistral-fim'

function isFim({ id }: CallSnippet): boolean {
  return id.includes('fim')
}

/** Owned models say themselves what they speak; of these nothing is claimed. */
function FimNote({ gate }: { readonly gate: Gate }) {
  const providers = useQuery(operationQuery('GET /v1/providers'))
  if (providers.data === undefined) return null
  const speaking = new Set(
    providers.data.data.filter(({ dialects }) => dialects.includes(FIM_DIALECT)).map(({ id }) => id),
  )
  const maySpeak = gate.targets.some(
    ({ model }) => model.startsWith('owned/') || speaking.has(model.slice(0, model.indexOf('/'))),
  )
  if (maySpeak) return null
  return (
    <p className="bg-warn-soft px-4 py-2 text-[13px] text-warn">
      No target of this gate fills in the middle: calls of this kind would be refused. Providers that do:{' '}
      {[...speaking].join(', ')}.
    </p>
  )
}

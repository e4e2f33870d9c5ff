/** Code that calls this gate at this gateway, for each SDK. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { arrangeByFit } from '../../format/format-fit.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { SnippetTabs } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { callSnippets, KEY_VARIABLE, type SnippetFamily } from '../../ui/snippets.ts'
import { NO_TARGET_TAKES_IT, useFormatFit } from '../../ui/use-format-fit.ts'
import type { Gate } from './gate-draft.ts'

export function GateSnippets({ gate }: { readonly gate: Gate }) {
  const fitOf = useFormatFit(gate.targets.map(({ model }) => model))
  const snippets = arrangeByFit(callSnippets({ baseUrl: location.origin, gateId: gate.id }), fitOf)
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
            They read the key from <code className="font-mono text-xs">{KEY_VARIABLE}</code>; create
            one under{' '}
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
            isOff: snippet.fit === 'none',
            note: snippet.fit === 'none' && (
              <p className="bg-warn-soft px-4 py-2 text-[13px] text-warn">{NO_TARGET_TAKES_IT}</p>
            ),
          }))}
        />
      </div>
    </Card>
  )
}

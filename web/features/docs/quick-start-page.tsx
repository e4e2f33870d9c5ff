import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { wholeListQuery } from '../../api/operation-query.ts'
import { arrangeByFit, type Fit } from '../../format/format-fit.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CodeBlock, SnippetTabs } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { PageLink } from '../../ui/links.tsx'
import {
  type CallSnippet,
  callSnippets,
  KEY_VARIABLE,
  type SnippetFamily,
} from '../../ui/snippets.ts'
import { Table, Th } from '../../ui/table.tsx'
import { NO_TARGET_TAKES_IT, useFormatFit } from '../../ui/use-format-fit.ts'

const NO_GATE = 'your-gate'

const NOTES: Readonly<Record<SnippetFamily, string>> = {
  curl: 'With curl you install nothing. The same token works at every endpoint.',
  OpenAI:
    'OpenAI’s SDK with another address. Chat and Responses reach every provider with a similar dialect; the conformance table shows what is translated.',
  Anthropic: 'Anthropic’s SDK with another address. Tools, streams and errors work as usual.',
  'Mistral FIM':
    'Fill-in-the-middle completes code between two parts. The gate needs a target that supports this, such as a code model.',
  'Vercel AI SDK': 'The AI SDK’s OpenAI provider with another address.',
}

export function QuickStartPage() {
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  const [chosenGate, setChosenGate] = useState<string>()
  const [chosenFamily, setChosenFamily] = useState<SnippetFamily>('curl')
  const gateId = chosenGate ?? gates.data?.[0]?.id ?? NO_GATE
  const targets = gates.data?.find(({ id }) => id === gateId)?.targets ?? []
  const fitOf = useFormatFit(targets.map(({ model }) => model))
  const snippets = arrangeByFit(callSnippets({ baseUrl: location.origin, gateId }), fitOf)
  const families = [...new Set(snippets.map(({ family }) => family))]
  const shown = snippets.filter(({ family }) => family === chosenFamily)
  return (
    <>
      <Card>
        <CardHeader
          title="Your first call"
          note="A token says who calls, a gate says who answers."
        />
        <ol className="flex flex-col gap-7 px-5 py-6">
          <Step number={1} title="Put a token into the environment">
            <p className="text-sm text-ink-soft">
              Create an access token under <PageLink to="/keys">Tokens and API Keys</PageLink>. It
              is shown once.
            </p>
            <CodeBlock code={`export ${KEY_VARIABLE}=at-svc-…`} label="the variable" isWrapped />
          </Step>
          <Step number={2} title="Choose a gate">
            {gates.data?.length === 0 ? (
              <p className="text-sm text-ink-soft">
                There is none yet. Create one under <PageLink to="/gates">Gates</PageLink>; until
                then the code below says <code className="font-mono text-[13px]">{NO_GATE}</code>.
              </p>
            ) : (
              <SelectField
                label="Gate"
                className="max-w-sm"
                hint="Its id goes where the SDK wants a model."
                value={gateId}
                onChange={(event) => setChosenGate(event.target.value)}
              >
                {(gates.data ?? [{ id: gateId }]).map(({ id }) => (
                  <option key={id} value={id}>
                    {id}
                  </option>
                ))}
              </SelectField>
            )}
          </Step>
          <Step number={3} title="Call it">
            <div role="radiogroup" aria-label="SDK" className="flex flex-wrap gap-1.5">
              {families.map((family) => (
                <FamilyChoice
                  key={family}
                  family={family}
                  isChosen={family === chosenFamily}
                  onChoose={() => setChosenFamily(family)}
                />
              ))}
            </div>
            <p className="text-sm text-ink-soft">{NOTES[chosenFamily]}</p>
            <FamilyCode key={chosenFamily} family={chosenFamily} snippets={shown} />
          </Step>
        </ol>
      </Card>
      <EndpointsCard baseUrl={location.origin} />
    </>
  )
}

function Step({
  number,
  title,
  children,
}: {
  readonly number: number
  readonly title: string
  readonly children: ReactNode
}) {
  return (
    <li className="grid grid-cols-[1.75rem_minmax(0,1fr)] gap-x-3">
      <span
        aria-hidden
        className="grid size-6 place-items-center rounded-full bg-sunken text-xs font-semibold text-ink-soft"
      >
        {number}
      </span>
      <div className="flex min-w-0 flex-col gap-3">
        <h3 className="pt-0.5 text-sm font-medium text-ink">{title}</h3>
        {children}
      </div>
    </li>
  )
}

function FamilyChoice({
  family,
  isChosen,
  onChoose,
}: {
  readonly family: SnippetFamily
  readonly isChosen: boolean
  readonly onChoose: () => void
}) {
  return (
    <label
      className={classNames(
        'cursor-pointer rounded-lg border px-3 py-1.5 text-[13px] font-medium has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
        isChosen
          ? 'border-accent bg-accent-soft text-accent-strong'
          : 'border-line-strong bg-surface text-ink-soft hover:text-ink',
      )}
    >
      <input
        type="radio"
        name="sdk"
        className="sr-only"
        value={family}
        checked={isChosen}
        onChange={onChoose}
      />
      {family}
    </label>
  )
}

function FamilyCode({
  family,
  snippets,
}: {
  readonly family: SnippetFamily
  readonly snippets: readonly (CallSnippet & { readonly fit: Fit })[]
}) {
  const installs = [
    ...new Set(snippets.flatMap(({ install }) => (install === undefined ? [] : [install]))),
  ]
  return (
    <>
      {installs.length > 0 && (
        <CodeBlock code={installs.join('\n')} label="what to install" isWrapped />
      )}
      <SnippetTabs
        label={`${family} variants`}
        snippets={snippets.map(({ variant, code, fit }) => ({
          name: variant,
          code,
          isOff: fit === 'none',
          note: fit === 'none' && (
            <p className="bg-warn-soft px-4 py-2 text-[13px] text-warn">{NO_TARGET_TAKES_IT}</p>
          ),
        }))}
      />
    </>
  )
}

interface Endpoint {
  readonly base: string
  readonly paths: readonly string[]
  readonly speaks: string
}

const ENDPOINTS: readonly Endpoint[] = [
  {
    base: '/v1',
    paths: ['/responses', '/chat/completions', '/embeddings', '/models'],
    speaks: 'OpenAI: Responses, Chat Completions, embeddings, models',
  },
  { base: '', paths: ['/v1/messages', '/v1/messages/count_tokens'], speaks: 'Anthropic: Messages' },
  {
    base: '/alt',
    paths: ['/v1/fim/completions', '/v1/chat/completions'],
    speaks: 'Mistral: fill in the middle, chat',
  },
  { base: '', paths: ['/v3/chat'], speaks: 'Gatehouse’s own chat format, to any provider' },
]

function EndpointsCard({ baseUrl }: { readonly baseUrl: string }) {
  return (
    <Card>
      <CardHeader
        title="Addresses"
        note="For any client that lets you set its base address. Authorization is a Bearer key everywhere."
      />
      <Table
        label="Addresses"
        head={
          <>
            <Th>Base address</Th>
            <Th>Paths</Th>
            <Th>Speaks</Th>
          </>
        }
      >
        {ENDPOINTS.map(({ base, paths, speaks }) => (
          <tr key={speaks}>
            <td className="whitespace-nowrap">
              <span className="flex items-center gap-1">
                <code className="font-mono text-[13px] text-ink">{baseUrl + base}</code>
                <CopyButton text={baseUrl + base} label={`Copy the base address for ${speaks}`} />
              </span>
            </td>
            <td>
              {paths.map((path) => (
                <code
                  key={path}
                  className="block font-mono text-[13px] whitespace-nowrap text-ink-soft"
                >
                  {path}
                </code>
              ))}
            </td>
            <td className="min-w-48 text-ink-soft">{speaks}</td>
          </tr>
        ))}
      </Table>
    </Card>
  )
}

/** Ready lines for agents, editors and SDKs. A typed token is only kept while the page is open. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Terminal } from 'lucide-react'
import { useState } from 'react'
import { wholeListQuery } from '../../api/operation-query.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { ClientSetupLines } from '../../ui/client-setup-lines.tsx'
import { CLIENT_GROUPS, type ClientSetup, clientSetups } from '../../ui/client-setups.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { readToken, type TypedToken } from './read-token.ts'

// A plain string, because the page belongs to another feature.
const NEW_GATE: string = '/gates/new'

export function ConnectPage() {
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  return (
    <Page
      title="Connect"
      note="Ready lines for agents, editors and SDKs. A client needs this gateway’s address, a token, and a gate’s id in place of a model’s name."
    >
      <QueryBoundary
        query={gates}
        empty={
          <Card>
            <EmptyState
              icon={<Terminal />}
              title="No gate yet"
              action={
                <LinkButton to={NEW_GATE} look="primary">
                  Create a gate
                </LinkButton>
              }
            >
              Clients call a gate, and this account has none. Create a gate first; then this page
              has the lines for each client.
            </EmptyState>
          </Card>
        }
      >
        {(rows) => <Clients gates={rows} />}
      </QueryBoundary>
    </Page>
  )
}

function Clients({ gates }: { readonly gates: readonly { readonly id: string }[] }) {
  const search: { readonly gate?: string; readonly client?: string } = useSearch({ strict: false })
  const navigate = useNavigate()
  const choose = (change: { readonly gate?: string; readonly client?: string }) =>
    void navigate({
      to: '.',
      search: { ...search, ...change },
      replace: true,
      resetScroll: false,
    })
  const [typed, setTyped] = useState('')
  const read = readToken(typed)
  const gate = gates.find(({ id }) => id === search.gate) ?? gates[0]
  const setups = clientSetups({
    baseUrl: location.origin,
    gateId: gate?.id ?? '',
    token: read.token,
  })
  const setup = setups.find(({ id }) => id === search.client) ?? setups[0]
  return (
    <>
      <Card>
        <div className="grid gap-x-6 gap-y-4 px-5 py-5 md:grid-cols-2">
          <SelectField
            label="Gate"
            hint="The client calls this gate as its model."
            value={gate?.id}
            onChange={(event) => choose({ gate: event.target.value })}
          >
            {gates.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </SelectField>
          <TextField
            label="Token"
            isOptional
            isCode
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="at-svc-…"
            problem={read.problem}
            hint={<TokenHint read={read} />}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
      </Card>
      <Card>
        <div className="grid lg:grid-cols-[14rem_minmax(0,1fr)]">
          <ClientChoice
            setups={setups}
            chosen={setup?.id}
            onChoose={(client) => choose({ client })}
          />
          {setup !== undefined && (
            <section aria-label={setup.name} className="min-w-0">
              <CardHeader title={setup.name} />
              <div className="px-5 py-5">
                <ClientSetupLines setup={setup} token={read.token} />
              </div>
            </section>
          )}
        </div>
      </Card>
    </>
  )
}

function TokenHint({ read: { token, isKey } }: { readonly read: TypedToken }) {
  const tokens = useQuery(wholeListQuery('GET /v1/access-tokens'))
  if (isKey)
    return (
      <span className="text-warn">
        This is an API key, which has full access to the account. Give clients an{' '}
        <PageLink to="/keys">access token</PageLink> instead.
      </span>
    )
  if (token !== undefined) return 'The lines below contain the token. It is not stored or sent.'
  if (tokens.data?.length === 0)
    return (
      <>
        This account has no access token yet. <PageLink to="/keys">Create an access token</PageLink>{' '}
        and paste it here.
      </>
    )
  return (
    <>
      Paste a token to have it in the lines. It is not stored or sent.{' '}
      <PageLink to="/keys">Create a token</PageLink>
    </>
  )
}

function ClientChoice({
  setups,
  chosen,
  onChoose,
}: {
  readonly setups: readonly ClientSetup[]
  readonly chosen: string | undefined
  readonly onChoose: (id: string) => void
}) {
  return (
    <div
      role="radiogroup"
      aria-label="Client"
      className="flex flex-col gap-4 border-line p-4 max-lg:border-b lg:border-r"
    >
      {CLIENT_GROUPS.map((group) => (
        <div key={group}>
          <h2 className="pb-1.5 text-xs lg:px-2.5 lg:pb-1 font-medium text-ink-faint">{group}</h2>
          <div className="flex flex-wrap gap-1.5 lg:flex-col lg:gap-0.5">
            {setups
              .filter((setup) => setup.group === group)
              .map(({ id, name }) => (
                <label
                  key={id}
                  className={classNames(
                    'cursor-pointer rounded-lg px-2.5 py-1.5 text-[13px] max-lg:border has-focus-visible:outline-2 has-focus-visible:outline-accent',
                    id === chosen
                      ? 'border-accent bg-accent-soft font-medium text-accent-strong'
                      : 'border-line-strong text-ink-soft hover:bg-sunken hover:text-ink',
                  )}
                >
                  <input
                    type="radio"
                    name="client"
                    className="sr-only"
                    value={id}
                    checked={id === chosen}
                    onChange={() => onChoose(id)}
                  />
                  {name}
                </label>
              ))}
          </div>
        </div>
      ))}
    </div>
  )
}

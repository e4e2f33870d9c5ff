/** The switches for recording callers, and the visibility of people's figures. */
import { useQuery } from '@tanstack/react-query'
import { type AnswerOf, ask } from '../../api/ask.ts'
import { operationQuery } from '../../api/operation-query.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { SelectField } from '../../ui/field.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Switch } from '../../ui/switch.tsx'
import { useChange } from '../../ui/use-change.ts'

type Attribution = AnswerOf<'GET /v1/account/attribution'>

const SWITCHES = [
  [
    'membersAndTags',
    'Members and tags',
    'Each call is stored with the id of its member and hashes of its tags. Names of members and tags are stored beside the calls.',
  ],
  [
    'sessions',
    'Sessions and agents',
    'Each call is stored with hashes of its session, its subagent and the agent that started the subagent. Their names are never stored.',
  ],
  [
    'endUsers',
    'End users',
    'The users that your applications name, for example in the header x-gatehouse-user. Each call is stored with a hash of the user, and the names are stored beside the calls. Names may be personal data.',
  ],
] as const

const PEOPLE_FIGURES: Readonly<Record<Attribution['peopleFigures'], string>> = {
  hidden: 'Nobody',
  owner: 'The owner of the account',
  administrators: 'The owner and API keys',
}

export function AttributionCard() {
  const attribution = useQuery(operationQuery('GET /v1/account/attribution'))
  return (
    <Card>
      <CardHeader
        title="Who calls"
        note="What is recorded about the callers behind calls. Prompts and completions are never stored."
      />
      <QueryBoundary query={attribution}>{(data) => <Switches attribution={data} />}</QueryBoundary>
    </Card>
  )
}

function Switches({ attribution }: { readonly attribution: Attribution }) {
  const { data: session } = useQuery(operationQuery('GET /v1/session'))
  const change = useChange({
    send: (body: Partial<Attribution>) => ask('PATCH /v1/account/attribution', { body }),
    makesStale: [
      'GET /v1/account/attribution',
      'GET /v1/analytics',
      'GET /v1/logs',
      'GET /v1/usage/sessions',
    ],
    done: 'Account saved',
    saysFailure: true,
  })
  const isOwner = session?.role === 'owner'
  return (
    <div className="divide-y divide-line">
      {SWITCHES.map(([name, label, note]) => (
        <div key={name} className="flex items-start justify-between gap-6 px-5 py-3.5">
          <div>
            <p className="text-sm text-ink">{label}</p>
            <p className="mt-0.5 text-[13px] text-ink-faint">{note}</p>
          </div>
          <Switch
            label={label}
            isOn={attribution[name]}
            disabled={change.isPending}
            onChange={(isOn) => change.mutate({ [name]: isOn })}
          />
        </div>
      ))}
      <div className="px-5 py-4">
        <SelectField
          label="Who sees figures of other people"
          className="max-w-md"
          hint={
            isOwner
              ? 'Calls, tokens, cost and sessions of members and end users. Members always see their own. Choose API keys only if every member may see all figures, because every member can create a key.'
              : 'Only the owner of the account changes this. You always see your own figures.'
          }
          options={PEOPLE_FIGURES}
          value={attribution.peopleFigures}
          disabled={!isOwner || change.isPending}
          onChange={({ target }) =>
            change.mutate({ peopleFigures: target.value as Attribution['peopleFigures'] })
          }
        />
      </div>
      <p className="px-5 py-3 text-[13px] text-ink-faint">
        A switch applies to new calls. Recorded data stays. The choice of readers applies to all
        figures at once.
      </p>
    </div>
  )
}

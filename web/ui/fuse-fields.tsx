/** The fields of a fuse: what a session or a user may spend, and how often it may call. */
import { type FuseDraft, USUAL_MINUTES } from '../format/fuse-draft.ts'
import { TextField } from './field.tsx'

export function FuseFields({
  draft,
  problem,
  onChange,
}: {
  readonly draft: FuseDraft
  /** @param field such as `fuse.usd`; `fuse` has a problem when any of its members has one */
  readonly problem: (field: string) => string | undefined
  readonly onChange: (draft: FuseDraft) => void
}) {
  const members = {
    usd: problem('fuse.usd'),
    calls: problem('fuse.callsPerMinute'),
    minutes: problem('fuse.forMinutes'),
  }
  const isIncomplete =
    problem('fuse') !== undefined && Object.values(members).every((each) => each === undefined)
  const bind = (member: keyof FuseDraft) => ({
    isOptional: true,
    autoComplete: 'off',
    value: draft[member],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...draft, [member]: event.target.value }),
    problem: members[member],
  })
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(11rem,1fr))] gap-4">
      <TextField
        {...bind('usd')}
        label="US dollars an hour"
        inputMode="decimal"
        placeholder="20"
        hint="A session or user that spends more is stopped."
        problem={isIncomplete ? 'Set US dollars or calls a minute.' : members.usd}
      />
      <TextField
        {...bind('calls')}
        label="Calls a minute"
        inputMode="numeric"
        placeholder="60"
        hint="A session or user that calls more often is stopped."
      />
      <TextField
        {...bind('minutes')}
        label="Minutes in a row"
        inputMode="numeric"
        placeholder={String(USUAL_MINUTES)}
        hint={`1 to 60; ${USUAL_MINUTES} when empty.`}
      />
    </div>
  )
}

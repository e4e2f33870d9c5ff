import { PageLink } from './links.tsx'
import { useSeenPeople } from './use-seen-people.ts'

/** Shown where a list of people holds only the reader. */
export function PeopleHiddenNote() {
  const seen = useSeenPeople()
  if (seen === undefined || seen.seesAll) return null
  return (
    <p className="rounded-lg border border-line bg-sunken px-4 py-2.5 text-[13px] text-ink-soft">
      {seen.isOwner ? (
        <>
          You see only your own figures, because those of other people are hidden.{' '}
          <PageLink to="/settings">Account settings</PageLink> decide who sees them.
        </>
      ) : (
        'Members see only their own figures.'
      )}
    </p>
  )
}

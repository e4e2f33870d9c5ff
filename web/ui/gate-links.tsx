import { Fragment } from 'react'
import { PageLink } from './links.tsx'

/** Further gates are only counted. */
const MOST_NAMED = 8

export function GateLinks({ gates }: { readonly gates: readonly { readonly id: string }[] }) {
  const rest = gates.length - MOST_NAMED
  return (
    <>
      {gates.slice(0, MOST_NAMED).map(({ id }, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <PageLink to={`/gates/${id}`} className="font-mono text-[13px] wrap-anywhere">
            {id}
          </PageLink>
        </Fragment>
      ))}
      {rest > 0 && ` and ${rest} more`}
    </>
  )
}

/**
 * The first rows of a list, and more on request: thousands at once would block the page for
 * seconds.
 */
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { formatWhole } from '../format/figures.ts'
import { Button } from './button.tsx'

const AT_ONCE = 100

export function FirstRows<Row>({
  rows,
  children,
}: {
  readonly rows: readonly Row[]
  readonly children: (shown: readonly Row[]) => ReactNode
}) {
  const [count, setCount] = useState(AT_ONCE)
  const list = useRef<HTMLDivElement>(null)
  // A keyboard user continues at the first new row, not after the last.
  useEffect(() => {
    if (count === AT_ONCE) return
    const drawn = Array.from(list.current?.querySelectorAll('tbody > tr, ul > li') ?? [])
    // On phones a list may replace the table.
    const visible = drawn.filter((row) => row.getClientRects().length > 0)
    visible[count - AT_ONCE]?.querySelector<HTMLElement>('a[href], button')?.focus()
  }, [count])
  return (
    <>
      <div ref={list} className="contents">
        {children(rows.slice(0, count))}
      </div>
      {rows.length > count && (
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-t border-line px-5 py-3 text-[13px] text-ink-soft">
          <p>
            Shown are {formatWhole(count)} of {formatWhole(rows.length)}; the search looks at all.
          </p>
          <Button size="small" onClick={() => setCount(count + AT_ONCE)}>
            Show more
          </Button>
        </div>
      )}
    </>
  )
}

/** The rows that were read, and a button for the next page. */
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'

export function PagedRows({
  pages,
  count,
  children,
}: {
  readonly pages: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly error: Error | null
    fetchNextPage(): Promise<unknown>
  }
  readonly count: number
  readonly children: ReactNode
}) {
  const list = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState<number>()
  // A keyboard user continues at the first new row.
  useEffect(() => {
    if (shown === undefined || count <= shown) return
    list.current?.querySelectorAll('tbody > tr')[shown]?.querySelector('a')?.focus()
    setShown(undefined)
  }, [count, shown])
  return (
    <>
      <div ref={list} className="contents">
        {children}
      </div>
      {pages.hasNextPage && (
        <div className="flex flex-wrap items-center justify-center gap-3 border-t border-line p-3">
          {pages.error !== null && (
            <p role="alert" className="text-[13px] text-danger">
              {pages.error.message}
            </p>
          )}
          <Button
            size="small"
            look="quiet"
            isBusy={pages.isFetchingNextPage}
            onClick={() => {
              setShown(count)
              void pages.fetchNextPage()
            }}
          >
            Show more
          </Button>
        </div>
      )}
    </>
  )
}

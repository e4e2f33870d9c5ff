/** Says over any page that the gateway does not answer, as long as it does not. */
import { LoaderCircle } from 'lucide-react'
import { useIsConnectionLost } from './connection.ts'

export function ConnectionNotice() {
  const isLost = useIsConnectionLost()
  return (
    <div
      role="status"
      aria-label="Connection"
      className="pointer-events-none fixed inset-x-0 top-3 z-[70] px-4"
    >
      {isLost && (
        <p className="mx-auto flex w-fit items-center gap-2.5 rounded-lg border border-warn bg-warn-soft px-4 py-2 text-[13px] text-warn shadow-high">
          <LoaderCircle aria-hidden className="size-4 shrink-0" />
          <span>
            <span className="font-medium">The gateway does not answer.</span> This page tries again
            by itself; what you typed stays.
          </span>
        </p>
      )}
    </div>
  )
}

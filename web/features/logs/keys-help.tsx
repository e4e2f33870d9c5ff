/** A window with the page's keys. */
import { Dialog } from '../../ui/dialog.tsx'
import { KEY_HELP } from './use-log-keys.ts'

export function KeysHelp({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keys on this page">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2.5 text-sm">
        {KEY_HELP.map(([keys, does]) => (
          <div key={does} className="contents">
            <dt className="flex gap-1.5">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="min-w-6 rounded-md border border-line-strong bg-sunken px-1.5 py-0.5 text-center font-mono text-xs text-ink"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd className="text-ink-soft">{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

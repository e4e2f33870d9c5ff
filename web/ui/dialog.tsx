/** Dialogs: Radix keeps the focus, keyboard and screen reader inside. */
import { useBlocker } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { AlertDialog as RadixAlert, Dialog as RadixDialog } from 'radix-ui'
import {
  createContext,
  type ReactNode,
  type RefObject,
  use,
  useEffect,
  useRef,
  useState,
} from 'react'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import { findHeir } from './kept-focus.ts'
import { Sentence } from './sentence.tsx'
import { ProblemNote } from './states.tsx'

const OVERLAY = 'fixed inset-0 z-40 bg-black/40 dark:bg-black/60'
export const WINDOW =
  'fixed top-1/2 left-1/2 z-50 flex max-h-[90dvh] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col overflow-y-auto rounded-2xl border border-line bg-surface shadow-high focus:outline-none'

export interface DialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: string
  readonly note?: ReactNode
  readonly width?: 'narrow' | 'wide'
  readonly children: ReactNode
}

type CloseGuard = () => boolean

interface OpenWindow {
  readonly guard: RefObject<CloseGuard | undefined>
  readonly close: () => void
  readonly closeUnasked: () => void
}

const OpenWindowContext = createContext<OpenWindow | undefined>(undefined)

/**
 * Keeps the surrounding dialog open: Escape and the cross ask `guard` first, and clicks outside
 * have no effect.
 * @returns the dialog; undefined outside of any dialog
 */
export function useCloseGuard(guard: CloseGuard): OpenWindow | undefined {
  const around = use(OpenWindowContext)
  const kept = around?.guard
  useEffect(() => {
    if (kept === undefined) return
    kept.current = guard
    return () => {
      kept.current = undefined
    }
  }, [kept, guard])
  return around
}

function useStayOpen(isKept: boolean): boolean {
  const kept = use(OpenWindowContext)?.guard
  const [wasTried, setTried] = useState(false)
  const block = () => {
    setTried(true)
    return true
  }
  useBlocker({ shouldBlockFn: block, enableBeforeUnload: true, disabled: !isKept })
  useEffect(() => {
    if (kept === undefined || !isKept) return
    const stay: CloseGuard = () => {
      setTried(true)
      return false
    }
    kept.current = stay
    return () => {
      if (kept.current === stay) kept.current = undefined
      setTried(false)
    }
  }, [kept, isKept])
  return wasTried
}

export function Dialog({ isOpen, onClose, title, note, width = 'narrow', children }: DialogProps) {
  const guard = useRef<CloseGuard>(undefined)
  const close = () => {
    if (guard.current?.() !== false) onClose()
  }
  return (
    <RadixDialog.Root open={isOpen} onOpenChange={(next) => !next && close()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className={OVERLAY} />
        <Content
          hasNote={note !== undefined}
          width={width}
          onOutside={(event) => {
            if (guard.current !== undefined) event.preventDefault()
          }}
          onBack={() => {
            // A guarded dialog handles back navigation itself.
            if (guard.current !== undefined) return false
            onClose()
            return true
          }}
        >
          <div className="flex items-start justify-between gap-4 px-6 pt-5">
            <div>
              <RadixDialog.Title className="text-base font-semibold text-ink">
                <Sentence text={title} />
              </RadixDialog.Title>
              {note !== undefined && (
                <RadixDialog.Description className="mt-1 text-sm text-ink-soft">
                  {note}
                </RadixDialog.Description>
              )}
            </div>
            <RadixDialog.Close
              aria-label="Close"
              className="-mr-2 rounded-md p-1.5 text-ink-faint hover:bg-sunken hover:text-ink"
            >
              <X aria-hidden className="size-4" />
            </RadixDialog.Close>
          </div>
          <OpenWindowContext value={{ guard, close, closeUnasked: onClose }}>
            <div className="px-6 pt-4 pb-6">{children}</div>
          </OpenWindowContext>
        </Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  )
}

function Content({
  hasNote,
  width,
  onOutside,
  onBack,
  children,
}: Required<Pick<DialogProps, 'width' | 'children'>> & {
  readonly hasNote: boolean
  readonly onOutside: (event: Event) => void
  /** @returns whether the dialog has handled the navigation, so that the page stays */
  readonly onBack: () => boolean
}) {
  // On a phone, people close dialogs by navigating back.
  useBlocker({
    shouldBlockFn: ({ action }) => action === 'BACK' && onBack(),
    enableBeforeUnload: false,
  })
  // A click outside is easily a mistake, and would lose the text.
  const wasTyped = useRef(false)
  return (
    <RadixDialog.Content
      onChange={() => {
        wasTyped.current = true
      }}
      onInteractOutside={(event) => {
        if (wasTyped.current) event.preventDefault()
        onOutside(event)
      }}
      {...(hasNote ? {} : { 'aria-describedby': undefined })}
      onOpenAutoFocus={beginAtFirstField}
      onCloseAutoFocus={useWayBack()}
      className={classNames(WINDOW, width === 'narrow' ? 'max-w-md' : 'max-w-2xl')}
    >
      {children}
    </RadixDialog.Content>
  )
}

/**
 * Focuses the first field, because Radix would focus the cross, which the space bar would then
 * press.
 */
function beginAtFirstField(event: Event): void {
  if (!(event.currentTarget instanceof HTMLElement)) return
  const field = event.currentTarget.querySelector<HTMLElement>(
    ':is(input, select, textarea):not(:disabled)',
  )
  if (field === null) return
  event.preventDefault()
  field.focus()
}

export function useWayBack(): (event: Event) => void {
  // Read early: Radix reads the element when the dialog exists, and by then a field inside may have
  // taken the focus.
  const [opener] = useState(() => document.activeElement)
  return (event) => {
    const back = findHeir(opener)
    if (back === null) return
    event.preventDefault()
    back.focus()
  }
}

export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className="mt-6 flex flex-wrap justify-end gap-2">{children}</div>
}

export function FormActions({
  onCancel,
  isBusy,
  disabled = false,
  makesSecret = false,
  children,
}: {
  readonly onCancel: () => void
  readonly isBusy: boolean
  readonly disabled?: boolean
  readonly makesSecret?: boolean
  readonly children: ReactNode
}) {
  const isAwaited = makesSecret && isBusy
  const wasTried = useStayOpen(isAwaited)
  return (
    <DialogActions>
      {wasTried && (
        <p role="status" className="w-full text-[13px] text-ink-soft">
          This dialog stays open until the answer arrives, because the answer is shown only once.
        </p>
      )}
      <Button onClick={onCancel} disabled={isAwaited}>
        Cancel
      </Button>
      <Button look="primary" type="submit" isBusy={isBusy} disabled={disabled}>
        {children}
      </Button>
    </DialogActions>
  )
}

interface ConfirmDialogProps {
  readonly isOpen?: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
  readonly confirmLabel: string
  readonly onConfirm: () => void
  readonly isBusy?: boolean
  readonly error?: unknown
}

export function ConfirmDialog({
  isOpen = true,
  onClose,
  title,
  children,
  confirmLabel,
  onConfirm,
  isBusy = false,
  error,
}: ConfirmDialogProps) {
  return (
    <RadixAlert.Root open={isOpen} onOpenChange={(next) => !next && onClose()}>
      <RadixAlert.Portal>
        <RadixAlert.Overlay className={OVERLAY} />
        <AlertContent>
          <RadixAlert.Title className="text-base font-semibold text-ink">
            <Sentence text={title} />
          </RadixAlert.Title>
          <RadixAlert.Description asChild>
            <div className="mt-2 text-sm text-ink-soft">{children}</div>
          </RadixAlert.Description>
          <ProblemNote error={error} className="mt-4" />
          <DialogActions>
            <RadixAlert.Cancel asChild>
              <Button>Cancel</Button>
            </RadixAlert.Cancel>
            <Button look="danger" isBusy={isBusy} onClick={onConfirm}>
              {confirmLabel}
            </Button>
          </DialogActions>
        </AlertContent>
      </RadixAlert.Portal>
    </RadixAlert.Root>
  )
}

type ConfirmChangeProps = Omit<ConfirmDialogProps, 'onConfirm' | 'isBusy' | 'error'> & {
  readonly change: {
    readonly isPending: boolean
    readonly error: unknown
    readonly mutate: () => void
    readonly reset: () => void
  }
}

export function ConfirmChange({ change, onClose, ...rest }: ConfirmChangeProps) {
  return (
    <ConfirmDialog
      {...rest}
      onClose={() => {
        change.reset()
        onClose()
      }}
      isBusy={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate()}
    />
  )
}

function AlertContent({ children }: Pick<DialogProps, 'children'>) {
  return (
    <RadixAlert.Content
      onCloseAutoFocus={useWayBack()}
      className={classNames(WINDOW, 'max-w-md p-6')}
    >
      {children}
    </RadixAlert.Content>
  )
}

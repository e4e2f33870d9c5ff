import { useQuery } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { MessagesSquare, SlidersHorizontal, SquarePen } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { useDocumentTitle } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { toast, UNDO_MS } from '../../ui/toast.ts'
import { Composer, SettingsPanel } from './composer.tsx'
import { type ChatRequest, openToolCalls } from './conversation.ts'
import { type Gate, LaneHead, LaneView } from './lane-view.tsx'
import { usePlayground } from './use-playground.ts'

const CodeDialog = lazy(async () => ({ default: (await import('./code-dialog.tsx')).CodeDialog }))

// A plain string, because the page belongs to another feature.
const NEW_GATE: string = '/gates/new'

export function PlaygroundPage() {
  useDocumentTitle('Playground')
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  return (
    <div className="flex h-[calc(100dvh-3.25rem)] flex-col lg:h-dvh">
      {(gates.data ?? []).length === 0 && <PlaygroundHead />}
      <QueryBoundary query={gates}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState
              icon={<MessagesSquare />}
              title="No gates"
              action={
                <LinkButton to={NEW_GATE} look="primary">
                  Create a gate
                </LinkButton>
              }
            >
              A conversation needs a gate. Create a gate first.
            </EmptyState>
          ) : (
            <Conversations gates={rows} />
          )
        }
      </QueryBoundary>
    </div>
  )
}

function PlaygroundHead({ children }: { readonly children?: ReactNode }) {
  return (
    <header className="flex min-h-12 shrink-0 items-center justify-between gap-3 border-b border-line px-4 py-2.5">
      <h1 className="text-base font-semibold tracking-tight text-ink">Playground</h1>
      {children}
    </header>
  )
}

function Conversations({ gates }: { readonly gates: readonly Gate[] }) {
  const search = useSearch({ from: '/shell/playground' })
  const router = useRouter()
  const playground = usePlayground((kept) => {
    const first = search.gate ?? kept[0] ?? gates[0]?.id ?? ''
    const second = search.gate === undefined ? kept[1] : search.compare
    return second === undefined ? [first] : [first, second]
  })
  const { gateIds, isRunning } = playground
  const { threads, settings, draft, draftBeforeEdit } = playground.playground
  const [isSettingsOpen, setSettingsOpen] = useState(
    () => matchMedia('(min-width: 1280px)').matches,
  )
  const [code, setCode] = useState<ChatRequest>()
  const textArea = useRef<HTMLTextAreaElement>(null)
  const { stop } = playground

  useEffect(() => {
    if (!isRunning) return
    const onKeyDown = (event: KeyboardEvent) => {
      // An open dialog handles Escape first.
      if (event.key === 'Escape' && !event.defaultPrevented) stop()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [isRunning, stop])

  const choose = (gate: string, compare: string | undefined) =>
    void router.navigate({ to: '/playground', search: { gate, compare }, replace: true })
  const [first, second] = gateIds
  // A reload or a shared address leads to the same gates. Skipped while leaving, because the
  // navigation would bring the user back.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the called function is new each time
  useEffect(() => {
    const isLeft = router.latestLocation.pathname !== '/playground'
    if (search.gate === undefined && first !== undefined && !isLeft) choose(first, second)
  }, [search.gate, first, second])
  const compare = () => {
    playground.beginCompare()
    choose(first ?? '', gates.find(({ id }) => id !== first)?.id ?? first)
  }
  const close = (place: number) => {
    playground.endCompare(place)
    choose(gateIds[1 - place] ?? '', undefined)
  }
  const clear = () => {
    const undo = playground.clear()
    toast('message', 'Conversation cleared', {
      action: { label: 'Undo', run: undo },
      durationMs: UNDO_MS,
    })
    textArea.current?.focus()
  }
  const awaitsResults = gateIds.some((_, place) => openToolCalls(threads[place] ?? []).length > 0)
  const obstacle =
    playground.problems !== undefined
      ? 'Some settings are not valid yet.'
      : awaitsResults && draftBeforeEdit === undefined
        ? 'The model waits for the result of its tool calls.'
        : undefined
  const isSaid = threads.some((entries) => entries.length > 0)

  return (
    <>
      <PlaygroundHead>
        <div className="flex items-center gap-1.5">
          {isSaid && (
            <Button size="small" look="quiet" onClick={clear}>
              <SquarePen aria-hidden className="size-3.5" />
              New
              <span className="sr-only"> conversation</span>
            </Button>
          )}
          <Button
            size="small"
            look="quiet"
            aria-expanded={isSettingsOpen}
            onClick={() => setSettingsOpen(!isSettingsOpen)}
          >
            <SlidersHorizontal aria-hidden className="size-3.5" />
            Settings
          </Button>
        </div>
      </PlaygroundHead>
      <div className="relative flex min-h-0 flex-1 flex-col xl:flex-row">
        <div className="order-2 flex min-h-0 min-w-0 flex-1 flex-col xl:order-1">
          <div className="flex min-h-0 flex-1 snap-x snap-mandatory divide-x divide-line overflow-x-auto">
            {gateIds.map((gateId, place) => (
              <LaneView
                // biome-ignore lint/suspicious/noArrayIndexKey: a conversation stays when its gate changes
                key={place}
                gateId={gateId}
                entries={threads[place] ?? []}
                isLocked={isRunning || playground.problems !== undefined}
                targets={
                  gates.find(({ id }) => id === gateId)?.targets.map(({ model }) => model) ?? []
                }
                onRetry={() => playground.retry(place)}
                onEdit={() => {
                  playground.startEdit()
                  textArea.current?.focus()
                }}
                onAnswerTools={(results) => playground.answerTools(place, results)}
                head={
                  <LaneHead
                    label={place === 0 ? 'Gate' : 'Gate to compare with'}
                    gates={gates}
                    gateId={gateId}
                    onChoose={(chosen) =>
                      place === 0 ? choose(chosen, second) : choose(first ?? '', chosen)
                    }
                    onCode={
                      playground.problems === undefined
                        ? () => setCode(playground.toRequest(place))
                        : undefined
                    }
                    onCompare={gateIds.length === 1 ? compare : undefined}
                    onClose={gateIds.length === 1 ? undefined : () => close(place)}
                  />
                }
              />
            ))}
          </div>
          <div className="shrink-0 border-t border-line px-4 py-3">
            <div className="mx-auto max-w-3xl">
              <Composer
                ref={textArea}
                draft={draft}
                onDraft={playground.setDraft}
                onSend={playground.send}
                onStop={() => {
                  stop()
                  textArea.current?.focus()
                }}
                isRunning={isRunning}
                obstacle={obstacle}
                onCancelEdit={draftBeforeEdit === undefined ? undefined : playground.cancelEdit}
              />
            </div>
          </div>
        </div>
        {isSettingsOpen && (
          <aside
            aria-label="Settings"
            className="order-1 max-h-[50%] shrink-0 overflow-y-auto border-b border-line lg:max-h-none lg:border-b-0 lg:w-76 lg:border-l rail:absolute rail:inset-y-0 rail:right-0 rail:z-10 rail:bg-canvas rail:shadow-high xl:order-2"
          >
            <SettingsPanel
              settings={settings}
              problems={playground.problems}
              onChange={playground.setSettings}
            />
          </aside>
        )}
      </div>
      {code !== undefined && (
        <Suspense>
          <CodeDialog request={code} onClose={() => setCode(undefined)} />
        </Suspense>
      )}
    </>
  )
}

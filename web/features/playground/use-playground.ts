import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import {
  type Answer,
  beginAnswer,
  type ChatRequest,
  type Entry,
  settleEntries,
  splitAtLastMessage,
  type ToolResult,
  toMessages,
  untilLastQuestion,
} from './conversation.ts'
import { NO_SETTINGS, readSettings, type Settings } from './settings.ts'
import { streamAnswer } from './stream-answer.ts'

export interface Playground {
  readonly threads: readonly (readonly Entry[])[]
  readonly settings: Settings
  readonly draft: string
  readonly draftBeforeEdit?: string
  readonly gateIds: readonly string[]
}

const EMPTY: Playground = { threads: [[], []], settings: NO_SETTINGS, draft: '', gateIds: [] }
const MEMORY = ['playground'] as const

let lastId = 0
function nextId(): string {
  lastId += 1
  return `entry-${lastId}`
}

function recall(client: QueryClient): Playground {
  client.setQueryDefaults(MEMORY, { gcTime: Number.POSITIVE_INFINITY, structuralSharing: false })
  const kept = client.getQueryData<Playground>(MEMORY)
  return kept === undefined ? EMPTY : { ...kept, threads: kept.threads.map(settleEntries) }
}

export function usePlayground(toGateIds: (kept: readonly string[]) => readonly string[]) {
  const client = useQueryClient()
  const [playground, setPlayground] = useState(() => recall(client))
  const running = useRef(new Map<string, AbortController>())
  // Not from the state: the menu's link to this page takes the gates out of the address.
  const gateIds = toGateIds(client.getQueryData<Playground>(MEMORY)?.gateIds ?? [])
  const settings = useMemo(() => readSettings(playground.settings), [playground.settings])
  const { threads } = playground
  const places = gateIds.map((_, place) => place)

  const gatesKey = gateIds.join(' ')
  useEffect(() => {
    client.setQueryData<Playground>(MEMORY, {
      ...playground,
      gateIds: gatesKey.split(' ').filter(Boolean),
    })
  }, [client, playground, gatesKey])
  useEffect(() => {
    const { current } = running
    return () => {
      for (const controller of current.values()) controller.abort()
    }
  }, [])

  const change = (changed: Partial<Playground>) =>
    setPlayground((before) => ({ ...before, ...changed }))
  const setThread = (place: number, entries: readonly Entry[]) =>
    setPlayground((before) => ({ ...before, threads: before.threads.with(place, entries) }))

  function toRequest(place: number, entries: readonly Entry[]): ChatRequest | undefined {
    const gateId = gateIds[place]
    if (settings.problems !== undefined || gateId === undefined) return undefined
    return {
      gate_id: gateId,
      messages: [...settings.system, ...toMessages(entries)],
      ...settings.members,
    }
  }

  function ask(place: number, entries: readonly Entry[]): void {
    const request = toRequest(place, entries)
    if (request === undefined) return
    const begun = beginAnswer(nextId(), request.gate_id)
    const controller = new AbortController()
    running.current.set(begun.id, controller)
    setThread(place, [...entries, begun])
    // Finds the thread by id, because closing the first of two moves the second.
    const onProgress = (answer: Answer) =>
      setPlayground((before) => ({
        ...before,
        threads: before.threads.map((entries) =>
          entries.some(({ id }) => id === answer.id)
            ? entries.map((entry) => (entry.id === answer.id ? answer : entry))
            : entries,
        ),
      }))
    void streamAnswer(request, begun, { signal: controller.signal, onProgress }).finally(() =>
      running.current.delete(begun.id),
    )
  }

  return {
    playground,
    gateIds,
    problems: settings.problems,
    isRunning: places.some((place) => threads[place]?.some(isRunningEntry)),
    toRequest: (place: number) =>
      toRequest(place, untilLastQuestion(threads[place] ?? []) ?? draftOf(playground)),
    setDraft: (draft: string) => change({ draft }),
    setSettings: (changed: Partial<Settings>) =>
      change({ settings: { ...playground.settings, ...changed } }),
    send() {
      const text = playground.draft
      const { draftBeforeEdit } = playground
      setPlayground(({ draftBeforeEdit: _, ...before }) => ({
        ...before,
        draft: draftBeforeEdit ?? '',
      }))
      for (const place of places) {
        const entries = threads[place] ?? []
        const before =
          draftBeforeEdit === undefined ? entries : (splitAtLastMessage(entries)?.before ?? entries)
        ask(place, [...before, { type: 'user', id: nextId(), text }])
      }
    },
    stop() {
      for (const controller of running.current.values()) controller.abort()
    },
    retry(place: number) {
      const question = untilLastQuestion(threads[place] ?? [])
      if (question !== undefined) ask(place, question)
    },
    answerTools: (place: number, results: readonly ToolResult[]) =>
      ask(place, [...(threads[place] ?? []), { type: 'results', id: nextId(), results }]),
    startEdit() {
      const last = splitAtLastMessage(threads[0] ?? [])
      if (last !== undefined) change({ draft: last.text, draftBeforeEdit: playground.draft })
    },
    cancelEdit: () =>
      setPlayground(({ draftBeforeEdit, ...before }) => ({
        ...before,
        draft: draftBeforeEdit ?? before.draft,
      })),
    /** The second gate continues from the first gate's questions. */
    beginCompare: () =>
      change({ threads: [threads[0] ?? [], untilLastQuestion(threads[0] ?? []) ?? []] }),
    endCompare(place: number) {
      for (const { id } of threads[place] ?? []) running.current.get(id)?.abort()
      setPlayground((before) => ({ ...before, threads: [before.threads[1 - place] ?? [], []] }))
    },
    clear() {
      for (const controller of running.current.values()) controller.abort()
      const kept = playground
      setPlayground(({ draftBeforeEdit: _, ...before }) => ({ ...before, threads: EMPTY.threads }))
      return () => change({ threads: kept.threads.map(settleEntries) })
    },
  }
}

function isRunningEntry(entry: Entry): boolean {
  return entry.type === 'answer' && entry.state === 'running'
}

function draftOf({ draft }: Playground): readonly Entry[] {
  return [{ type: 'user', id: 'draft', text: draft.trim() === '' ? 'Hello' : draft }]
}

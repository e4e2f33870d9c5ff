import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { OperationName, PagedName, RowOf } from '../api/ask.ts'
import { wholeListQuery } from '../api/operation-query.ts'
import { Button, LinkButton } from './button.tsx'
import { Card, CardHeader } from './card.tsx'
import { ConfirmChange } from './dialog.tsx'
import { Page } from './page.tsx'
import { QueryBoundary } from './query-boundary.tsx'
import { EmptyState } from './states.tsx'
import { type Said, useChange } from './use-change.ts'

export type RowDialog<Row> = (props: RowDialogProps<Row>) => ReactNode

export interface RowDialogProps<Row> {
  readonly row: Row
  readonly onClose: () => void
}

type OpenDialog<Row> = (dialog: RowDialog<Row>, row: Row) => void

interface ResourceProps<Name extends PagedName> {
  readonly list: Name
  readonly title: string
  readonly note: ReactNode
  readonly many: string
  readonly icon: ReactNode
  readonly purpose: ReactNode
  /** The create button: its text, and the page or dialog that the button opens. */
  readonly create: { readonly label: string } & (
    | { readonly dialog: RowDialog<undefined> }
    | { readonly to: string }
  )
  readonly children: (rows: readonly RowOf<Name>[], open: OpenDialog<RowOf<Name>>) => ReactNode
}

export function ResourcePage<Name extends PagedName>({
  notices,
  footnote,
  ...resource
}: ResourceProps<Name> & {
  readonly notices?: ReactNode
  readonly footnote?: ReactNode
}) {
  const { createButton, rows, dialog } = useResource(resource)
  return (
    <Page title={resource.title} note={resource.note} actions={createButton}>
      {notices}
      <Card>{rows}</Card>
      {footnote}
      {dialog}
    </Page>
  )
}

export function ResourceCard<Name extends PagedName>(resource: ResourceProps<Name>) {
  const { query, createButton, rows, dialog } = useResource(resource)
  return (
    <>
      <Card>
        <CardHeader title={resource.title} note={resource.note}>
          {(query.data?.length ?? 0) > 0 && createButton}
        </CardHeader>
        {rows}
      </Card>
      {dialog}
    </>
  )
}

function useResource<Name extends PagedName>({
  list,
  many,
  icon,
  purpose,
  create,
  children,
}: ResourceProps<Name>) {
  const query: UseQueryResult<RowOf<Name>[]> = useQuery({ ...wholeListQuery(list), staleTime: 0 })
  const [shown, setShown] = useState<(onClose: () => void) => ReactNode>()
  const close = () => setShown(undefined)
  const open = <Row,>(Dialog: RowDialog<Row>, row: Row) =>
    setShown(() => (onClose: () => void) => <Dialog row={row} onClose={onClose} />)
  const face = (
    <>
      <Plus aria-hidden className="size-4" />
      {create.label}
    </>
  )
  const createButton =
    'to' in create ? (
      <LinkButton to={create.to} look="primary">
        {face}
      </LinkButton>
    ) : (
      <Button look="primary" onClick={() => open(create.dialog, undefined)}>
        {face}
      </Button>
    )
  return {
    query,
    createButton,
    dialog: shown?.(close),
    rows: (
      <QueryBoundary
        query={query}
        empty={
          <EmptyState icon={icon} title={`No ${many}`} action={createButton}>
            {purpose}
          </EmptyState>
        }
      >
        {(rows) => children(rows, open)}
      </QueryBoundary>
    ),
  }
}

export function DeleteDialog<Answer>({
  one,
  name,
  title = `Delete “${name}”?`,
  confirmLabel = `Delete the ${one}`,
  send,
  makesStale,
  failureMakesStale = [],
  done = `${one.charAt(0).toUpperCase()}${one.slice(1)} “${name}” deleted`,
  onClose,
  children,
}: {
  readonly one: string
  readonly name: string
  readonly title?: string
  readonly confirmLabel?: string
  readonly send: () => Promise<Answer>
  readonly makesStale: readonly OperationName[]
  readonly failureMakesStale?: readonly OperationName[]
  readonly done?: Said | ((answer: Answer) => Said)
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const remove = useChange({ send, makesStale, failureMakesStale, done, onDone: onClose })
  return (
    <ConfirmChange onClose={onClose} title={title} confirmLabel={confirmLabel} change={remove}>
      {children}
    </ConfirmChange>
  )
}

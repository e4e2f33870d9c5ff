import { notFound, useParams } from '@tanstack/react-router'
import { Tag } from 'lucide-react'
import {
  PLAIN_PLACES,
  type PlainPlace,
  type PlainResource,
} from '../../../src/contract/plain-resources.ts'
import { ask, type RowOf } from '../../api/ask.ts'
import { changeSame } from '../../api/change-same.ts'
import { RowButton } from '../../ui/button.tsx'
import { EditNotes, useEdited } from '../../ui/changed-meanwhile-note.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { DeleteDialog, ResourceCard, type RowDialogProps } from '../../ui/resource-page.tsx'
import { SearchedTable } from '../../ui/searched-rows.tsx'
import { timeColumn } from '../../ui/table.tsx'
import { useChange } from '../../ui/use-change.ts'
import { MembersField } from './members-field.tsx'

type Resource = PlainResource & { readonly place: PlainPlace }
type Row = RowOf<`GET /v1/${PlainPlace}`>
type Draft = Readonly<Record<string, string | readonly string[]>>

export function PlainPage() {
  const { place } = useParams({ strict: false })
  const resource = PLAIN_PLACES.find(([, each]) => each.place === place)?.[1]
  if (resource === undefined) throw notFound()
  return <PlainCard key={resource.place} resource={resource} />
}

function PlainCard({ resource }: { readonly resource: Resource }) {
  const { place, names, one, many, about, purpose, fields, lists = {}, namedBy } = resource
  const members = Object.keys(fields)
  const edit = ({ row, onClose }: RowDialogProps<Row | undefined>) => (
    <EditDialog resource={resource} row={row} onClose={onClose} />
  )
  const remove = ({ row, onClose }: RowDialogProps<Row>) => (
    <DeleteDialog
      one={one}
      name={read(row, namedBy)}
      send={() => ask(`DELETE /v1/${place}/{id}`, { path: { id: row.id } })}
      makesStale={[`GET /v1/${place}`]}
      onClose={onClose}
    >
      <p>{resource.deletion}</p>
    </DeleteDialog>
  )
  return (
    <ResourceCard
      list={`GET /v1/${place}`}
      title={names}
      note={`${capitalise(about)}.`}
      many={many}
      icon={<Tag />}
      purpose={purpose}
      create={{ label: `Create a ${one}`, dialog: edit }}
    >
      {(rows, open) => (
        <SearchedTable
          rows={rows}
          thing={one}
          textOf={(row) => members.map((member) => read(row, member)).join(' ')}
          searched={`${members.map((member) => `${capitalise(member)}s`).join(' and ')} are searched.`}
          label={names}
          keyOf={({ id }) => id}
          columns={[
            ...members.map((member) => ({
              title: capitalise(member),
              className:
                member === namedBy
                  ? 'font-mono text-[13px] font-medium break-all text-ink'
                  : 'break-words text-ink-soft',
              cell: (row: Row) => read(row, member),
            })),
            ...Object.keys(lists).map((list) => ({
              title: capitalise(list),
              isNumber: true,
              isLabelled: true,
              className: 'max-sm:text-left',
              cell: (row: Row) => String(readList(row, list).length),
            })),
            timeColumn('Created', 'createdAt', { isWideOnly: true }),
            {
              title: 'Actions',
              isHidden: true,
              cell: (row) => (
                <div className="flex justify-end gap-2 max-sm:flex-col">
                  <RowButton act="Edit" of={read(row, namedBy)} onClick={() => open(edit, row)} />
                  <RowButton
                    look="danger"
                    act="Delete"
                    of={read(row, namedBy)}
                    onClick={() => open(remove, row)}
                  />
                </div>
              ),
            },
          ]}
        />
      )}
    </ResourceCard>
  )
}

function EditDialog({
  resource: { place, one, fields, lists = {}, namedBy },
  row,
  onClose,
}: RowDialogProps<Row | undefined> & { readonly resource: Resource }) {
  const members = Object.keys(fields)
  const toDraft = (thing: Row | undefined): Draft => ({
    ...Object.fromEntries(members.map((member) => [member, thing ? read(thing, member) : ''])),
    ...Object.fromEntries(
      Object.keys(lists).map((list) => [list, thing ? readList(thing, list) : []]),
    ),
  })
  const edited = useEdited(row, toDraft)
  const { first, fields: typed, change } = edited
  const name = read(typed, namedBy)
  const save = useChange({
    send: async (isOverwriting: boolean) => {
      const body = { ...typed, [namedBy]: name.trim() } as Pick<
        Row,
        'name' | 'description' | 'members'
      >
      if (row === undefined) return await ask(`POST /v1/${place}`, { body })
      const changed = Object.entries(body).filter(
        ([member, value]) => JSON.stringify(value) !== JSON.stringify(first[member]),
      )
      const question = { path: { id: row.id }, body: Object.fromEntries(changed) }
      const isSame = (now: Row) => JSON.stringify(toDraft(now)) === JSON.stringify(first)
      return await changeSame(
        `PATCH /v1/${place}/{id}`,
        [question],
        isOverwriting ? undefined : isSame,
      )
    },
    makesStale: [`GET /v1/${place}`],
    done: `${capitalise(one)} ${row === undefined ? 'created' : 'saved'}`,
    onDone: onClose,
  })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={row === undefined ? `Create a ${one}` : `Edit “${read(row, namedBy)}”`}
    >
      <Form onSubmit={() => save.mutate(false)} error={save.error} conflictAt={namedBy}>
        <div className="flex flex-col gap-4">
          {Object.entries(fields).map(([member, { max, hint, form }]) => (
            <TextField
              key={member}
              label={capitalise(member)}
              isCode={form !== undefined}
              required={form !== undefined}
              isOptional={form === undefined}
              autoFocus={member === namedBy && row === undefined}
              autoComplete="off"
              maxLength={max}
              hint={hint}
              value={read(typed, member)}
              onChange={({ target }) => change({ [member]: target.value })}
              field={member}
            />
          ))}
          {Object.entries(lists).map(([list, { hint }]) => (
            <MembersField
              key={list}
              label={capitalise(list)}
              hint={hint}
              field={list}
              chosen={readList(typed, list)}
              onChange={(chosen) => change({ [list]: chosen })}
            />
          ))}
          <EditNotes thing={one} edited={edited} save={save} />
        </div>
        <FormActions onCancel={onClose} isBusy={save.isPending}>
          {row === undefined ? 'Create' : 'Save'}
        </FormActions>
      </Form>
    </Dialog>
  )
}

function read(row: object, member: string): string {
  return String((row as Readonly<Record<string, unknown>>)[member] ?? '')
}

function readList(row: object, list: string): readonly string[] {
  return ((row as Readonly<Record<string, unknown>>)[list] ?? []) as readonly string[]
}

function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

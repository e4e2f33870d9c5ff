/** The account's tags: created and deleted. */
import { useQuery } from '@tanstack/react-query'
import { Plus, Tag as TagIcon } from 'lucide-react'
import { useState } from 'react'
import { ask, type RowOf } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ConfirmChange, Dialog, FormActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { SearchedRows } from '../../ui/searched-rows.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { useChange } from '../../ui/use-change.ts'

type Tag = RowOf<'GET /v1/tags'>

export function TagsPage() {
  const tags = useQuery(wholeListQuery('GET /v1/tags'))
  const [isNew, setNew] = useState(false)
  const [doomed, setDoomed] = useState<Tag>()
  const createButton = (
    <Button look="primary" onClick={() => setNew(true)}>
      <Plus aria-hidden className="size-4" />
      Create a tag
    </Button>
  )
  return (
    <>
      <Card>
        <CardHeader title="Tags" note="Labels of the account.">
          {(tags.data?.length ?? 0) > 0 && createButton}
        </CardHeader>
        <QueryBoundary
          query={tags}
          empty={
            <EmptyState icon={<TagIcon />} title="No tags" action={createButton}>
              A tag is a name that this account gives to a team, a customer or a place.
            </EmptyState>
          }
        >
          {(rows) => <TagTable rows={rows} onDelete={setDoomed} />}
        </QueryBoundary>
      </Card>
      {isNew && <NewTagDialog onClose={() => setNew(false)} />}
      {doomed !== undefined && (
        <DeleteTagDialog tag={doomed} onClose={() => setDoomed(undefined)} />
      )}
    </>
  )
}

function TagTable({
  rows,
  onDelete,
}: {
  readonly rows: readonly Tag[]
  readonly onDelete: (tag: Tag) => void
}) {
  return (
    <SearchedRows
      rows={rows}
      thing="tag"
      textOf={({ name, description }) => `${name} ${description}`}
      searched="Names and descriptions are searched."
    >
      {(shown) => (
        <Table
          label="Tags"
          isStackedOnPhones
          head={
            <>
              <Th>Name</Th>
              <Th>Description</Th>
              <Th isWideOnly>Created</Th>
              <Th isHidden>Actions</Th>
            </>
          }
        >
          {shown.map((tag) => (
            <tr key={tag.id}>
              <td className="font-mono text-[13px] font-medium break-all text-ink">{tag.name}</td>
              <td className="break-words text-ink-soft">{tag.description}</td>
              <td className="whitespace-nowrap text-ink-soft max-sm:hidden">
                <Moment at={tag.createdAt} />
              </td>
              <td className="text-right">
                <Button
                  look="danger"
                  size="small"
                  aria-label={`Delete ${tag.name}`}
                  onClick={() => onDelete(tag)}
                >
                  Delete
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </SearchedRows>
  )
}

function NewTagDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const save = useChange({
    send: () => ask('POST /v1/tags', { body: { name: name.trim(), description } }),
    makesStale: ['GET /v1/tags'],
    done: 'Tag created',
    onDone: onClose,
  })
  return (
    <Dialog isOpen onClose={onClose} title="Create a tag">
      <Form onSubmit={() => save.mutate()} error={save.error}>
        <div className="flex flex-col gap-4">
          <TextField
            label="Name"
            isCode
            required
            autoFocus
            autoComplete="off"
            maxLength={64}
            hint="Letters, digits, hyphens, underscores and dots."
            value={name}
            onChange={(event) => setName(event.target.value)}
            field="name"
          />
          <TextField
            label="Description"
            isOptional
            autoComplete="off"
            maxLength={500}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
            field="description"
          />
          <FormRefusal />
        </div>
        <FormActions onCancel={onClose} isBusy={save.isPending}>
          Create
        </FormActions>
      </Form>
    </Dialog>
  )
}

function DeleteTagDialog({ tag, onClose }: { readonly tag: Tag; readonly onClose: () => void }) {
  const remove = useChange({
    send: () => ask('DELETE /v1/tags/{id}', { path: { id: tag.id } }),
    makesStale: ['GET /v1/tags'],
    done: `Tag “${tag.name}” deleted`,
    onDone: onClose,
  })
  return (
    <ConfirmChange
      onClose={onClose}
      title={`Delete “${tag.name}”?`}
      confirmLabel="Delete the tag"
      change={remove}
    >
      <p>A tag that you create later may have the same name, but it is another tag.</p>
    </ConfirmChange>
  )
}
